/* SPDX-License-Identifier: Apache-2.0 */
/* What goes into a store of runs comes out of it again, also with others at work on it. */
#include "store/runs.h"

#include "store/runs_testing.h"

#include <signal.h>
#include <sys/wait.h>

static char *store_path(void **state)
{
    return rh_path_join(*state, "p.runs");
}

static void assert_totals(struct rh_runs *runs, const struct rh_runs_totals *expected)
{
    struct rh_runs_totals sum;
    assert_status(RH_OK, rh_runs_sum(runs, &sum));
    assert_int_equal(sum.runs, expected->runs);
    assert_int_equal(sum.crashed, expected->crashed);
    assert_int_equal(sum.hung, expected->hung);
    assert_int_equal(sum.opaque, expected->opaque);
    assert_int_equal(sum.wall_ns, expected->wall_ns);
    assert_int_equal(sum.hook_ns, expected->hook_ns);
    assert_int_equal(sum.pause_ns, expected->pause_ns);
    for (int i = 0; i < RH_LOSS_COUNT; i++)
        assert_int_equal(sum.losses[i], expected->losses[i]);
}

static void a_new_store_knows_its_program_and_nothing_else(void **state)
{
    char *path = rh_path_join(*state, "data/runs/p.runs");
    rh_runs_close(open_store(path));
    struct rh_runs *runs;
    assert_status(RH_OK, rh_runs_open_existing(path, &runs));
    const struct rh_runs_program *program = rh_runs_program_of(runs);
    assert_string_equal(program->build_id, fixture_program.build_id);
    assert_string_equal(program->name, fixture_program.name);
    assert_string_equal(program->detector, fixture_program.detector);
    assert_string_equal(program->sidecar, fixture_program.sidecar);
    struct rh_runs_state known_state;
    struct rh_runs_finding race;
    struct rh_runs_end end;
    bool more = true, known = true;
    size_t at = 0;
    assert_totals(runs, &(struct rh_runs_totals){0});
    assert_status(RH_OK, rh_runs_next_state(runs, &known_state, &more));
    assert_false(more);
    assert_status(RH_OK, rh_runs_get_state(runs, 1, &known_state, &known));
    assert_false(known);
    assert_status(RH_OK, rh_runs_next_finding(runs, 1, &at, &race, &end, &more));
    assert_false(more);
    rh_runs_close(runs);
    free(path);
}

static void the_usual_place_is_named_by_build_and_detector(void **state)
{
    char *path;
    assert_int_equal(setenv("XDG_DATA_HOME", *state, 1), 0);
    assert_status(RH_OK, rh_runs_default_path("00ff", "racemob", &path));
    char *expected = rh_path_join(*state, "racehive/runs/00ff-racemob.runs");
    assert_string_equal(path, expected);
    assert_status(RH_ERR_INPUT, rh_runs_default_path("../x", "racemob", &path));
    assert_status(RH_ERR_INPUT, rh_runs_default_path("", "racemob", &path));
    free(expected);
    free(path);
}

static void a_program_that_moved_is_followed(void **state)
{
    char *path = store_path(state);
    rh_runs_close(open_store(path));
    struct rh_runs_program moved = fixture_program;
    moved.sidecar = "/elsewhere/prog.racehive";
    struct rh_runs *runs;
    assert_status(RH_OK, rh_runs_open(path, &moved, &runs));
    assert_string_equal(rh_runs_program_of(runs)->sidecar, moved.sidecar);
    rh_runs_close(runs);
    assert_status(RH_OK, rh_runs_open_existing(path, &runs));
    assert_string_equal(rh_runs_program_of(runs)->sidecar, moved.sidecar);
    rh_runs_close(runs);
    free(path);
}

