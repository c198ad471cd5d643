/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of the turns of kin: who qualifies, that everybody has a turn, that links hold, and that
 * the number in a window follows from how long it lasted.
 */
#include "kin.c"

#include "detect/fakes_testing.h"

#include <string.h>

enum { FIRST = 100, COUNT = 40, TWO_THREADS = 3, LONG = 1000000000, SHORT = 1000 };

static int set_up(void **state)
{
    (void)state;
    if (!rt_kin_start())
        return -1;
    memset(table, 0, KIN * sizeof *table);
    memset(links, 0, sizeof links);
    kin_count = 0;
    wanted = 4;
    for (uint16_t i = 0; i < COUNT; i++) {
        rt_kin_add((uint16_t)(FIRST + i));
        rt_kin_add((uint16_t)(FIRST + i));
    }
    return 0;
}

static void learn_all(uint16_t slots, bool writes, bool promising)
{
    rt_kin_clear();
    for (uint16_t i = 0; i < COUNT; i++)
        rt_kin_learn((uint16_t)(FIRST + i), &(struct rt_kin){slots, writes, promising});
}

static uint32_t count_chosen(void)
{
    uint32_t chosen = 0;
    for (uint32_t kin = 0; kin < KIN; kin++)
        chosen += rt_kin_is_chosen((uint16_t)kin);
    return chosen;
}

static void test_each_is_there_once(void **state)
{
    (void)state;
    bool is_there[COUNT] = {0};
    assert_int_equal(kin_count, COUNT);
    for (uint32_t i = 0; i < kin_count; i++) {
        assert_false(is_there[order[i] - FIRST]);
        is_there[order[i] - FIRST] = true;
    }
}

/* Reads alone do not race, and neither does one thread. */
static void test_who_qualifies(void **state)
{
    (void)state;
    learn_all(TWO_THREADS, false, false);
    assert_false(rt_kin_choose(0));
    learn_all(1, true, false);
    assert_false(rt_kin_choose(0));
    learn_all(TWO_THREADS, true, false);
    assert_true(rt_kin_choose(0));
    assert_int_equal(count_chosen(), 4);
}

/* What one site shows and another adds is known of the kin. */
static void test_sites_add_up(void **state)
{
    (void)state;
    rt_kin_clear();
    rt_kin_learn(FIRST, &(struct rt_kin){.slots = 1, .writes = true});
    rt_kin_learn(FIRST, &(struct rt_kin){.slots = 2});
    assert_true(rt_kin_choose(0));
    assert_true(rt_kin_is_chosen(FIRST));
}

static void test_everybody_has_a_turn(void **state)
{
    (void)state;
    uint32_t turns[COUNT] = {0};
    for (uint32_t i = 0; i < 5 * COUNT / 4; i++) {
        learn_all(TWO_THREADS, true, false);
        assert_true(rt_kin_choose(0));
        for (uint16_t k = 0; k < COUNT; k++)
            turns[k] += rt_kin_is_chosen((uint16_t)(FIRST + k));
    }
    for (uint32_t k = 0; k < COUNT; k++)
        assert_int_equal(turns[k], 5);
}

static void test_promising_ones_come_more_often(void **state)
{
    (void)state;
    uint32_t turns = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        learn_all(TWO_THREADS, true, false);
        rt_kin_learn(FIRST + 7, &(struct rt_kin){.is_promising = true});
        assert_true(rt_kin_choose(0));
        turns += rt_kin_is_chosen(FIRST + 7);
        assert_int_equal(count_chosen(), 4);
    }
    assert_int_equal(turns, COUNT);
}

static void test_linked_ones_come_along(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) { /* once is enough */
        rt_kin_link(FIRST, FIRST + 1);
        rt_kin_link(FIRST + 2, FIRST);
    }
    rt_kin_link(FIRST + 3, FIRST + 4);
    rt_kin_link(FIRST, FIRST);
    rt_kin_link(0, FIRST);
    rt_kin_clear();
    assert_true(rt_kin_choose(FIRST));
    assert_int_equal(count_chosen(), 3);
    assert_true(rt_kin_is_chosen(FIRST + 1) && rt_kin_is_chosen(FIRST + 2));
    assert_false(rt_kin_choose(0));
    assert_int_equal(count_chosen(), 0);
}

static void test_others_come_beside_one(void **state)
{
    (void)state;
    learn_all(TWO_THREADS, true, false);
    assert_true(rt_kin_choose(FIRST + 3));
    assert_true(rt_kin_is_chosen(FIRST + 3));
    assert_int_equal(count_chosen(), 5);
}

static void test_full_links_do_no_harm(void **state)
{
    (void)state;
    for (uint32_t i = 1; i < 10000; i++)
        rt_kin_link((uint16_t)i, (uint16_t)(i * 7 + 1));
    rt_kin_clear();
    assert_true(rt_kin_choose(FIRST));
    assert_true(rt_kin_is_chosen(FIRST));
}

static void test_number_follows_length(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++)
        rt_kin_lasted(SHORT);
    assert_int_equal(wanted, 1);
    rt_kin_lasted(LONG);
    assert_int_equal(wanted, 2);
    rt_kin_lasted(30000000);
    assert_int_equal(wanted, 2);
    for (int i = 0; i < 100; i++)
        rt_kin_lasted(UINT64_MAX);
    learn_all(TWO_THREADS, true, false);
    assert_true(rt_kin_choose(0));
    assert_int_equal(count_chosen(), COUNT);
}

#define CASE(test) cmocka_unit_test_setup(test, set_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_each_is_there_once),
        CASE(test_who_qualifies),
        CASE(test_sites_add_up),
        CASE(test_everybody_has_a_turn),
        CASE(test_promising_ones_come_more_often),
        CASE(test_linked_ones_come_along),
        CASE(test_others_come_beside_one),
        CASE(test_full_links_do_no_harm),
        CASE(test_number_follows_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
