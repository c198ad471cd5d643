/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of the pool: sidecars and stores made for the purpose, and runs that are only told of.
 */
#ifndef RH_HIVE_POOL_TESTING_H
#define RH_HIVE_POOL_TESTING_H

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

static inline void add_site(struct rh_sidecar_writer *writer, uint32_t number, uint64_t fingerprint)
{
    const struct rh_sidecar_function function = {"work", NULL, "/work.c", 1};
    const struct rh_sidecar_location at = {"/work.c", 2 + number, 1, "work", NULL, NULL, false};
    rh_sidecar_add_site(writer, &(struct rh_sidecar_site){.number = number,
                                                          .fingerprint = fingerprint,
                                                          .access = RH_ACCESS_WRITE,
                                                          .size = 4,
                                                          .function = &function,
                                                          .location = &at,
                                                          .expression = "word"});
}

static inline void write_plan(struct rh_sidecar_writer *writer, const struct plan *plan)
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

static inline void make_sidecar(const struct plan *plan)
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

static inline void open_pool(const struct rh_pool_options *options)
{
    assert_status(RH_OK, rh_sidecar_open(sidecar_path, &sidecar));
    runs = open_store(store_path);
    assert_status(RH_OK, rh_pool_open(sidecar, runs, options, &pool));
}

static inline void close_pool(void)
{
    if (!pool)
        return;
    rh_pool_close(pool);
    rh_runs_close(runs);
    rh_sidecar_close(sidecar);
    pool = NULL;
}

static inline void start(const struct plan *plan, const struct rh_pool_options *options)
{
    make_sidecar(plan);
    open_pool(options);
}

/* What the next process sees. */
static inline void reopen(const struct rh_pool_options *options)
{
    close_pool();
    open_pool(options);
}

static inline int set_up(void **state)
{
    if (make_scratch(state) != 0)
        return -1;
    sidecar_path = rh_format("%s/prog.racehive", (const char *)*state);
    store_path = rh_format("%s/prog.runs", (const char *)*state);
    return 0;
}

static inline int tear_down(void **state)
{
    close_pool();
    free(sidecar_path);
    free(store_path);
    return remove_scratch(state);
}

/* --- runs --- */

static inline struct rh_assignment assign(void)
{
    struct rh_assignment a;
    assert_true(rh_pool_assign(pool, &a));
    return a;
}

static inline uint32_t candidate_of(const struct rh_runs_task *task)
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
static inline void complete(const struct rh_assignment *a, const struct rh_runs_answer *answer)
{
    struct rh_runs_answer answers[RH_MAX_TASKS];
    const struct rh_runs_end end = {.wall_ns = 1};
    uint64_t run;
    for (size_t i = 0; i < a->count; i++)
        answers[i] = *answer;
    assert_status(RH_OK, rh_runs_begin(runs, 0, a->tasks, a->count, &run));
    assert_status(RH_OK, rh_runs_complete(runs, run, &end, answers, a->count, NULL, 0, NULL));
    assert_status(RH_OK, rh_pool_completed(pool, a, NULL, 0));
}

/* One run of one task; the candidate. */
static inline uint32_t run_one(const struct rh_runs_answer *answer)
{
    struct rh_assignment a = assign();
    assert_int_equal(a.validating, 1);
    complete(&a, answer);
    return candidate_of(&a.tasks[0]);
}

static inline struct plan even_plan(uint32_t count)
{
    struct plan plan = {.count = count};
    for (uint32_t i = 0; i < count; i++)
        plan.scores[i] = 50;
    return plan;
}

/* A run that only watches sees them all meet. */
static inline void let_all_meet_with(const struct rh_pool_options *then)
{
    struct rh_pool_options options = usual;
    options.screened_per_run = RH_MAX_TASKS;
    reopen(&options);
    struct rh_assignment a = assign();
    rh_pool_abandoned(pool, &a);
    a.tasks[0].stage = RH_STAGE_MEET;
    a.validating = 0;
    complete(&a, &met);
    reopen(then);
}

static inline void let_all_meet(void)
{
    let_all_meet_with(&usual);
}

/* Runs the next attempt, which times out, and looks at what it was. */
static inline void expect_attempt(enum rh_stage stage, enum rh_race_order order, uint32_t pause_ms)
{
    struct rh_assignment a = assign();
    assert_int_equal(a.tasks[0].stage, stage);
    assert_int_equal(a.tasks[0].order, order);
    assert_int_equal(a.tasks[0].pause_us, pause_ms * MS);
    complete(&a, &vain);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* Some thousand transactions, each of which would wait for a disk. */
static inline void use_fast_folder(void)
{
    if (access("/dev/shm", W_OK | X_OK) == 0)
        setenv("TMPDIR", "/dev/shm", 1);
}

#endif
