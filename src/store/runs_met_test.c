/* SPDX-License-Identifier: Apache-2.0 */
/* Which pairs of sites met and which sites ran: what completed runs showed adds up. */
#include "store/runs.h"

#include "store/runs_testing.h"

static const uint64_t low = 7, high = UINT64_MAX - 7;

static void complete_with(struct rh_runs *runs, const struct rh_runs_sights *sights)
{
    const struct rh_runs_end end = {.wall_ns = 1};
    uint64_t run = begin_run(runs, NULL, 0);
    assert_status(RH_OK, rh_runs_complete(runs, run, &end, NULL, 0, NULL, 0, sights));
}

/* Two runs: in the second, one of the pairs and one of the sites are missing. */
static void complete_two(struct rh_runs *runs)
{
    struct rh_runs_meeting met[] = {
        {{low, 3, 5}, {[RH_MET_ORDERED] = 900, [RH_MET_LOCKED] = 900}, {33, high}},
        {{high, 8, 8}, {[RH_MET_UNORDERED] = 1, [RH_MET_UNLOCKED] = 1}, {88, 88}},
    };
    struct rh_runs_ran ran[] = {{3, false}, {1u << 17, true}};
    complete_with(runs,
                  &(struct rh_runs_sights){.met = met, .met_count = 2, .ran = ran, .ran_count = 2});
    met[0].counts[RH_MET_UNLOCKED] = 2;
    ran[0].in_threads = true;
    complete_with(runs,
                  &(struct rh_runs_sights){.met = met, .met_count = 1, .ran = ran, .ran_count = 1});
}

static void assert_met(const struct rh_runs_met *met, const struct rh_runs_met *expected)
{
    assert_true(met->candidate.id == expected->candidate.id);
    assert_int_equal(met->candidate.first, expected->candidate.first);
    assert_int_equal(met->candidate.second, expected->candidate.second);
    assert_int_equal(met->runs, expected->runs);
    assert_int_equal(met->locked, expected->locked);
    assert_int_equal(met->unlocked, expected->unlocked);
    assert_int_equal(met->ordered, expected->ordered);
    assert_int_equal(met->unordered, expected->unordered);
    assert_int_equal(met->has_raced, expected->has_raced);
    assert_true(met->prints[0] == expected->prints[0]);
    assert_true(met->prints[1] == expected->prints[1]);
    assert_int_equal(met->elsewhere, expected->elsewhere);
}

static void assert_two(struct rh_runs *runs, bool has_raced)
{
    struct rh_runs_met_vec met = RH_VEC_INIT;
    struct rh_runs_site_vec sites = RH_VEC_INIT;
    assert_status(RH_OK, rh_runs_list_met(runs, &met));
    assert_status(RH_OK, rh_runs_list_sites(runs, &sites));
    assert_int_equal(met.len, 2);
    assert_met(&met.data[0], &(struct rh_runs_met){.candidate = {high, 8, 8},
                                                   .runs = 1,
                                                   .unlocked = 1,
                                                   .unordered = 1,
                                                   .prints = {88, 88}});
    assert_met(&met.data[1], &(struct rh_runs_met){.candidate = {low, 3, 5},
                                                   .runs = 2,
                                                   .locked = 2,
                                                   .unlocked = 1,
                                                   .ordered = 2,
                                                   .prints = {33, high},
                                                   .has_raced = has_raced});
    assert_int_equal(sites.len, 2);
    assert_int_equal(sites.data[0].number, 3);
    assert_int_equal(sites.data[0].runs, 2);
    assert_int_equal(sites.data[0].in_threads, 1);
    assert_int_equal(sites.data[1].number, 1u << 17);
    assert_int_equal(sites.data[1].runs, 1);
    assert_int_equal(sites.data[1].in_threads, 1);
    rh_vec_free(&met);
    rh_vec_free(&sites);
}

static void runs_add_up(void **state)
{
    char *path = rh_path_join(*state, "p.runs");
    struct rh_runs *runs = open_store(path);
    complete_two(runs);
    assert_two(runs, false);
    rh_runs_close(runs);
    assert_status(RH_OK, rh_runs_open_existing(path, &runs));
    assert_two(runs, false);
    struct rh_runs_met_totals totals;
    assert_status(RH_OK, rh_runs_count_met(runs, &totals));
    assert_int_equal(totals.pairs, 2);
    assert_int_equal(totals.unlocked, 2);
    assert_int_equal(totals.unordered, 1);
    rh_runs_close(runs);
    free(path);
}