static void other_builds_and_detectors_are_refused(void **state)
{
    char *path = store_path(state);
    rh_runs_close(open_store(path));
    struct rh_runs_program other = fixture_program;
    struct rh_runs *runs;
    other.build_id = "ffff";
    assert_status(RH_ERR_INPUT, rh_runs_open(path, &other, &runs));
    assert_non_null(strstr(rh_error_text(), "another build of prog (build id 0123456789abcdef"));
    other = fixture_program;
    other.detector = "caper";
    assert_status(RH_ERR_INPUT, rh_runs_open(path, &other, &runs));
    assert_non_null(strstr(rh_error_text(), "of the detector racemob, not of caper"));
    free(path);
}

#define BOTH (RH_SEEN_FIRST | RH_SEEN_SECOND)

/* One row per kind of answer: what it adds to a tally, and the verdict after one and five runs. */
static const struct lesson {
    struct rh_runs_answer answer;
    struct rh_tally tally;
    enum rh_ground once, five_times;
} lessons[] = {
    {{.outcome = RH_OUTCOME_RACE, .raced[1] = true, .seen = BOTH | RH_SEEN_THREADS | RH_SEEN_MEET},
     {.outcomes[RH_OUTCOME_RACE] = 1, .raced[1] = 1, .met = 1, .with[1] = {1, 0, 0}},
     RH_GROUND_SINGLE_ORDER,
     RH_GROUND_SINGLE_ORDER},
    {{.outcome = RH_OUTCOME_RACE, .raced = {true, true}, .collided = true, .exhausted = true},
     {.outcomes[RH_OUTCOME_RACE] = 1,
      .raced = {1, 1},
      .collisions = 1,
      .with = {{1, 0, 0}, {1, 0, 0}}},
     RH_GROUND_BOTH_ORDERS,
     RH_GROUND_BOTH_ORDERS},
    {{.outcome = RH_OUTCOME_RACE, .raced[0] = true, .crashed = true},
     {.outcomes[RH_OUTCOME_RACE] = 1, .raced[0] = 1, .crashes = 1, .with[0] = {1, 1, 0}},
     RH_GROUND_SINGLE_ORDER,
     RH_GROUND_CRASH},
    {{.outcome = RH_OUTCOME_RACE, .raced[0] = true, .hung = true},
     {.outcomes[RH_OUTCOME_RACE] = 1, .raced[0] = 1, .hangs = 1, .with[0] = {1, 0, 1}},
     RH_GROUND_SINGLE_ORDER,
     RH_GROUND_HANG},
    {{.outcome = RH_OUTCOME_NO_RACE, .seen = BOTH | RH_SEEN_THREADS, .exhausted = true},
     {.outcomes[RH_OUTCOME_NO_RACE] = 1, .ordered = 1},
     RH_GROUND_FEW_ORDERED,
     RH_GROUND_FEW_ORDERED},
    {{.outcome = RH_OUTCOME_NO_RACE, .seen = BOTH | RH_SEEN_THREADS | RH_SEEN_UNTRACKED},
     {.outcomes[RH_OUTCOME_NO_RACE] = 1},
     RH_GROUND_FEW_ORDERED,
     RH_GROUND_FEW_ORDERED},
    {{.outcome = RH_OUTCOME_NO_RACE, .seen = RH_SEEN_STEERED, .crashed = true},
     {.outcomes[RH_OUTCOME_NO_RACE] = 1, .ordered = 1, .crashes = 1, .with[1] = {1, 1, 0}},
     RH_GROUND_FEW_ORDERED,
     RH_GROUND_FEW_ORDERED},
    {{.outcome = RH_OUTCOME_TIMEOUT, .timed_out = true, .seen = RH_SEEN_FIRST},
     {.outcomes[RH_OUTCOME_TIMEOUT] = 1},
     RH_GROUND_NOT_SEEN,
     RH_GROUND_NOT_SEEN},
    {{.outcome = RH_OUTCOME_TIMEOUT, .timed_out = true, .exhausted = true},
     {.outcomes[RH_OUTCOME_TIMEOUT] = 1, .exhausted = 1},
     RH_GROUND_FEW_EXHAUSTED,
     RH_GROUND_FEW_EXHAUSTED},
    {{.outcome = RH_OUTCOME_TIMEOUT, .seen = BOTH | RH_SEEN_THREADS},
     {.outcomes[RH_OUTCOME_TIMEOUT] = 1, .apart = 1},
     RH_GROUND_NOT_SEEN,
     RH_GROUND_APART},
    {{.outcome = RH_OUTCOME_NOT_SEEN, .seen = BOTH | RH_SEEN_THREADS},
     {.outcomes[RH_OUTCOME_NOT_SEEN] = 1, .apart = 1},
     RH_GROUND_NOT_SEEN,
     RH_GROUND_APART},
    {{.outcome = RH_OUTCOME_NOT_SEEN, .seen = BOTH | RH_SEEN_THREADS | RH_SEEN_HOT},
     {.outcomes[RH_OUTCOME_NOT_SEEN] = 1},
     RH_GROUND_NOT_SEEN,
     RH_GROUND_NOT_SEEN},
    {{.outcome = RH_OUTCOME_NOT_SEEN, .seen = BOTH | RH_SEEN_THREADS | RH_SEEN_UNTRACKED},
     {.outcomes[RH_OUTCOME_NOT_SEEN] = 1},
     RH_GROUND_NOT_SEEN,
     RH_GROUND_NOT_SEEN},
    {{.outcome = RH_OUTCOME_NOT_SEEN, .seen = BOTH},
     {.outcomes[RH_OUTCOME_NOT_SEEN] = 1, .one_thread = 1},
     RH_GROUND_NOT_SEEN,
     RH_GROUND_ONE_THREAD},
    {{.outcome = RH_OUTCOME_NOT_SEEN, .seen = RH_SEEN_SECOND},
     {.outcomes[RH_OUTCOME_NOT_SEEN] = 1},
     RH_GROUND_NOT_SEEN,
     RH_GROUND_NOT_SEEN},
    {{.outcome = RH_OUTCOME_NOT_SEEN, .seen = BOTH | RH_SEEN_THREADS | RH_SEEN_MEET},
     {.outcomes[RH_OUTCOME_NOT_SEEN] = 1, .met = 1},
     RH_GROUND_NOT_SEEN,
     RH_GROUND_NOT_SEEN},
    {{.outcome = RH_OUTCOME_NOT_SEEN, .seen = BOTH | RH_SEEN_THREADS, .suspected = true},
     {.outcomes[RH_OUTCOME_NOT_SEEN] = 1, .suspected = 1},
     RH_GROUND_SUSPECTED,
     RH_GROUND_SUSPECTED},
};
enum { LESSON_COUNT = sizeof lessons / sizeof lessons[0] };

