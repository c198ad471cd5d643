/* SPDX-License-Identifier: Apache-2.0 */
/* Which calls samplers watch, call by call. */
#include "sampling/bursts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

/* As entries count: a call is watched when nothing is left to pass. */
static bool calls_literace(int32_t *note, int32_t *left)
{
    if ((*left)-- > 0)
        return false;
    *left = rt_burst_next(note);
    return true;
}

static bool is_within(uint32_t call, uint32_t first)
{
    return call >= first && call < first + RT_BURST;
}

/* 100 %, 10 %, 1 %, then 0.1 % for ever. */
static void test_literace_watches_ever_fewer_calls(void **state)
{
    (void)state;
    int32_t note = 0, left = 0;
    for (uint32_t call = 1; call <= 45000; call++) {
        bool expected = is_within(call, 1) || is_within(call, 101) || is_within(call, 1101) ||
                        (call > 1110 && (call - 1101) % 10000 < RT_BURST);
        assert_int_equal(calls_literace(&note, &left), expected);
    }
}

static uint32_t count_watched(uint32_t from, uint32_t to, uint32_t rate, bool decays)
{
    uint32_t watched = 0;
    for (uint32_t count = from; count < to; count++)
        watched += rt_pair_is_watched(count, rate, decays);
    return watched;
}

static void test_a_new_pair_is_watched(void **state)
{
    (void)state;
    for (uint32_t count = 0; count < 10; count++)
        assert_true(rt_pair_is_watched(count, 10, true));
    assert_false(rt_pair_is_watched(10, 10, true));
    assert_false(rt_pair_is_watched(99, 10, true));
    assert_true(rt_pair_is_watched(100, 10, true));
}

static void test_pairs_are_watched_at_their_rate(void **state)
{
    (void)state;
    assert_int_equal(count_watched(0, 1000, 10, true), 100);
    assert_int_equal(count_watched(1000, 10000, 10, true), 90);
    assert_int_equal(count_watched(10000, 110000, 10, true), 100);
    assert_int_equal(count_watched(10000, 110000, 10, false), 10000);
    assert_int_equal(count_watched(0, 1000, 100, true), 1000);
    assert_int_equal(count_watched(0, 1000, 0, true), 0);
}

/* Whoever passes as many calls as the gap is at the beginning of a burst. */
static void test_gaps_lead_to_bursts(void **state)
{
    (void)state;
    for (uint32_t count = 0; count < 60000; count++) {
        uint32_t next = count + rt_pair_gap(count, true);
        assert_true(rt_pair_is_watched(next, 1, true));
        for (uint32_t between = count + 1; count % 97 == 0 && between < next; between++)
            assert_false(rt_pair_is_watched(between, 1, true));
    }
}

/* A burst is never passed over, and new pairs are not missed for long. */
static void test_patience_is_short(void **state)
{
    (void)state;
    for (uint32_t gap = 1; gap <= 10000; gap++) {
        uint32_t patience = rt_pair_patience(gap);
        assert_true(patience >= 1 && patience <= gap && patience <= 100);
    }
    assert_int_equal(rt_pair_patience(100), 12);
    assert_int_equal(rt_pair_patience(9000), 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_literace_watches_ever_fewer_calls),
        cmocka_unit_test(test_a_new_pair_is_watched),
        cmocka_unit_test(test_pairs_are_watched_at_their_rate),
        cmocka_unit_test(test_gaps_lead_to_bursts),
        cmocka_unit_test(test_patience_is_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