static void a_new_store_knows_of_nothing(void **state)
{
    char *path = rh_path_join(*state, "p.runs");
    struct rh_runs *runs = open_store(path);
    struct rh_runs_met_vec met = RH_VEC_INIT;
    struct rh_runs_site_vec sites = RH_VEC_INIT;
    struct rh_runs_met_totals totals;
    complete_with(runs, NULL);
    assert_status(RH_OK, rh_runs_list_met(runs, &met));
    assert_status(RH_OK, rh_runs_list_sites(runs, &sites));
    assert_status(RH_OK, rh_runs_count_met(runs, &totals));
    assert_int_equal(met.len + sites.len, 0);
    assert_int_equal(totals.pairs + totals.unlocked + totals.unordered, 0);
    rh_runs_close(runs);
    free(path);
}

static void a_proved_race_shows(void **state)
{
    char *path = rh_path_join(*state, "p.runs");
    struct rh_runs *runs = open_store(path);
    complete_two(runs);
    run_once(runs, low, &(struct rh_runs_answer){.outcome = RH_OUTCOME_NO_RACE});
    assert_two(runs, false);
    run_once(runs, low, &(struct rh_runs_answer){.outcome = RH_OUTCOME_RACE, .raced[1] = true});
    assert_two(runs, true);
    rh_runs_close(runs);
    free(path);
}

/* What a run that cannot be completed has shown does not count. */
static void a_run_that_fails_adds_nothing(void **state)
{
    char *path = rh_path_join(*state, "p.runs");
    struct rh_runs *runs = open_store(path);
    const struct rh_runs_meeting met = {.candidate = {low, 3, 5}, .counts = {[RH_MET_LOCKED] = 1}};
    const struct rh_runs_sights sights = {.met = &met, .met_count = 1};
    const struct rh_runs_end end = {0};
    complete_two(runs);
    uint64_t run = begin_run(runs, NULL, 0);
    assert_status(RH_ERR_INTERNAL, rh_runs_complete(runs, run, &end, &(struct rh_runs_answer){0}, 1,
                                                    NULL, 0, &sights));
    assert_two(runs, false);
    rh_runs_close(runs);
    free(path);
}

/* From the version before, which had neither table. */
static void a_store_without_them_gets_them(void **state)
{
    char *path = rh_path_join(*state, "p.runs");
    struct rh_runs *runs = open_store(path);
    run_once(runs, low, &(struct rh_runs_answer){.outcome = RH_OUTCOME_NO_RACE});
    rh_runs_close(runs);
    run_sql(path, "DROP TABLE met; DROP TABLE sites; DROP TABLE libraries; DROP TABLE pairs;"
                  "DROP TABLE sampled; DROP TABLE adopted; DROP TABLE escaped;"
                  "ALTER TABLE candidates DROP COLUMN with_primary;"
                  "ALTER TABLE candidates DROP COLUMN crashes_primary;"
                  "ALTER TABLE candidates DROP COLUMN hangs_primary;"
                  "ALTER TABLE candidates DROP COLUMN with_alternate;"
                  "ALTER TABLE candidates DROP COLUMN crashes_alternate;"
                  "ALTER TABLE candidates DROP COLUMN hangs_alternate;"
                  "ALTER TABLE candidates DROP COLUMN validated_ordered;"
                  "PRAGMA user_version = 4");
    runs = open_store(path);
    assert_int_equal(count_runs(runs), 1);
    complete_two(runs);
    assert_two(runs, false);
    rh_runs_close(runs);
    assert_int_equal(ask_sql(path, "PRAGMA user_version"), RH_RUNS_VERSION);
    assert_intact(path);
    free(path);
}