static void every_answer_leads_to_its_verdict(void **state)
{
    char *path = store_path(state);
    struct rh_runs *runs = open_store(path);
    for (size_t i = 0; i < LESSON_COUNT; i++) {
        const struct lesson *lesson = &lessons[i];
        run_once(runs, i, &lesson->answer);
        struct rh_runs_state known = state_of(runs, i);
        assert_int_equal(known.tally.all.runs, 5 * i + 1);
        known.tally.all = (struct rh_ends){0};
        if (memcmp(&known.tally, &lesson->tally, sizeof known.tally) != 0)
            fail_msg("the tally of lesson %zu is wrong", i);
        assert_int_equal(rh_verdict_ground(&known.tally), lesson->once);
        for (int again = 0; again < 4; again++)
            run_once(runs, i, &lesson->answer);
        known = state_of(runs, i);
        assert_int_equal(rh_verdict_ground(&known.tally), lesson->five_times);
    }
    assert_int_equal(count_runs(runs), 5 * LESSON_COUNT);
    rh_runs_close(runs);
    free(path);
}

/* The same answers in another order, from a store that is opened and closed in between. */
static void the_order_of_runs_does_not_matter(void **state)
{
    enum { SERIES = 12, RUNS = 8 };
    for (uint64_t series = 0; series < SERIES; series++) {
        struct rh_tally tallies[2];
        size_t order[RUNS];
        for (size_t i = 0; i < RUNS; i++)
            order[i] = draw(series, i) % LESSON_COUNT;
        for (int turn = 0; turn < 2; turn++) {
            char *path = rh_format("%s/%d-%d.runs", (char *)*state, (int)series, turn);
            for (size_t left = RUNS; left > 0; left--) {
                size_t at = turn == 0 ? left - 1 : draw(series, 100 + left) % left;
                size_t lesson = order[at];
                order[at] = order[left - 1];
                order[left - 1] = lesson;
                struct rh_runs *runs = open_store(path);
                run_once(runs, 42, &lessons[lesson].answer);
                tallies[turn] = state_of(runs, 42).tally;
                rh_runs_close(runs);
            }
            free(path);
        }
        assert_memory_equal(&tallies[0], &tallies[1], sizeof tallies[0]);
    }
}

