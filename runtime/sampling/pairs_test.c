/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of functions: found by numbers in a thread, by fingerprints in the control page. */
#include "sampling/pairs.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static _Atomic uint64_t losses[RH_LOSS_COUNT];
_Atomic uint64_t *_Atomic rt_losses = losses;

enum { OFTEN = 5000 };

static struct rh_pairs *start(void)
{
    struct rh_pairs *fresh = calloc(1, sizeof *fresh);
    fresh->at[0] = (struct rh_function_pair){.first = 100, .second = 300, .known = OFTEN};
    atomic_store(&fresh->count, 1);
    assert_true(rt_pairs_start(fresh));
    rt_pairs_name(1, 300);
    rt_pairs_name(2, 100);
    rt_pairs_name(3, 200);
    return fresh;
}

static struct rt_pair_map *make_map(void)
{
    return calloc(1, sizeof(struct rt_pair_map));
}

/* Whatever number the functions have in this run, and in whichever order they are named. */
static void test_earlier_runs_are_known(void **state)
{
    (void)state;
    struct rh_pairs *shared = start();
    struct rt_pair_map *map = make_map();
    struct rt_pair *pair = rt_pairs_find(map, 1, 2);
    assert_int_equal(pair->count, OFTEN);
    assert_ptr_equal(rt_pairs_find(map, 2, 1), pair);
    assert_int_equal(rt_pairs_find(map, 1, 3)->count, 0);
    assert_int_equal(rt_pairs_find(map, 1, 1)->count, 0);
    free(map);
    free(shared);
}

/* Each thread has counts of its own; the page has their sum, and shows a new pair at once. */
static void test_the_page_has_the_sum(void **state)
{
    (void)state;
    struct rh_pairs *shared = start();
    struct rt_pair_map *mine = make_map(), *other = make_map();
    struct rt_pair *pair = rt_pairs_find(mine, 2, 3);
    assert_int_equal(atomic_load(&shared->count), 2);
    assert_true(shared->at[1].first == 100 && shared->at[1].second == 200);
    assert_int_equal(shared->at[1].seen, 1);
    rt_pairs_add(pair, 11);
    assert_int_equal(rt_pairs_find(other, 3, 2)->count, 0);
    rt_pairs_add(rt_pairs_find(other, 3, 2), 7);
    assert_int_equal(atomic_load(&shared->count), 2);
    rt_pairs_tell(mine);
    rt_pairs_tell(mine);
    rt_pairs_tell(other);
    assert_int_equal(shared->at[1].seen, 1 + 11 + 1 + 7);
    rt_pairs_add(pair, 5);
    rt_pairs_forget_untold(mine);
    rt_pairs_tell(mine);
    assert_int_equal(shared->at[1].seen, 1 + 11 + 1 + 7);
    assert_int_equal(pair->count, 16);
    assert_int_equal(shared->at[0].seen, 0);
    free(mine);
    free(other);
    free(shared);
}

static void test_counts_stop_at_the_top(void **state)
{
    (void)state;
    struct rh_pairs *shared = start();
    struct rt_pair_map *map = make_map();
    struct rt_pair *pair = rt_pairs_find(map, 2, 3);
    rt_pairs_add(pair, UINT32_MAX - 1);
    rt_pairs_add(pair, 100);
    assert_int_equal(pair->count, UINT32_MAX);
    free(map);
    free(shared);
}

/* What finds no room is counted, and everything else still works. */
static void test_too_many_are_counted(void **state)
{
    (void)state;
    struct rh_pairs *shared = start();
    struct rt_pair_map *map = make_map();
    uint32_t lost = 0;
    for (uint32_t i = 4; i < MAP_SIZE + 1000; i++) {
        rt_pairs_name(i, 1000 + i);
        lost += !rt_pairs_find(map, 1, i);
    }
    assert_true(lost >= 1000 - 4);
    assert_int_equal(atomic_load(&losses[RH_LOSS_PAIR]), lost);
    atomic_store(&shared->count, RH_MAX_PAIRS);
    struct rt_pair_map *fresh = make_map();
    assert_int_equal(rt_pairs_find(fresh, 2, 3)->row, RT_PAIR_NO_ROW);
    assert_int_equal(rt_pairs_find(fresh, 1, 2)->count, OFTEN);
    rt_pairs_tell(fresh);
    assert_int_equal(atomic_load(&shared->count), RH_MAX_PAIRS);
    free(map);
    free(fresh);
    free(shared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_earlier_runs_are_known),
        cmocka_unit_test(test_the_page_has_the_sum),
        cmocka_unit_test(test_counts_stop_at_the_top),
        cmocka_unit_test(test_too_many_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