static void libraries_are_known_by_build_id(void **state)
{
    char *path = rh_path_join(*state, "p.runs");
    struct rh_runs *runs = open_store(path);
    struct rh_runs_library_vec list = RH_VEC_INIT;
    uint32_t first, second, again;
    struct rh_runs_library library = {
        .build_id = "0a", .name = "liba.so", .path = "/old/liba.so", .store = "/s", .why_not = ""};
    assert_status(RH_OK, rh_runs_enter_library(runs, &library, &first));
    library.build_id = "0b";
    assert_status(RH_OK, rh_runs_enter_library(runs, &library, &second));
    library.build_id = "0a";
    library.path = "/new/liba.so";
    assert_status(RH_OK, rh_runs_enter_library(runs, &library, &again));
    assert_int_equal(first, 1);
    assert_int_equal(second, 2);
    assert_int_equal(again, first);
    assert_status(RH_OK, rh_runs_note_loaded(runs, second, 7));
    assert_status(RH_OK, rh_runs_list_libraries(runs, &list));
    assert_int_equal(list.len, 2);
    assert_string_equal(list.data[0].path, "/new/liba.so");
    assert_int_equal(list.data[0].runs, 0);
    assert_string_equal(list.data[1].build_id, "0b");
    assert_int_equal(list.data[1].runs, 1);
    assert_int_equal(list.data[1].last_run, 7);
    rh_vec_free(&list);
    rh_runs_close(runs);
    free(path);
}

static void there_is_an_end_of_libraries(void **state)
{
    char *path = rh_path_join(*state, "p.runs");
    struct rh_runs *runs = open_store(path);
    for (uint32_t i = 1; i <= RH_RUNS_LIBRARIES + 1; i++) {
        char id[16];
        uint32_t number;
        snprintf(id, sizeof id, "%04x", i);
        const struct rh_runs_library library = {
            .build_id = id, .name = "l", .path = "", .store = "", .why_not = "no sidecar"};
        assert_status(RH_OK, rh_runs_enter_library(runs, &library, &number));
        assert_int_equal(number, i <= RH_RUNS_LIBRARIES ? i : 0);
    }
    rh_runs_close(runs);
    free(path);
}

static void damage_is_told(void **state)
{
    static const char *const damages[][2] = {
        {"UPDATE met SET runs = -1", "damaged (met)"},
        {"UPDATE met SET unlocked = 'x'", "damaged (met)"},
        {"UPDATE met SET first = 4294967296", "damaged (met)"},
        {"UPDATE met SET elsewhere = 3", "damaged (met)"},
        {"UPDATE sites SET runs = NULL", "damaged (sites)"},
        {"UPDATE sites SET number = -number", "damaged (sites)"},
    };
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        char *path = rh_format("%s/%zu.runs", (char *)*state, i);
        struct rh_runs *runs = open_store(path);
        struct rh_runs_met_vec met = RH_VEC_INIT;
        struct rh_runs_site_vec sites = RH_VEC_INIT;
        complete_two(runs);
        rh_runs_close(runs);
        run_sql(path, damages[i][0]);
        runs = open_store(path);
        enum rh_status status = rh_runs_list_met(runs, &met);
        if (status == RH_OK)
            status = rh_runs_list_sites(runs, &sites);
        assert_status(RH_ERR_INPUT, status);
        assert_non_null(strstr(rh_error_text(), damages[i][1]));
        rh_runs_close(runs);
        rh_vec_free(&met);
        rh_vec_free(&sites);
        free(path);
    }
}

/* --- what other stores show --- */