static void a_state_holds_what_the_runs_brought(void **state)
{
    char *path = store_path(state);
    struct rh_runs *runs = open_store(path);
    run_once(runs, 9,
             &(struct rh_runs_answer){
                 .outcome = RH_OUTCOME_TIMEOUT, .timed_out = true, .executions = {5, 900}});
    uint64_t last = run_once(
        runs, 9, &(struct rh_runs_answer){.outcome = RH_OUTCOME_NOT_SEEN, .executions = {70, 1}});
    struct rh_runs_state known = state_of(runs, 9);
    assert_int_equal(known.candidate.id, 9);
    assert_int_equal(known.candidate.first, 3);
    assert_int_equal(known.candidate.second, 5);
    assert_int_equal(known.executions[0], 70);
    assert_int_equal(known.executions[1], 900);
    assert_int_equal(known.timed_out_us[RH_ORDER_PRIMARY], 0);
    assert_int_equal(known.timed_out_us[RH_ORDER_ALTERNATE], 250);
    assert_int_equal(known.last_run, last);
    rh_runs_close(runs);
    free(path);
}

/* Both orders of one candidate in one run: the run counts once, with the strongest outcome. */
static void a_run_counts_once_for_a_candidate(void **state)
{
    char *path = store_path(state);
    struct rh_runs *runs = open_store(path);
    struct rh_runs_task tasks[] = {make_task(1), make_task(2), make_task(1)};
    tasks[0].order = RH_ORDER_PRIMARY;
    tasks[0].pause_us = 111;
    const struct rh_runs_answer answers[] = {
        {.outcome = RH_OUTCOME_TIMEOUT,
         .seen = RH_SEEN_FIRST,
         .timed_out = true,
         .exhausted = true,
         .executions = {4, 0}},
        {.outcome = RH_OUTCOME_NOT_SEEN},
        {.outcome = RH_OUTCOME_RACE,
         .seen = RH_SEEN_MEET,
         .raced[1] = true,
         .collided = true,
         .executions = {2, 3}},
    };
    uint64_t run = begin_run(runs, tasks, 3);
    assert_status(RH_OK,
                  rh_runs_complete(runs, run, &(struct rh_runs_end){0}, answers, 3, NULL, 0, NULL));
    struct rh_runs_state known = state_of(runs, 1);
    const struct rh_tally expected = {.outcomes[RH_OUTCOME_RACE] = 1,
                                      .raced[1] = 1,
                                      .collisions = 1,
                                      .met = 1,
                                      .with[1] = {1, 0, 0},
                                      .all = {1, 0, 0}};
    assert_memory_equal(&known.tally, &expected, sizeof expected);
    assert_int_equal(known.timed_out_us[RH_ORDER_PRIMARY], 111);
    assert_int_equal(known.timed_out_us[RH_ORDER_ALTERNATE], 0);
    assert_int_equal(known.executions[0], 4);
    assert_int_equal(known.executions[1], 3);
    assert_int_equal(state_of(runs, 2).tally.outcomes[RH_OUTCOME_NOT_SEEN], 1);
    rh_runs_close(runs);
    free(path);
}

