/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of the assignment of tasks to runs: whose turn it is, what becomes of true races, and that
 * none is lost or made twice.
 */
#include "hive/pool_testing.h"

/* --- whose turn it is --- */

static void check_rounds(const struct rh_runs_answer *answer, bool processes)
{
    struct plan plan = even_plan(7);
    uint32_t turns[7] = {0};
    start(&plan, &usual);
    if (answer->seen & RH_SEEN_MEET)
        let_all_meet();
    for (uint32_t i = 0; i < 7 * 6; i++) {
        struct rh_pool_options options = usual;
        options.seed = i;
        if (processes)
            reopen(&options);
        turns[run_one(answer)]++;
        for (uint32_t c = 0; c < 7; c++)
            assert_in_range(turns[c], i / 7, i / 7 + 1);
    }
}

static void test_all_have_their_turn(void **state)
{
    (void)state;
    check_rounds(&vain, false);
}

static void test_those_not_seen_too(void **state)
{
    (void)state;
    check_rounds(&not_seen, false);
}

/* A process for each run, as a script may have it, goes round all the same. */
static void test_rounds_go_on_in_other_processes(void **state)
{
    (void)state;
    check_rounds(&not_seen, true);
}

static void test_better_scores_first(void **state)
{
    (void)state;
    struct plan plan = {.count = 4, .scores = {10, 90, 50, 70}};
    static const uint32_t expected[] = {1, 3, 2, 0};
    start(&plan, &usual);
    let_all_meet();
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(run_one(&vain), expected[i % 4]);
}

/* A run's scout saw the sites of a candidate meet without a common lock. */
static void scout(uint32_t candidate, uint32_t unordered)
{
    const struct rh_runs_end end = {.wall_ns = 1};
    struct rh_runs_meeting meeting = {
        .counts = {
            [RH_MET_UNLOCKED] = 1, [RH_MET_UNORDERED] = unordered, [RH_MET_ORDERED] = !unordered}};
    assert_true(rh_pool_name(pool, 2 * candidate, 2 * candidate + 1, &meeting.candidate));
    const struct rh_runs_sights sights = {.met = &meeting, .met_count = 1};
    uint64_t run;
    assert_status(RH_OK, rh_runs_begin(runs, 0, NULL, 0, &run));
    assert_status(RH_OK, rh_runs_complete(runs, run, &end, NULL, 0, NULL, 0, &sights));
}

/* The worst by score: it has four times the attempts of the others when it was unordered, and twice
 * when it only met without a common lock; all have their turn. */
static void check_scouted(uint32_t unordered, uint32_t least, uint32_t most)
{
    struct plan plan = {.count = 4, .scores = {90, 70, 50, 10}};
    uint32_t turns[4] = {0};
    start(&plan, &usual);
    let_all_meet();
    scout(3, unordered);
    reopen(&usual);
    for (uint32_t i = 0; i < 70; i++)
        turns[run_one(&vain)]++;
    assert_in_range(turns[3], least, most);
    for (uint32_t i = 0; i < 3; i++)
        assert_in_range(turns[i], (70 - most) / 3 - 1, (70 - least) / 3 + 2);
}

static void test_suspects_first(void **state)
{
    (void)state;
    check_scouted(1, 38, 44);
}

static void test_met_without_a_lock_first(void **state)
{
    (void)state;
    check_scouted(0, 26, 30);
}

/* Of four that have not met, the worst by score is asked about first if it raced elsewhere. */
static void test_raced_elsewhere_first(void **state)
{
    (void)state;
    struct plan plan = {.count = 4, .scores = {90, 70, 50, 10}};
    struct rh_runs_adopted pair = {.elsewhere = RH_RUNS_ELSEWHERE_RACED};
    start(&plan, &usual);
    assert_true(rh_pool_name(pool, 6, 7, &pair.candidate));
    assert_status(RH_OK, rh_runs_adopt_met(runs, &pair, 1, 1));
    reopen(&usual);
    assert_int_equal(run_one(&vain), 3);
}

/* Those that never met are tried, too, though less often, whatever their score; and one that has
 * met is not lost among them, however many they are. */
static void check_hidden(bool processes)
{
    enum { COUNT = 20, MET_ONE = 1 };
    struct plan plan = even_plan(COUNT);
    uint32_t turns[COUNT] = {0};
    plan.scores[0] = 90;
    start(&plan, &usual);
    for (uint32_t i = 0; i < 120; i++) {
        if (processes)
            reopen(&usual);
        struct rh_assignment a = assign();
        uint32_t c = candidate_of(&a.tasks[0]);
        complete(&a, c == MET_ONE ? &met : &not_seen);
        turns[c]++;
    }
    assert_in_range(turns[MET_ONE], 70, 95);
    for (uint32_t c = 0; c < COUNT; c++)
        if (c != MET_ONE)
            assert_in_range(turns[c], 1, 3);
}

static void test_hidden(void **state)
{
    (void)state;
    check_hidden(false);
}

static void test_hidden_in_other_processes(void **state)
{
    (void)state;
    check_hidden(true);
}

