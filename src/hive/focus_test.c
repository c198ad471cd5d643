/* SPDX-License-Identifier: Apache-2.0 */
/* Which sites a run's scout is asked to look at more, to look at less, or neither. */
#include "hive/focus.h"

#include "store/runs_testing.h"

enum { SITES = 32, KNOWING = 1, KNOWING_NOTHING = RH_FOCUS_ALL_ONE_IN };

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

static enum rh_status wish(struct rh_runs *runs, uint64_t chance, uint8_t *wishes)
{
    return rh_focus_wish(runs, chance, &(struct rh_focus_image){wishes, SITES}, 1);
}

static void assert_wish(struct rh_runs *runs, uint64_t chance, uint32_t site,
                        enum rh_scout_wish expected)
{
    uint8_t wishes[SITES] = {0};
    assert_status(RH_OK, wish(runs, chance, wishes));
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
        assert_wish(runs, KNOWING, i, RH_SCOUT_USUAL);
    rh_runs_close(runs);
}

static void pairs_without_a_lock_are_in_focus(void **state)
{
    struct rh_runs *runs = open_in(state);
    show_pair(runs, 1, 1, 2, RH_MET_UNLOCKED, RH_MET_ORDERED);
    show_pair(runs, 1, 3, 4, RH_MET_LOCKED, RH_MET_ORDERED);
    for (uint32_t i = 1; i <= 4; i++)
        assert_wish(runs, KNOWING, i, i <= 2 ? RH_SCOUT_FOCUS : RH_SCOUT_USUAL);
    rh_runs_close(runs);
}

static void pairs_that_came_close_are_in_focus(void **state)
{
    struct rh_runs *runs = open_in(state);
    show_pair(runs, 1, 1, 2, RH_MET_HINTED, RH_MET_HINTED);
    assert_wish(runs, KNOWING, 1, RH_SCOUT_FOCUS);
    assert_wish(runs, KNOWING, 2, RH_SCOUT_FOCUS);
    rh_runs_close(runs);
}

static void pairs_that_met_elsewhere_are_in_focus(void **state)
{
    struct rh_runs *runs = open_in(state);
    const struct rh_runs_adopted pair = {{102, 1, 2}, {11, 22}, RH_RUNS_ELSEWHERE_MET};
    assert_status(RH_OK, rh_runs_adopt_met(runs, &pair, 1, 1));
    assert_wish(runs, KNOWING, 1, RH_SCOUT_FOCUS);
    assert_wish(runs, KNOWING, 2, RH_SCOUT_FOCUS);
    assert_wish(runs, KNOWING, 3, RH_SCOUT_USUAL);
    rh_runs_close(runs);
}

/* How many of 1,000 runs have a site in focus. */
static unsigned count_focus(struct rh_runs *runs, uint32_t site)
{
    uint8_t wishes[SITES];
    unsigned count = 0;
    for (uint64_t chance = 0; chance < 1000; chance++) {
        memset(wishes, RH_SCOUT_USUAL, sizeof wishes);
        assert_status(RH_OK, wish(runs, chance, wishes));
        count += wishes[site] == RH_SCOUT_FOCUS;
    }
    return count;
}

static void order_makes_focus_rarer_and_never_ends_it(void **state)
{
    struct rh_runs *runs = open_in(state);
    show_pair(runs, 1, 1, 2, RH_MET_UNLOCKED, RH_MET_ORDERED);
    assert_in_range(count_focus(runs, 1), 800, 1000);
    show_pair(runs, RH_FOCUS_HALF_LIFE - 1, 1, 2, RH_MET_UNLOCKED, RH_MET_ORDERED);
    assert_in_range(count_focus(runs, 1), 400, 600);
    show_pair(runs, 6 * RH_FOCUS_HALF_LIFE, 1, 2, RH_MET_UNLOCKED, RH_MET_ORDERED);
    assert_in_range(count_focus(runs, 1), 60, 200);
    /* Until it is broken once. */
    show_pair(runs, 1, 1, 2, RH_MET_UNLOCKED, RH_MET_UNORDERED);
    assert_int_equal(count_focus(runs, 1), 1000);
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
    assert_wish(runs, KNOWING, 1, RH_SCOUT_USUAL);
    assert_wish(runs, KNOWING, 2, RH_SCOUT_FOCUS);
    assert_wish(runs, KNOWING, 3, RH_SCOUT_FOCUS);
    run_once(runs, 203, &raced);
    assert_wish(runs, KNOWING, 2, RH_SCOUT_USUAL);
    rh_runs_close(runs);
}