/* Order that a run saw without trying for another says little against a race. */
static void watching_is_not_validating(void **state)
{
    char *path = store_path(state);
    struct rh_runs *runs = open_store(path);
    const struct rh_runs_answer answer = {.outcome = RH_OUTCOME_NO_RACE, .seen = RH_SEEN_MEET};
    for (int i = 0; i < 100; i++) {
        struct rh_runs_task task = make_task(1);
        task.stage = i < 90 ? RH_STAGE_MEET : RH_STAGE_ORDER;
        uint64_t run = begin_run(runs, &task, 1);
        assert_status(RH_OK, rh_runs_complete(runs, run, &(struct rh_runs_end){0}, &answer, 1, NULL,
                                              0, NULL));
    }
    struct rh_runs_state known = state_of(runs, 1);
    assert_int_equal(known.tally.outcomes[RH_OUTCOME_NO_RACE], 100);
    assert_int_equal(known.tally.ordered, 10);
    assert_int_equal(rh_verdict_ground(&known.tally), RH_GROUND_FEW_ORDERED);
    rh_runs_close(runs);
    free(path);
}

static void states_come_by_rising_id_of_64_bits(void **state)
{
    static const uint64_t ids[] = {0,         1, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX - 1,
                                   UINT64_MAX};
    enum { COUNT = sizeof ids / sizeof ids[0] };
    char *path = store_path(state);
    struct rh_runs *runs = open_store(path);
    const struct rh_runs_answer answer = {.outcome = RH_OUTCOME_NO_RACE};
    for (size_t i = 0; i < COUNT; i++)
        run_once(runs, ids[(i * 5 + 2) % COUNT], &answer);
    for (int walk = 0; walk < 2; walk++) {
        struct rh_runs_state known;
        bool more;
        for (size_t i = 0; i < COUNT; i++) {
            assert_status(RH_OK, rh_runs_next_state(runs, &known, &more));
            assert_true(more);
            assert_true(known.candidate.id == ids[i]);
        }
        assert_status(RH_OK, rh_runs_next_state(runs, &known, &more));
        assert_false(more);
    }
    rh_runs_close(runs);
    free(path);
}

static void a_run_that_was_not_completed_counts_for_nothing(void **state)
{
    char *path = store_path(state);
    struct rh_runs *runs = open_store(path);
    const struct rh_runs_task task = make_task(1);
    const struct rh_runs_answer answer = {.outcome = RH_OUTCOME_NO_RACE};
    const struct rh_runs_end end = {0};
    uint64_t lost = begin_run(runs, &task, 1);
    rh_runs_close(runs);

    runs = open_store(path);
    struct rh_runs_state known;
    bool is_known;
    assert_int_equal(count_runs(runs), 0);
    assert_status(RH_OK, rh_runs_get_state(runs, 1, &known, &is_known));
    assert_false(is_known);
    uint64_t next = run_once(runs, 1, &answer);
    assert_int_not_equal(next, lost);
    assert_int_equal(count_runs(runs), 1);
    /* Whoever still knows of it may complete it; the last run stays the last. */
    assert_status(RH_OK, rh_runs_complete(runs, lost, &end, &answer, 1, NULL, 0, NULL));
    assert_int_equal(count_runs(runs), 2);
    assert_int_equal(state_of(runs, 1).last_run, next);
    rh_runs_close(runs);
    free(path);
}

