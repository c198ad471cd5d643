/*
 * Tests of the assignment of tasks to runs, on sidecars and stores made for the purpose: whose turn
 * it is, what a candidate's attempts are, and that none is lost or made twice.
 */
#include "hive/pool.h"
#include "store/runs_testing.h"

#include <stdlib.h>

enum { MOST = 40, MS = 1000 };

/* Candidate i has the sites 2i and 2i + 1; one that races with itself has only the first. */
struct plan {
    uint32_t count;
    uint32_t scores[MOST];
    bool same[MOST];
    uint32_t copy_of[MOST]; /* 1 + another, whose fingerprints it has; 0: none */
};

static char *sidecar_path, *store_path;
static struct rh_sidecar *sidecar;
static struct rh_runs *runs;
static struct rh_pool *pool;

/* --- the sidecar --- */

static void add_site(struct rh_sidecar_writer *writer, uint32_t number, uint64_t fingerprint)
{
    const struct rh_sidecar_function function = {"work", NULL, "/work.c", 1};
    const struct rh_sidecar_location at = {"/work.c", 2 + number, 1, "work", NULL, NULL};
    rh_sidecar_add_site(writer, &(struct rh_sidecar_site){.number = number,
                                                          .fingerprint = fingerprint,
                                                          .access = RH_ACCESS_WRITE,
                                                          .size = 4,
                                                          .function = &function,
                                                          .location = &at,
                                                          .expression = "word"});
}

static void write_plan(struct rh_sidecar_writer *writer, const struct plan *plan)
{
    for (uint32_t i = 0; i < 2 * plan->count; i++) {
        uint32_t of = plan->copy_of[i / 2] ? plan->copy_of[i / 2] - 1 : i / 2;
        add_site(writer, i, 1000 + 2 * of + i % 2);
    }
    for (uint32_t i = 0; i < 2 * plan->count; i++)
        rh_sidecar_add_class(writer, &(struct rh_sidecar_class){i, "work x many", ""}, &i, 1);
    for (uint32_t i = 0; i < plan->count; i++)
        rh_sidecar_add_group(
            writer,
            &(struct rh_sidecar_group){i, 2 * i, plan->scores[i], 0, "made up", NULL, NULL, 0},
            &(uint32_t){plan->same[i] ? 2 * i : 2 * i + 1}, 1);
    rh_sidecar_add_filter(writer, "candidates", plan->count);
}

static void make_sidecar(const struct plan *plan)
{
    struct rh_sidecar_writer *writer;
    assert_status(RH_OK, rh_sidecar_create(sidecar_path, &writer));
    rh_sidecar_set_meta(writer, RH_SIDECAR_META_PROGRAM, "prog");
    rh_sidecar_set_meta(writer, RH_SIDECAR_META_BUILD_ID, fixture_program.build_id);
    rh_sidecar_add_key(writer, 0, &(struct rh_key_record){.gate = RH_NO_GATE});
    write_plan(writer, plan);
    assert_status(RH_OK, rh_sidecar_commit(writer));
}

/* --- pools --- */

/* As `racehive run` has them, but without screening. */
static const struct rh_pool_options usual = {
    .tasks_per_run = 1,
    .first_pause_us = 1 * MS,
    .pause_step_us = 50 * MS,
    .longest_pause_us = 200 * MS,
    .steers = true,
    .seed = 7,
};

static void open_pool(const struct rh_pool_options *options)
{
    assert_status(RH_OK, rh_sidecar_open(sidecar_path, &sidecar));
    runs = open_store(store_path);
    assert_status(RH_OK, rh_pool_open(sidecar, runs, options, &pool));
}

static void close_pool(void)
{
    if (!pool)
        return;
    rh_pool_close(pool);
    rh_runs_close(runs);
    rh_sidecar_close(sidecar);
    pool = NULL;
}

static void start(const struct plan *plan, const struct rh_pool_options *options)
{
    make_sidecar(plan);
    open_pool(options);
}

/* What the next process sees. */
static void reopen(const struct rh_pool_options *options)
{
    close_pool();
    open_pool(options);
}

static int set_up(void **state)
{
    if (make_scratch(state) != 0)
        return -1;
    sidecar_path = rh_format("%s/prog.racehive", (const char *)*state);
    store_path = rh_format("%s/prog.runs", (const char *)*state);
    return 0;
}

static int tear_down(void **state)
{
    close_pool();
    free(sidecar_path);
    free(store_path);
    return remove_scratch(state);
}

/* --- runs --- */

static struct rh_assignment assign(void)
{
    struct rh_assignment a;
    assert_true(rh_pool_assign(pool, &a));
    return a;
}

static uint32_t candidate_of(const struct rh_runs_task *task)
{
    return task->candidate.first / 2;
}