static void sites_are_known_in_most_runs(void **state)
{
    struct rh_runs *runs = open_in(state);
    show_site(runs, RH_FOCUS_SITE_RUNS - 1, 5, false);
    show_site(runs, RH_FOCUS_THREAD_RUNS - 1, 6, true);
    assert_wish(runs, KNOWING, 5, RH_SCOUT_RAN);
    assert_wish(runs, KNOWING, 6, RH_SCOUT_RAN);
    show_site(runs, 1, 5, false);
    show_site(runs, 1, 6, true);
    assert_wish(runs, KNOWING, 5, RH_SCOUT_KNOWN);
    assert_wish(runs, KNOWING, 6, RH_SCOUT_KNOWN);
    assert_wish(runs, KNOWING_NOTHING, 5, RH_SCOUT_RAN);
    assert_wish(runs, KNOWING_NOTHING, 6, RH_SCOUT_RAN);
    rh_runs_close(runs);
}

static void sites_that_do_not_run_are_known_in_time(void **state)
{
    struct rh_runs *runs = open_in(state);
    show_site(runs, RH_FOCUS_SITE_RUNS - 1, 5, false);
    assert_wish(runs, KNOWING, 7, RH_SCOUT_USUAL);
    show_site(runs, 1, 5, false);
    assert_wish(runs, KNOWING, 7, RH_SCOUT_KNOWN);
    assert_wish(runs, KNOWING_NOTHING, 7, RH_SCOUT_USUAL);
    rh_runs_close(runs);
}

static void a_site_in_focus_is_not_known(void **state)
{
    struct rh_runs *runs = open_in(state);
    for (uint32_t i = 1; i <= 4; i++)
        show_site(runs, RH_FOCUS_SITE_RUNS, i, true);
    show_pair(runs, 1, 1, 2, RH_MET_UNLOCKED, RH_MET_UNORDERED);
    show_pair(runs, 1, 3, 4, RH_MET_LOCKED, RH_MET_ORDERED);
    assert_wish(runs, KNOWING, 1, RH_SCOUT_FOCUS);
    assert_wish(runs, KNOWING, 2, RH_SCOUT_FOCUS);
    assert_wish(runs, KNOWING, 3, RH_SCOUT_KNOWN);
    assert_wish(runs, KNOWING, 4, RH_SCOUT_KNOWN);
    rh_runs_close(runs);
}

/* A store may tell of sites that the scout has no place for. */
static void sites_out_of_range_are_left_alone(void **state)
{
    struct rh_runs *runs = open_in(state);
    uint8_t wishes[SITES + 1] = {0};
    show_site(runs, RH_FOCUS_SITE_RUNS, SITES, true);
    show_pair(runs, 1, SITES - 1, SITES, RH_MET_UNLOCKED, RH_MET_UNORDERED);
    wishes[SITES] = 99;
    assert_status(RH_OK, wish(runs, KNOWING, wishes));
    assert_int_equal(wishes[SITES - 1], RH_SCOUT_FOCUS);
    assert_int_equal(wishes[SITES], 99);
    rh_runs_close(runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(nothing_is_known_of_a_new_program),
        SCRATCH_TEST(pairs_without_a_lock_are_in_focus),
        SCRATCH_TEST(pairs_that_came_close_are_in_focus),
        SCRATCH_TEST(pairs_that_met_elsewhere_are_in_focus),
        SCRATCH_TEST(order_makes_focus_rarer_and_never_ends_it),
        SCRATCH_TEST(a_proved_race_needs_no_focus),
        SCRATCH_TEST(sites_are_known_in_most_runs),
        SCRATCH_TEST(sites_that_do_not_run_are_known_in_time),
        SCRATCH_TEST(a_site_in_focus_is_not_known),
        SCRATCH_TEST(sites_out_of_range_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