static void a_run_is_completed_once_and_whole(void **state)
{
    char *path = store_path(state);
    struct rh_runs *runs = open_store(path);
    const struct rh_runs_task tasks[] = {make_task(1), make_task(2)};
    const struct rh_runs_answer answers[2] = {{.outcome = RH_OUTCOME_NO_RACE}};
    const struct rh_runs_end end = {0};
    uint64_t run = begin_run(runs, tasks, 2);
    assert_status(RH_ERR_INTERNAL, rh_runs_complete(runs, run, &end, answers, 1, NULL, 0, NULL));
    assert_int_equal(count_runs(runs), 0);
    assert_status(RH_OK, rh_runs_complete(runs, run, &end, answers, 2, NULL, 0, NULL));
    assert_status(RH_ERR_INTERNAL, rh_runs_complete(runs, run, &end, answers, 2, NULL, 0, NULL));
    assert_status(RH_ERR_NOT_FOUND,
                  rh_runs_complete(runs, run + 1, &end, answers, 2, NULL, 0, NULL));
    assert_int_equal(count_runs(runs), 1);
    assert_int_equal(state_of(runs, 1).tally.outcomes[RH_OUTCOME_NO_RACE], 1);
    /* A run without tasks is a run, too. */
    run = begin_run(runs, NULL, 0);
    assert_status(RH_OK, rh_runs_complete(runs, run, &end, NULL, 0, NULL, 0, NULL));
    assert_int_equal(count_runs(runs), 2);
    rh_runs_close(runs);
    free(path);
}

static void losses_add_up(void **state)
{
    static const struct rh_runs_end ends[] = {
        {.losses = {[RH_LOSS_FINDING] = 3}},
        {.losses = {[RH_LOSS_FINDING] = 4, [RH_LOSS_KEY_NO_MEMORY] = 1}},
        {.losses = {[RH_LOSS_EVENT] = UINT64_MAX}}, /* the program wrote over it */
        {.losses = {[RH_LOSS_EVENT] = UINT64_MAX}},
    };
    char *path = store_path(state);
    struct rh_runs *runs = open_store(path);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        uint64_t run = begin_run(runs, NULL, 0);
        assert_status(RH_OK, rh_runs_complete(runs, run, &ends[i], NULL, 0, NULL, 0, NULL));
    }
    const struct rh_runs_totals expected = {
        .runs = 4,
        .losses = {
            [RH_LOSS_FINDING] = 7, [RH_LOSS_EVENT] = INT64_MAX, [RH_LOSS_KEY_NO_MEMORY] = 1}};
    assert_totals(runs, &expected);
    /* A reason that this version does not know. */
    run_sql(path, "INSERT INTO losses VALUES ('FORGOTTEN', 9)");
    assert_totals(runs, &expected);
    rh_runs_close(runs);
    free(path);
}

static void totals_add_up(void **state)
{
    static const struct rh_runs_end ends[] = {
        {.wall_ns = 100, .hook_ns = 10, .pause_ns = 1, .opaque = 1},
        {.wall_ns = 200, .hook_ns = 20, .pause_ns = 2, .opaque = 4, .signal = SIGSEGV},
        {.wall_ns = 300,
         .hook_ns = 30,
         .pause_ns = 3,
         .opaque = 5,
         .signal = SIGKILL,
         .hung = true},
        {.wall_ns = 400, .hook_ns = 40, .pause_ns = 4, .signal = SIGTERM},
        {.wall_ns = 500, .hook_ns = 50, .pause_ns = 5, .signal = SIGABRT, .hung = true},
    };
    char *path = store_path(state);
    struct rh_runs *runs = open_store(path);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        uint64_t run = begin_run(runs, NULL, 0);
        assert_status(RH_OK, rh_runs_complete(runs, run, &ends[i], NULL, 0, NULL, 0, NULL));
    }
    assert_totals(runs, &(struct rh_runs_totals){5, 1, 2, 5, 1500, 150, 15, {0}});
    /* Times that the program wrote over do not spoil the store. */
    for (int i = 0; i < 2; i++) {
        uint64_t run = begin_run(runs, NULL, 0);
        const struct rh_runs_end wild = {.hook_ns = UINT64_MAX - (unsigned)i, .opaque = UINT32_MAX};
        assert_status(RH_OK, rh_runs_complete(runs, run, &wild, NULL, 0, NULL, 0, NULL));
    }
    assert_totals(runs, &(struct rh_runs_totals){7, 1, 2, UINT32_MAX, 1500, INT64_MAX, 15, {0}});
    rh_runs_close(runs);
    free(path);
}