static const struct rh_runs_answer not_seen = {.outcome = RH_OUTCOME_NOT_SEEN};
static const struct rh_runs_answer met = {.outcome = RH_OUTCOME_NOT_SEEN, .seen = RH_SEEN_MEET};
static const struct rh_runs_answer vain = {
    .outcome = RH_OUTCOME_TIMEOUT, .seen = RH_SEEN_MEET, .timed_out = true};
static const struct rh_runs_answer raced = {
    .outcome = RH_OUTCOME_RACE, .seen = RH_SEEN_MEET, .raced = {true}};

/* The run answers so to each of its tasks. */
static void complete(const struct rh_assignment *a, const struct rh_runs_answer *answer)
{
    struct rh_runs_answer answers[RH_MAX_TASKS];
    const struct rh_runs_end end = {.wall_ns = 1};
    uint64_t run;
    for (size_t i = 0; i < a->count; i++)
        answers[i] = *answer;
    assert_status(RH_OK, rh_runs_begin(runs, 0, a->tasks, a->count, &run));
    assert_status(RH_OK, rh_runs_complete(runs, run, &end, answers, a->count, NULL, 0));
    assert_status(RH_OK, rh_pool_completed(pool, a, NULL, 0));
}

/* One run of one task; the candidate. */
static uint32_t run_one(const struct rh_runs_answer *answer)
{
    struct rh_assignment a = assign();
    assert_int_equal(a.validating, 1);
    complete(&a, answer);
    return candidate_of(&a.tasks[0]);
}

static struct plan even_plan(uint32_t count)
{
    struct plan plan = {.count = count};
    for (uint32_t i = 0; i < count; i++)
        plan.scores[i] = 50;
    return plan;
}

/* A run that only watches sees them all meet. */
static void let_all_meet_with(const struct rh_pool_options *then)
{
    struct rh_pool_options options = usual;
    options.screened_per_run = RH_MAX_TASKS;
    reopen(&options);
    struct rh_assignment a = assign();
    rh_pool_abandoned(pool, &a);
    a.tasks[0].stage = RH_STAGE_CONTEXT;
    a.validating = 0;
    complete(&a, &met);
    reopen(then);
}

static void let_all_meet(void)
{
    let_all_meet_with(&usual);
}

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
        assert_status(RH_OK, rh_runs_complete(runs, run, &end, answers, a.count, NULL, 0));
        assert_status(RH_OK, rh_pool_completed(pool, &a, NULL, 0));
    }
    /* Six candidates of 120; an eighth is for the others. */
    assert_true(awake > 3 * asleep);
    assert_true(asleep > RUNS / 8);
}

/* --- attempts --- */

static void expect_attempt(enum rh_stage stage, enum rh_race_order order, uint32_t pause_ms)
{
    struct rh_assignment a = assign();
    assert_int_equal(a.tasks[0].stage, stage);
    assert_int_equal(a.tasks[0].order, order);
    assert_int_equal(a.tasks[0].pause_us, pause_ms * MS);
    complete(&a, &vain);
}

static const uint32_t pauses_ms[] = {1, 51, 101, 151, 200};
enum { PAUSES = sizeof pauses_ms / sizeof pauses_ms[0] };

static void check_attempts(bool processes)
{
    struct plan plan = even_plan(1);
    start(&plan, &usual);
    expect_attempt(RH_STAGE_ORDER, RH_ORDER_PRIMARY, 0);
    for (uint32_t i = 0; i < PAUSES; i++) {
        if (processes)
            reopen(&usual);
        expect_attempt(RH_STAGE_STEER, RH_ORDER_ALTERNATE, pauses_ms[i]);
        if (processes)
            reopen(&usual);
        expect_attempt(RH_STAGE_STEER, RH_ORDER_PRIMARY, pauses_ms[i]);
    }
    for (uint32_t i = 0; i < 20; i++) {
        struct rh_assignment a = assign();
        assert_int_equal(a.tasks[0].order, i % 2 ? RH_ORDER_PRIMARY : RH_ORDER_ALTERNATE);
        assert_in_range(a.tasks[0].pause_us, 1, 200 * MS);
        complete(&a, &vain);
    }
}

static void test_attempts(void **state)
{
    (void)state;
    check_attempts(false);
}

static void test_attempts_go_on_in_other_processes(void **state)
{
    (void)state;
    check_attempts(true);
}

static void test_one_site_has_one_order(void **state)
{
    (void)state;
    struct plan plan = {.count = 1, .scores = {50}, .same = {true}};
    start(&plan, &usual);
    expect_attempt(RH_STAGE_ORDER, RH_ORDER_PRIMARY, 0);
    for (uint32_t i = 0; i < PAUSES; i++)
        expect_attempt(RH_STAGE_STEER, RH_ORDER_PRIMARY, pauses_ms[i]);
}

