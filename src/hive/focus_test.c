/* SPDX-License-Identifier: Apache-2.0 */
/* Which sites a run's scout is asked to look at, to leave out, or neither. */
#include "hive/focus.h"

#include "store/runs_testing.h"

enum { SITES = 32, SKIPPING = 1, SKIPPING_NOTHING = RH_FOCUS_ALL_ONE_IN };

/* Runs that all show the same. */
static void show(struct rh_runs *runs, unsigned times, const struct rh_runs_sights *sights)
{
    for (unsigned i = 0; i < times; i++)
        assert_status(RH_OK, rh_runs_complete(runs, begin_run(runs, NULL, 0),
                                              &(struct rh_runs_end){0}, NULL, 0, NULL, 0, sights));
}

static void show_pair(struct rh_runs *runs, unsigned times, uint32_t first, uint32_t second,
                      enum rh_met_count locks, enum rh_met_count order)
{
    struct rh_runs_meeting meeting = {.candidate = {100 * first + second, first, second}};
    meeting.counts[locks] = 1;
    meeting.counts[order] = 1;
    show(runs, times, &(struct rh_runs_sights){.met = &meeting, .met_count = 1});
}

static void show_site(struct rh_runs *runs, unsigned times, uint32_t site, bool in_threads)
{
    const struct rh_runs_ran ran = {site, in_threads};
    show(runs, times, &(struct rh_runs_sights){.ran = &ran, .ran_count = 1});
}

static void assert_wish(struct rh_runs *runs, uint64_t chance, uint32_t site,
                        enum rh_scout_wish expected)
{
    uint8_t wishes[SITES];
    assert_status(RH_OK, rh_focus_wish(runs, chance, wishes, SITES));
    if (wishes[site] != expected)
        fail_msg("site %u: %u, not %u", site, wishes[site], expected);
}

static struct rh_runs *open_in(void **state)
{
    char *path = rh_path_join(*state, "p.runs");
    struct rh_runs *runs = open_store(path);
    free(path);
    return runs;
}

static void nothing_is_known_of_a_new_program(void **state)
{
    struct rh_runs *runs = open_in(state);
    for (uint32_t i = 0; i < SITES; i++)
        assert_wish(runs, SKIPPING, i, RH_SCOUT_USUAL);
    rh_runs_close(runs);
}

static void pairs_without_a_lock_are_in_focus(void **state)
{
    struct rh_runs *runs = open_in(state);
    show_pair(runs, 1, 1, 2, RH_MET_UNLOCKED, RH_MET_ORDERED);
    show_pair(runs, 1, 3, 4, RH_MET_LOCKED, RH_MET_ORDERED);
    for (uint32_t i = 1; i <= 4; i++)
        assert_wish(runs, SKIPPING, i, i <= 2 ? RH_SCOUT_FOCUS : RH_SCOUT_USUAL);
    rh_runs_close(runs);
}

static void an_order_is_believed_after_many_runs(void **state)
{
    struct rh_runs *runs = open_in(state);
    show_pair(runs, RH_FOCUS_ORDERED_RUNS - 1, 1, 2, RH_MET_UNLOCKED, RH_MET_ORDERED);
    assert_wish(runs, SKIPPING, 1, RH_SCOUT_FOCUS);
    show_pair(runs, 1, 1, 2, RH_MET_UNLOCKED, RH_MET_ORDERED);
    assert_wish(runs, SKIPPING, 1, RH_SCOUT_USUAL);
    /* Until it is broken once. */
    show_pair(runs, 1, 1, 2, RH_MET_UNLOCKED, RH_MET_UNORDERED);
    assert_wish(runs, SKIPPING, 1, RH_SCOUT_FOCUS);
    rh_runs_close(runs);
}