static const struct rh_runs_end quiet = {.exit_status = 3};

/* What a run found beside its task counts for itself, and says nothing of the task. */
static void what_was_found_beside(void **state)
{
    char *path = store_path(state);
    struct rh_runs *runs = open_store(path);
    const struct rh_runs_task asked = {.candidate = {1, 2, 3}, .stage = RH_STAGE_STEER};
    const struct rh_runs_task found = {.candidate = {9, 2, RH_RUNS_UNINSTRUMENTED},
                                       .stage = RH_STAGE_STEER};
    const struct rh_runs_answer answers[] = {
        {.outcome = RH_OUTCOME_TIMEOUT, .timed_out = true},
        {.outcome = RH_OUTCOME_RACE, .raced = {[RH_ORDER_ALTERNATE] = true}, .collided = true},
    };
    struct rh_runs_finding race = make_race(9, RH_ORDER_ALTERNATE, RH_PROOF_CHANGED, true, 5);
    struct rh_runs_finding better = make_race(9, RH_ORDER_ALTERNATE, RH_PROOF_WATCHPOINT, true, 6);
    const struct rh_runs_finding *races[] = {&race, &better};
    struct rh_runs_state of;
    struct rh_runs_end end;
    bool known;
    for (int i = 0; i < 2; i++) {
        uint64_t run;
        assert_status(RH_OK, rh_runs_begin(runs, 0, &asked, 1, &run));
        assert_status(RH_OK, rh_runs_add_found(runs, run, 1, &found, 1));
        assert_status(RH_OK, rh_runs_complete(runs, run, &quiet, answers, 2, races[i], 1, NULL));
    }
    assert_status(RH_OK, rh_runs_get_state(runs, 1, &of, &known));
    assert_int_equal(rh_verdict_of(rh_verdict_ground(&of.tally)), RH_VERDICT_UNKNOWN);
    assert_int_equal(of.tally.outcomes[RH_OUTCOME_TIMEOUT], 2);
    assert_status(RH_OK, rh_runs_get_state(runs, 9, &of, &known));
    assert_true(known);
    assert_int_equal(of.candidate.first, 2);
    assert_int_equal(of.candidate.second, RH_RUNS_UNINSTRUMENTED);
    assert_int_equal(rh_verdict_of(rh_verdict_ground(&of.tally)), RH_VERDICT_TRUE_RACE);
    assert_int_equal(of.tally.outcomes[RH_OUTCOME_RACE], 2);
    size_t at = 0;
    struct rh_runs_finding kept;
    assert_status(RH_OK, rh_runs_next_finding(runs, 9, &at, &kept, &end, &known));
    assert_int_equal(kept.finding.proof, RH_PROOF_WATCHPOINT); /* who it was is worth more */
    rh_runs_close(runs);
    free(path);
}

static void two_connections_see_each_other(void **state)
{
    char *path = store_path(state);
    struct rh_runs *one = open_store(path), *two = open_store(path), *reader;
    assert_status(RH_OK, rh_runs_open_existing(path, &reader));
    const struct rh_runs_task task = make_task(1);
    const struct rh_runs_answer answer = {.outcome = RH_OUTCOME_NO_RACE};
    uint64_t first = begin_run(one, &task, 1), second = begin_run(two, &task, 1);
    assert_int_not_equal(first, second);
    assert_status(RH_OK, rh_runs_complete(two, second, &quiet, &answer, 1, NULL, 0, NULL));
    assert_int_equal(count_runs(reader), 1);
    /* A walk that is not at its end, and the evidence in hand, keep nobody from writing. */
    struct rh_runs_state known;
    bool more;
    assert_status(RH_OK, rh_runs_next_state(reader, &known, &more));
    assert_true(more);
    assert_status(RH_OK, rh_runs_complete(one, first, &quiet, &answer, 1, NULL, 0, NULL));
    assert_int_equal(state_of(two, 1).tally.outcomes[RH_OUTCOME_NO_RACE], 2);
    assert_int_equal(state_of(one, 1).tally.outcomes[RH_OUTCOME_NO_RACE], 2);
    assert_int_equal(known.tally.outcomes[RH_OUTCOME_NO_RACE], 1);
    assert_status(RH_OK, rh_runs_next_state(reader, &known, &more));
    assert_false(more);
    /* Who opened it to read it cannot write it. */
    uint64_t run;
    assert_status(RH_ERR_IO, rh_runs_begin(reader, 7, &task, 1, &run));
    assert_int_equal(count_runs(reader), 2);
    rh_runs_close(one);
    rh_runs_close(two);
    rh_runs_close(reader);
    free(path);
}