/* Another run has watched its order already. */
static void test_order_that_was_watched(void **state)
{
    (void)state;
    struct plan plan = even_plan(1);
    struct rh_assignment a = {.count = 1};
    start(&plan, &usual);
    a.tasks[0] = assign().tasks[0];
    rh_pool_abandoned(pool, &(struct rh_assignment){.tasks = {a.tasks[0]}, .validating = 1});
    a.tasks[0].stage = RH_STAGE_CONTEXT;
    complete(&a, &(struct rh_runs_answer){.outcome = RH_OUTCOME_NO_RACE, .seen = RH_SEEN_MEET});
    expect_attempt(RH_STAGE_STEER, RH_ORDER_PRIMARY, 1);
}

static void test_without_steering(void **state)
{
    (void)state;
    struct plan plan = even_plan(2);
    struct rh_pool_options options = usual;
    options.steers = false;
    start(&plan, &options);
    for (uint32_t i = 0; i < 6; i++)
        expect_attempt(RH_STAGE_ORDER, RH_ORDER_PRIMARY, 0);
}

/* An execution that there was, of the site that is to wait. */
static void test_skips(void **state)
{
    (void)state;
    struct plan plan = even_plan(1);
    struct rh_runs_answer often = vain;
    uint32_t skipping = 0, far = 0;
    often.executions[0] = 1000;
    often.executions[1] = 3;
    start(&plan, &usual);
    complete(&(struct rh_assignment){.tasks = {assign().tasks[0]}, .count = 1, .validating = 1},
             &often);
    for (uint32_t i = 0; i < 300; i++) {
        struct rh_assignment a = assign();
        assert_in_range(a.skips[0], 0, a.tasks[0].order == RH_ORDER_ALTERNATE ? 999 : 2);
        skipping += a.skips[0] > 0;
        far += a.skips[0] > 10;
        complete(&a, &often);
    }
    assert_in_range(skipping, 30, 200);
    assert_true(far > 5);
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
    options.method = RH_POOL_WATCH;
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

/* --- screening --- */

static void test_screening(void **state)
{
    (void)state;
    struct plan plan = even_plan(20);
    struct rh_pool_options options = usual;
    uint32_t seen[20] = {0};
    options.screened_per_run = 5;
    start(&plan, &options);
    uint64_t race = 0;
    for (uint32_t i = 0; i < 20; i++) {
        struct rh_assignment a = assign();
        assert_int_equal(a.count, 6);
        for (size_t t = 0; t < a.count; t++) {
            assert_int_equal(a.tasks[t].stage == RH_STAGE_CONTEXT, t >= a.validating);
            if (t >= a.validating)
                assert_int_not_equal(a.tasks[t].candidate.id, race);
            for (size_t u = 0; u < t; u++)
                assert_int_not_equal(a.tasks[t].candidate.id, a.tasks[u].candidate.id);
            seen[candidate_of(&a.tasks[t])] += t >= a.validating;
        }
        if (i == 0)
            race = a.tasks[0].candidate.id;
        a.count = i == 0 ? 1 : a.count;
        complete(&a, i == 0 ? &raced : &not_seen);
    }
    uint32_t unseen = 0;
    for (uint32_t c = 0; c < 20; c++)
        unseen += seen[c] == 0;
    assert_in_range(unseen, 0, 1); /* but for the true race */
}

/* Beside another's task, that is: each still has its runs. */
static void test_hot_sites_are_not_screened(void **state)
{
    (void)state;
    enum { COUNT = 8, RUNS = 40 };
    struct plan plan = even_plan(COUNT);
    struct rh_pool_options options = usual;
    struct rh_runs_answer hot = met;
    uint32_t runs_of[COUNT] = {0};
    hot.executions[1] = 1000000;
    options.screened_per_run = COUNT / 2;
    start(&plan, &options);
    struct rh_assignment a = assign();
    assert_int_equal(a.count, 1 + COUNT / 2);
    complete(&a, &hot);
    for (int run = 0; run < RUNS; run++) {
        if (run % 10 == 5)
            reopen(&options);
        a = assign();
        assert_in_range(a.count, 1, COUNT - COUNT / 2);
        runs_of[candidate_of(&a.tasks[0])]++;
        complete(&a, &hot);
        assert_true(run == 0 || a.count == 1);
    }
    for (int i = 0; i < COUNT; i++)
        assert_true(runs_of[i] > 0);
}

static void test_screening_has_a_limit(void **state)
{
    (void)state;
    struct plan plan = even_plan(3);
    struct rh_pool_options options = usual;
    options.screened_per_run = RH_MAX_TASKS;
    start(&plan, &options);
    assert_int_equal(assign().count, 3);
}

/* --- users --- */

static void test_users_have_candidates_of_their_own(void **state)
{
    (void)state;
    struct plan plan = even_plan(8);
    uint32_t users[8] = {0};
    struct rh_pool_share share;
    start(&plan, &usual);
    for (uint32_t i = 0; i < 24; i++) {
        assert_true(rh_pool_draw(pool, &share));
        users[share.entry]++;
        for (uint32_t c = 0; c < 8; c++)
            assert_in_range(users[c], i / 8, i / 8 + 1);
    }
}

static bool try_user(const struct rh_pool_share *share, uint32_t attempt,
                     const struct rh_runs_answer *answer, struct rh_runs_task *task)
{
    struct rh_assignment a;
    if (!rh_pool_assign_user(pool, share, attempt, &a))
        return false;
    *task = a.tasks[0];
    complete(&a, answer);
    return true;
}

/* His pauses grow in the order that he was given, whoever else gets the candidate meanwhile. */
static void test_attempts_of_a_user(void **state)
{
    (void)state;
    struct plan plan = even_plan(1);
    struct rh_pool_share share, others[PAUSES];
    struct rh_runs_task task;
    start(&plan, &usual);
    assert_true(rh_pool_draw(pool, &share));
    assert_true(try_user(&share, 0, &vain, &task));
    assert_int_equal(task.stage, RH_STAGE_ORDER);
    for (uint32_t i = 0; i < PAUSES; i++) {
        assert_true(try_user(&share, i + 1, &vain, &task));
        assert_int_equal(task.stage, RH_STAGE_STEER);
        assert_int_equal(task.order, share.order);
        assert_int_equal(task.pause_us, pauses_ms[i] * MS);
        assert_true(rh_pool_draw(pool, &others[i]));
        assert_int_equal(others[i].order == share.order, i % 2 == 1);
    }
    assert_false(try_user(&share, PAUSES + 1, &vain, &task));
}

static void test_users_give_up(void **state)
{
    (void)state;
    struct plan plan = even_plan(2);
    struct rh_pool_share share;
    struct rh_runs_task task;
    start(&plan, &usual);
    assert_true(rh_pool_draw(pool, &share));
    for (uint32_t i = 0; i < 3; i++)
        assert_true(try_user(&share, i, &not_seen, &task));
    assert_false(try_user(&share, 3, &not_seen, &task)); /* the sites do not meet */
    assert_true(rh_pool_draw(pool, &share));
    assert_true(try_user(&share, 0, &raced, &task));
    assert_false(try_user(&share, 1, &vain, &task)); /* a true race */
    for (uint32_t i = 0; i < 5; i++) {
        struct rh_pool_share next;
        assert_true(rh_pool_draw(pool, &next));
        assert_int_not_equal(next.entry, share.entry);
    }
}

static void test_users_without_steering(void **state)
{
    (void)state;
    struct plan plan = even_plan(1);
    struct rh_pool_options options = usual;
    struct rh_pool_share share;
    struct rh_runs_task task;
    options.steers = false;
    start(&plan, &options);
    assert_true(rh_pool_draw(pool, &share));
    assert_true(try_user(&share, 0, &met, &task));
    assert_false(try_user(&share, 1, &met, &task));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    /* Some thousand transactions, each of which would wait for a disk. */
    if (access("/dev/shm", W_OK | X_OK) == 0)
        setenv("TMPDIR", "/dev/shm", 1);
    const struct CMUnitTest tests[] = {
        CASE(test_all_have_their_turn),
        CASE(test_those_not_seen_too),
        CASE(test_rounds_go_on_in_other_processes),
        CASE(test_better_scores_first),
        CASE(test_hidden),
        CASE(test_hidden_in_other_processes),
        CASE(test_sites_that_do_not_run_wait),
        CASE(test_attempts),
        CASE(test_attempts_go_on_in_other_processes),
        CASE(test_one_site_has_one_order),
        CASE(test_order_that_was_watched),
        CASE(test_without_steering),
        CASE(test_skips),
        CASE(test_true_races_leave),
        CASE(test_true_races_leave_other_processes),
        CASE(test_nothing_left),
        CASE(test_methods),
        CASE(test_no_candidates),
        CASE(test_nothing_twice_at_once),
        CASE(test_abandoned),
        CASE(test_many_tasks_in_a_run),
        CASE(test_copies),
        CASE(test_screening),
        CASE(test_hot_sites_are_not_screened),
        CASE(test_screening_has_a_limit),
        CASE(test_users_have_candidates_of_their_own),
        CASE(test_attempts_of_a_user),
        CASE(test_users_give_up),
        CASE(test_users_without_steering),
    };
    return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