static void what_a_build_has_seen_counts_for_more(void **state)
{
    (void)state;
    static const struct {
        struct rh_runs_met met;
        enum rh_runs_elsewhere shown;
    } rows[] = {
        {{.hinted = 3}, RH_RUNS_ELSEWHERE_NOTHING},
        {{.hinted = 3, .elsewhere = RH_RUNS_ELSEWHERE_MET}, RH_RUNS_ELSEWHERE_MET},
        {{.elsewhere = RH_RUNS_ELSEWHERE_RACED}, RH_RUNS_ELSEWHERE_RACED},
        {{.runs = 2, .locked = 2, .ordered = 2, .elsewhere = RH_RUNS_ELSEWHERE_RACED},
         RH_RUNS_ELSEWHERE_NOTHING},
        {{.runs = 2, .unlocked = 1, .ordered = 2, .elsewhere = RH_RUNS_ELSEWHERE_RACED},
         RH_RUNS_ELSEWHERE_MET},
        {{.runs = 2, .unlocked = 1, .unordered = 1}, RH_RUNS_ELSEWHERE_RACED},
        {{.has_raced = true}, RH_RUNS_ELSEWHERE_RACED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(rh_runs_shown_elsewhere(&rows[i].met), rows[i].shown);
}

static void assert_until(struct rh_runs *runs, int64_t expected)
{
    int64_t until;
    assert_status(RH_OK, rh_runs_adopted_until(runs, &until));
    assert_true(until == expected);
}

/* Runs are not counted for it, and nothing that was known is lost. */
/* Each run adds what it saw; what other builds saw counts no runs. */
static void sites_that_touched_escaped_memory_are_kept(void **state)
{
    char *path = rh_path_join(*state, "p.runs");
    struct rh_runs *runs = open_store(path);
    const struct rh_runs_escaped seen[] = {{3, 33, 1}, {9, UINT64_MAX, 1}};
    const struct rh_runs_escaped adopted[] = {{3, 33, 0}, {5, 55, 0}};
    complete_with(runs, &(struct rh_runs_sights){.escaped = seen, .escaped_count = 2});
    complete_with(runs, &(struct rh_runs_sights){.escaped = seen, .escaped_count = 1});
    assert_status(RH_OK, rh_runs_adopt_escaped(runs, adopted, 2));
    struct rh_runs_escaped_vec list = RH_VEC_INIT;
    assert_status(RH_OK, rh_runs_list_escaped(runs, &list));
    assert_int_equal(list.len, 3);
    assert_int_equal(list.data[0].site, 3);
    assert_int_equal(list.data[0].print, 33);
    assert_int_equal(list.data[0].runs, 2);
    assert_int_equal(list.data[1].site, 5);
    assert_int_equal(list.data[1].runs, 0);
    assert_int_equal(list.data[2].print, UINT64_MAX);
    rh_vec_free(&list);
    rh_runs_close(runs);
    free(path);
}

static void pairs_of_other_stores_are_adopted(void **state)
{
    char *path = rh_path_join(*state, "p.runs");
    struct rh_runs *runs = open_store(path);
    struct rh_runs_met_vec met = RH_VEC_INIT;
    struct rh_runs_met_totals totals;
    const struct rh_runs_adopted pairs[] = {
        {{9, 1, 2}, {11, 22}, RH_RUNS_ELSEWHERE_MET},
        {{low, 3, 5}, {33, high}, RH_RUNS_ELSEWHERE_RACED},
    };
    complete_two(runs);
    assert_until(runs, 0);
    assert_status(RH_OK, rh_runs_adopt_met(runs, pairs, 2, 1000));
    assert_status(RH_OK, rh_runs_adopt_met(runs, pairs, 1, 2000));
    assert_until(runs, 2000);
    assert_status(RH_OK, rh_runs_list_met(runs, &met));
    assert_int_equal(met.len, 3);
    assert_met(&met.data[1], &(struct rh_runs_met){.candidate = {low, 3, 5},
                                                   .runs = 2,
                                                   .locked = 2,
                                                   .unlocked = 1,
                                                   .ordered = 2,
                                                   .prints = {33, high},
                                                   .elsewhere = RH_RUNS_ELSEWHERE_RACED});
    assert_met(&met.data[2], &(struct rh_runs_met){.candidate = {9, 1, 2},
                                                   .prints = {11, 22},
                                                   .elsewhere = RH_RUNS_ELSEWHERE_MET});
    assert_status(RH_OK, rh_runs_count_met(runs, &totals));
    assert_int_equal(totals.pairs, 2);
    rh_vec_free(&met);
    rh_runs_close(runs);
    free(path);
}

/* --- pairs of functions --- */

static const struct rh_runs_pair pair_a = {3, high, 10}, pair_b = {high, high, 20},
                                 pair_c = {5, 7, 30};

static void assert_pairs(struct rh_runs *runs, const struct rh_runs_pair *expected, size_t count)
{
    struct rh_runs_pair_vec pairs = RH_VEC_INIT;
    assert_status(RH_OK, rh_runs_list_pairs(runs, &pairs, NULL));
    assert_int_equal(pairs.len, count);
    for (size_t i = 0; i < count; i++) {
        assert_true(pairs.data[i].first == expected[i].first);
        assert_true(pairs.data[i].second == expected[i].second);
        assert_int_equal(pairs.data[i].calls, expected[i].calls);
    }
    rh_vec_free(&pairs);
}

static void see(struct rh_runs *runs, const struct rh_runs_pair *pairs, size_t count)
{
    assert_status(RH_OK, rh_runs_add_pairs(runs, pairs, count));
}

/* Two executions in a row make a pair frequent; one that does not see it makes it unknown. */
static void frequent_pairs(void **state)
{
    char *path = rh_path_join(*state, "p.runs");
    struct rh_runs *runs = open_store(path);
    see(runs, (struct rh_runs_pair[]){pair_a, pair_c}, 2);
    assert_pairs(runs, NULL, 0);
    see(runs, (struct rh_runs_pair[]){pair_a, pair_b, pair_c}, 3);
    assert_pairs(runs, (struct rh_runs_pair[]){{3, high, 20}, {5, 7, 60}}, 2);
    see(runs, NULL, 0); /* no pairs, no execution */
    see(runs, (struct rh_runs_pair[]){pair_a, pair_b}, 2);
    assert_pairs(runs, (struct rh_runs_pair[]){{high, high, 40}, {3, high, 30}}, 2);
    see(runs, (struct rh_runs_pair[]){pair_a, pair_b, pair_c}, 3);
    assert_pairs(runs, (struct rh_runs_pair[]){{high, high, 60}, {3, high, 40}}, 2);
    rh_runs_close(runs);
    runs = open_store(path);
    assert_pairs(runs, (struct rh_runs_pair[]){{high, high, 60}, {3, high, 40}}, 2);
    rh_runs_close(runs);
    free(path);
}

/* The processes of one execution may see the same pair: that is one execution. */
static void pairs_of_one_execution(void **state)
{
    char *path = rh_path_join(*state, "p.runs");
    struct rh_runs *runs = open_store(path);
    see(runs, (struct rh_runs_pair[]){pair_a, pair_a, pair_c, pair_a}, 4);
    assert_pairs(runs, NULL, 0);
    see(runs, &pair_a, 1);
    assert_pairs(runs, (struct rh_runs_pair[]){{3, high, 40}}, 1);
    rh_runs_close(runs);
    free(path);
}

/* Two runs that began with the same knowledge end one after the other: nothing of either is lost.
 */
static void overlapping_executions(void **state)
{
    char *path = rh_path_join(*state, "p.runs");
    struct rh_runs *first = open_store(path), *second = open_store(path);
    see(first, &pair_a, 1);
    see(second, &pair_a, 1);
    assert_pairs(first, (struct rh_runs_pair[]){{3, high, 20}}, 1);
    assert_pairs(second, (struct rh_runs_pair[]){{3, high, 20}}, 1);
    see(second, (struct rh_runs_pair[]){pair_a, pair_b}, 2);
    see(first, (struct rh_runs_pair[]){pair_a, pair_b}, 2);
    assert_pairs(first, (struct rh_runs_pair[]){{high, high, 40}, {3, high, 40}}, 2);
    rh_runs_close(first);
    rh_runs_close(second);
    free(path);
}

/* Of a changed build the first execution sees the functions that have not changed. */
static void pairs_of_another_build(void **state)
{
    char *path = rh_path_join(*state, "p.runs");
    struct rh_runs *runs = open_store(path);
    assert_status(RH_OK,
                  rh_runs_adopt_pairs(runs, (struct rh_runs_pair[]){pair_a, pair_b, pair_c}, 3));
    assert_pairs(runs, (struct rh_runs_pair[]){pair_b, pair_a, pair_c}, 3);
    see(runs, (struct rh_runs_pair[]){pair_a, {3, 4, 1}}, 2);
    assert_pairs(runs, (struct rh_runs_pair[]){{3, high, 20}}, 1);
    rh_runs_close(runs);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(runs_add_up),
        SCRATCH_TEST(a_new_store_knows_of_nothing),
        SCRATCH_TEST(a_proved_race_shows),
        SCRATCH_TEST(a_run_that_fails_adds_nothing),
        SCRATCH_TEST(a_store_without_them_gets_them),
        SCRATCH_TEST(libraries_are_known_by_build_id),
        SCRATCH_TEST(there_is_an_end_of_libraries),
        SCRATCH_TEST(damage_is_told),
        cmocka_unit_test(what_a_build_has_seen_counts_for_more),
        SCRATCH_TEST(sites_that_touched_escaped_memory_are_kept),
        SCRATCH_TEST(pairs_of_other_stores_are_adopted),
        SCRATCH_TEST(frequent_pairs),
        SCRATCH_TEST(pairs_of_one_execution),
        SCRATCH_TEST(overlapping_executions),
        SCRATCH_TEST(pairs_of_another_build),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