/* The first site of all candidates is one, the second does not run in half of them. */
static void make_sidecar_of_sleepers(uint32_t count)
{
    struct rh_sidecar_writer *writer;
    assert_status(RH_OK, rh_sidecar_create(sidecar_path, &writer));
    rh_sidecar_set_meta(writer, RH_SIDECAR_META_PROGRAM, "prog");
    rh_sidecar_set_meta(writer, RH_SIDECAR_META_BUILD_ID, fixture_program.build_id);
    rh_sidecar_add_key(writer, 0, &(struct rh_key_record){.gate = RH_NO_GATE});
    for (uint32_t i = 0; i < count; i++)
        add_site(writer, i, 1000 + i);
    for (uint32_t i = 0; i < count; i++)
        rh_sidecar_add_class(writer, &(struct rh_sidecar_class){i, "work x many", ""}, &i, 1);
    for (uint32_t i = 0, group = 0; i < count; i++)
        for (uint32_t k = i + 1; k < count; k++, group++)
            rh_sidecar_add_group(
                writer, &(struct rh_sidecar_group){group, i, 50, 0, "made up", NULL, NULL, 0}, &k,
                1);
    rh_sidecar_add_filter(writer, "candidates", (uint64_t)count * (count - 1) / 2);
    assert_status(RH_OK, rh_sidecar_commit(writer));
}

/* Of sixteen sites, each a candidate with every other, four run: once that is seen, what runs ask
 * about is mostly these, and the others are not forgotten. */
static void test_sites_that_do_not_run_wait(void **state)
{
    (void)state;
    enum { SITES = 16, RUNNING = 4, FIRST_RUNS = 40, RUNS = 400, SCREENED = 3 };
    struct rh_pool_options options = usual;
    options.screened_per_run = SCREENED;
    make_sidecar_of_sleepers(SITES);
    open_pool(&options);
    uint64_t awake = 0, asleep = 0;
    for (uint32_t i = 0; i < FIRST_RUNS + RUNS; i++) {
        struct rh_runs_answer answers[RH_MAX_TASKS];
        const struct rh_runs_end end = {.wall_ns = 1};
        struct rh_assignment a = assign();
        uint64_t run;
        assert_int_equal(a.count, 1 + SCREENED);
        for (size_t k = 0; k < a.count; k++) {
            const struct rh_runs_candidate *c = &a.tasks[k].candidate;
            answers[k] = not_seen;
            answers[k].executions[0] = c->first < RUNNING;
            answers[k].executions[1] = c->second < RUNNING;
            bool runs_all = c->first < RUNNING && c->second < RUNNING;
            awake += k && i >= FIRST_RUNS && runs_all;
            asleep += k && i >= FIRST_RUNS && !runs_all;
        }
        assert_status(RH_OK, rh_runs_begin(runs, 0, a.tasks, a.count, &run));
        assert_status(RH_OK, rh_runs_complete(runs, run, &end, answers, a.count, NULL, 0, NULL));
        assert_status(RH_OK, rh_pool_completed(pool, &a, NULL, 0));
    }
    /* Six candidates of 120; an eighth is for the others. */
    assert_true(awake > 3 * asleep);
    assert_true(asleep > RUNS / 8);
}

/* --- true races --- */

enum { EXPLORATIONS = 16 };

/* A few more attempts, all steered, for what comes of it; then others have the runs. */
static void check_true_race(bool processes)
{
    struct plan plan = even_plan(3);
    uint32_t explored = 0;
    start(&plan, &usual);
    uint32_t race = run_one(&raced);
    for (uint32_t i = 0; i < 400; i++) {
        if (processes)
            reopen(&usual);
        struct rh_assignment a = assign();
        bool is_race = candidate_of(&a.tasks[0]) == race;
        if (is_race)
            assert_int_equal(a.tasks[0].stage, RH_STAGE_STEER);
        explored += is_race;
        complete(&a, is_race ? &raced : &vain);
    }
    assert_int_equal(explored, EXPLORATIONS);
}

static void test_true_races_leave(void **state)
{
    (void)state;
    check_true_race(false);
}

static void test_true_races_leave_other_processes(void **state)
{
    (void)state;
    check_true_race(true);
}

static void test_nothing_left(void **state)
{
    (void)state;
    struct plan plan = even_plan(5);
    struct rh_pool_counts counts;
    struct rh_assignment a;
    start(&plan, &usual);
    for (uint32_t i = 0; i < 5 * (1 + EXPLORATIONS); i++)
        run_one(&raced);
    assert_false(rh_pool_assign(pool, &a));
    assert_int_equal(a.count, 0);
    reopen(&usual);
    assert_false(rh_pool_assign(pool, &a));
    rh_pool_count(pool, &counts);
    assert_int_equal(counts.true_races, 5);
    assert_int_equal(counts.met, 5);
    assert_int_equal(counts.tried, 5);
    assert_int_equal(counts.all, 5);
}