/* A site of two pairs is in focus as long as one of them is worth it. */
static void a_proved_race_needs_no_focus(void **state)
{
    struct rh_runs *runs = open_in(state);
    const struct rh_runs_answer raced = {.outcome = RH_OUTCOME_RACE, .raced = {true}};
    show_pair(runs, 1, 1, 2, RH_MET_UNLOCKED, RH_MET_UNORDERED);
    show_pair(runs, 1, 2, 3, RH_MET_UNLOCKED, RH_MET_UNORDERED);
    run_once(runs, 102, &raced);
    assert_wish(runs, SKIPPING, 1, RH_SCOUT_USUAL);
    assert_wish(runs, SKIPPING, 2, RH_SCOUT_FOCUS);
    assert_wish(runs, SKIPPING, 3, RH_SCOUT_FOCUS);
    run_once(runs, 203, &raced);
    assert_wish(runs, SKIPPING, 2, RH_SCOUT_USUAL);
    rh_runs_close(runs);
}

static void known_sites_are_skipped_in_most_runs(void **state)
{
    struct rh_runs *runs = open_in(state);
    show_site(runs, RH_FOCUS_SITE_RUNS - 1, 5, false);
    show_site(runs, RH_FOCUS_THREAD_RUNS - 1, 6, true);
    assert_wish(runs, SKIPPING, 5, RH_SCOUT_USUAL);
    assert_wish(runs, SKIPPING, 6, RH_SCOUT_USUAL);
    show_site(runs, 1, 5, false);
    show_site(runs, 1, 6, true);
    assert_wish(runs, SKIPPING, 5, RH_SCOUT_SKIP);
    assert_wish(runs, SKIPPING, 6, RH_SCOUT_SKIP);
    assert_wish(runs, SKIPPING_NOTHING, 5, RH_SCOUT_USUAL);
    assert_wish(runs, SKIPPING_NOTHING, 6, RH_SCOUT_USUAL);
    rh_runs_close(runs);
}

static void a_site_that_met_without_a_lock_is_never_skipped(void **state)
{
    struct rh_runs *runs = open_in(state);
    for (uint32_t i = 1; i <= 4; i++)
        show_site(runs, RH_FOCUS_SITE_RUNS, i, true);
    show_pair(runs, RH_FOCUS_ORDERED_RUNS, 1, 2, RH_MET_UNLOCKED, RH_MET_ORDERED);
    show_pair(runs, 1, 3, 4, RH_MET_LOCKED, RH_MET_ORDERED);
    assert_wish(runs, SKIPPING, 1, RH_SCOUT_USUAL);
    assert_wish(runs, SKIPPING, 2, RH_SCOUT_USUAL);
    assert_wish(runs, SKIPPING, 3, RH_SCOUT_SKIP);
    assert_wish(runs, SKIPPING, 4, RH_SCOUT_SKIP);
    rh_runs_close(runs);
}

/* A store may tell of sites that the scout has no place for. */
static void sites_out_of_range_are_left_alone(void **state)
{
    struct rh_runs *runs = open_in(state);
    uint8_t wishes[SITES + 1];
    show_site(runs, RH_FOCUS_SITE_RUNS, SITES, true);
    show_pair(runs, 1, SITES - 1, SITES, RH_MET_UNLOCKED, RH_MET_UNORDERED);
    wishes[SITES] = 99;
    assert_status(RH_OK, rh_focus_wish(runs, SKIPPING, wishes, SITES));
    assert_int_equal(wishes[SITES - 1], RH_SCOUT_FOCUS);
    assert_int_equal(wishes[SITES], 99);
    rh_runs_close(runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(nothing_is_known_of_a_new_program),
        SCRATCH_TEST(pairs_without_a_lock_are_in_focus),
        SCRATCH_TEST(an_order_is_believed_after_many_runs),
        SCRATCH_TEST(a_proved_race_needs_no_focus),
        SCRATCH_TEST(known_sites_are_skipped_in_most_runs),
        SCRATCH_TEST(a_site_that_met_without_a_lock_is_never_skipped),
        SCRATCH_TEST(sites_out_of_range_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