/* Each child makes the store if it is the first, and completes its runs; exits with 0 if it did. */
static void work_on_store(const char *path, size_t runs_wanted)
{
    struct rh_runs *runs;
    bool fine = rh_runs_open(path, &fixture_program, &runs) == RH_OK;
    const struct rh_runs_task tasks[] = {make_task(1), make_task((uint64_t)getpid() << 32)};
    const struct rh_runs_answer answers[2] = {{.outcome = RH_OUTCOME_NO_RACE},
                                              {.outcome = RH_OUTCOME_TIMEOUT}};
    for (size_t i = 0; i < runs_wanted && fine; i++) {
        uint64_t run;
        fine = rh_runs_begin(runs, 1, tasks, 2, &run) == RH_OK &&
               rh_runs_complete(runs, run, &quiet, answers, 2, NULL, 0, NULL) == RH_OK;
    }
    if (!fine)
        fprintf(stderr, "child: %s\n", rh_error_text());
    _exit(!fine);
}

static void many_processes_lose_nothing(void **state)
{
    enum { CHILDREN = 6, RUNS = 15 };
    char *path = store_path(state);
    pid_t children[CHILDREN];
    for (int i = 0; i < CHILDREN; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0)
            work_on_store(path, RUNS);
    }
    for (int i = 0; i < CHILDREN; i++) {
        int status;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    struct rh_runs *runs;
    assert_status(RH_OK, rh_runs_open_existing(path, &runs));
    assert_int_equal(count_runs(runs), CHILDREN * RUNS);
    assert_int_equal(state_of(runs, 1).tally.outcomes[RH_OUTCOME_NO_RACE], CHILDREN * RUNS);
    for (int i = 0; i < CHILDREN; i++)
        assert_int_equal(
            state_of(runs, (uint64_t)children[i] << 32).tally.outcomes[RH_OUTCOME_TIMEOUT], RUNS);
    rh_runs_close(runs);
    assert_int_equal(count_entries(*state), 1);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(a_new_store_knows_its_program_and_nothing_else),
        SCRATCH_TEST(the_usual_place_is_named_by_build_and_detector),
        SCRATCH_TEST(a_program_that_moved_is_followed),
        SCRATCH_TEST(other_builds_and_detectors_are_refused),
        SCRATCH_TEST(every_answer_leads_to_its_verdict),
        SCRATCH_TEST(the_order_of_runs_does_not_matter),
        SCRATCH_TEST(a_state_holds_what_the_runs_brought),
        SCRATCH_TEST(a_run_counts_once_for_a_candidate),
        SCRATCH_TEST(watching_is_not_validating),
        SCRATCH_TEST(states_come_by_rising_id_of_64_bits),
        SCRATCH_TEST(a_run_that_was_not_completed_counts_for_nothing),
        SCRATCH_TEST(a_run_is_completed_once_and_whole),
        SCRATCH_TEST(losses_add_up),
        SCRATCH_TEST(totals_add_up),
        SCRATCH_TEST(what_was_found_beside),
        SCRATCH_TEST(two_connections_see_each_other),
        SCRATCH_TEST(many_processes_lose_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