/* Detectors that cannot do all stages get attempts that they can make. */
static void test_methods(void **state)
{
    (void)state;
    struct plan plan = even_plan(2);
    struct rh_pool_options options = usual;
    options.method = RH_POOL_ORDER;
    start(&plan, &options);
    for (uint32_t i = 0; i < 6; i++)
        expect_attempt(RH_STAGE_ORDER, RH_ORDER_PRIMARY, 0);
    close_pool();
    unlink(store_path);
    options.method = RH_POOL_COLLIDE;
    open_pool(&options);
    let_all_meet_with(&options);
    for (uint32_t i = 0; i < 8; i++)
        expect_attempt(RH_STAGE_STEER, i / 2 % 2 ? RH_ORDER_ALTERNATE : RH_ORDER_PRIMARY, 0);
    for (uint32_t i = 0; i < 2; i++)
        run_one(&raced);
    struct rh_assignment a;
    assert_false(rh_pool_assign(pool, &a)); /* it explores nothing */
    close_pool();
    unlink(store_path);
    options.long_pause_us = 30 * MS;
    open_pool(&options);
    let_all_meet_with(&options);
    for (uint32_t i = 0; i < 12; i++)
        expect_attempt(RH_STAGE_STEER, i / 2 % 2 ? RH_ORDER_ALTERNATE : RH_ORDER_PRIMARY,
                       i / 4 % 2 ? 30 : 0);
}

static void test_no_candidates(void **state)
{
    (void)state;
    struct plan plan = {.count = 0};
    struct rh_pool_options options = usual;
    struct rh_assignment a;
    struct rh_pool_share share;
    options.screened_per_run = 31;
    start(&plan, &options);
    assert_false(rh_pool_assign(pool, &a));
    assert_false(rh_pool_draw(pool, &share));
}

/* --- several at once --- */

static void test_nothing_twice_at_once(void **state)
{
    (void)state;
    struct plan plan = even_plan(6);
    struct rh_assignment under_way[6], more;
    bool taken[6] = {false};
    start(&plan, &usual);
    for (uint32_t i = 0; i < 6; i++) {
        under_way[i] = assign();
        assert_false(taken[candidate_of(&under_way[i].tasks[0])]);
        taken[candidate_of(&under_way[i].tasks[0])] = true;
    }
    assert_false(rh_pool_assign(pool, &more));
    complete(&under_way[2], &vain);
    more = assign();
    assert_int_equal(more.tasks[0].candidate.id, under_way[2].tasks[0].candidate.id);
    assert_int_equal(more.tasks[0].stage, RH_STAGE_STEER);
}

/* What came to nothing is made again. */
static void test_abandoned(void **state)
{
    (void)state;
    struct plan plan = even_plan(1);
    struct rh_assignment a;
    start(&plan, &usual);
    for (uint32_t i = 0; i < 5; i++) {
        a = assign();
        assert_int_equal(a.tasks[0].stage, RH_STAGE_ORDER);
        rh_pool_abandoned(pool, &a);
    }
    expect_attempt(RH_STAGE_ORDER, RH_ORDER_PRIMARY, 0);
}

static void test_many_tasks_in_a_run(void **state)
{
    (void)state;
    struct plan plan = even_plan(10);
    struct rh_pool_options options = usual;
    options.tasks_per_run = 8;
    start(&plan, &options);
    struct rh_assignment a = assign(), b = assign();
    assert_int_equal(a.validating, 8);
    assert_int_equal(b.validating, 2);
    for (size_t i = 0; i < 8; i++)
        for (size_t j = 0; j < 2; j++)
            assert_int_not_equal(a.tasks[i].candidate.id, b.tasks[j].candidate.id);
    complete(&a, &vain);
    complete(&b, &vain);
    assert_int_equal(assign().validating, 8);
}

/* Copies of the same source have one id: one of them is asked about, as often as any other. */
static void test_copies(void **state)
{
    (void)state;
    struct plan plan = even_plan(6);
    uint32_t turns[6] = {0}, copies;
    plan.copy_of[1] = plan.copy_of[4] = 1;
    plan.copy_of[5] = 3;
    start(&plan, &usual);
    for (uint32_t i = 0; i < 30; i++)
        turns[run_one(&vain)]++;
    copies = turns[0] + turns[1] + turns[4];
    assert_int_equal(copies, 10);
    assert_int_equal(turns[2] + turns[5], 10);
    assert_int_equal(turns[3], 10);
}

int main(void)
{
    use_fast_folder();
    const struct CMUnitTest tests[] = {
        CASE(test_all_have_their_turn),
        CASE(test_those_not_seen_too),
        CASE(test_rounds_go_on_in_other_processes),
        CASE(test_better_scores_first),
        CASE(test_suspects_first),
        CASE(test_met_without_a_lock_first),
        CASE(test_raced_elsewhere_first),
        CASE(test_hidden),
        CASE(test_hidden_in_other_processes),
        CASE(test_sites_that_do_not_run_wait),
        CASE(test_true_races_leave),
        CASE(test_true_races_leave_other_processes),
        CASE(test_nothing_left),
        CASE(test_methods),
        CASE(test_no_candidates),
        CASE(test_nothing_twice_at_once),
        CASE(test_abandoned),
        CASE(test_many_tasks_in_a_run),
        CASE(test_copies),
    };
    return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
