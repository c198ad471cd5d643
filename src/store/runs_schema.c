/*
 * The tables of the store of runs, in every version that is still understood. The text of a version
 * never changes once it was released: a change is a new step at the end. runs.h documents the
 * tables as all steps together leave them.
 */
#include "store/runs_internal.h"

/* Version 2. */
static const char first_tables[] =
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT) {clustered};"
    "CREATE TABLE runs (number {serial}, \"user\" {number}, started {number},"
    " completed {number}, exit_status {number}, signal {number}, hung {number}, opaque {number},"
    " wall_ns {number}, hook_ns {number}, pause_ns {number});"
    "CREATE TABLE tasks (run {number}, number {number}, candidate {number}, first {number},"
    " second {number}, stage {number}, \"order\" {number}, pause_us {number}, outcome {number},"
    " seen {number}, flags {number}, executions_first {number}, executions_second {number},"
    " PRIMARY KEY (run, number)) {clustered};"
    "CREATE TABLE candidates (id {id}, first {number}, second {number},"
    " executions_first {number}, executions_second {number}, vain_primary {number},"
    " vain_alternate {number}, last_run {number}, attempts {number}, explored {number},"
    " race {number}, no_race {number}, timeout {number}, not_seen {number},"
    " raced_primary {number}, raced_alternate {number}, collisions {number}, suspected {number},"
    " met {number}, apart {number}, one_thread {number}, exhausted {number}, crashes {number},"
    " hangs {number});"
    "CREATE TABLE races (number {serial}, candidate {number}, run {number}, \"order\" {number},"
    " proof {number}, proved {number}, hurt {number}, layout {number}, race {blob});"
    "CREATE INDEX races_by_candidate ON races (candidate);"
    "CREATE TABLE images (race {number}, number {number}, build_id {blob}, path TEXT,"
    " PRIMARY KEY (race, number)) {clustered};"
    "CREATE TABLE totals (runs {number}, crashed {number}, hung {number}, opaque {number},"
    " wall_ns {number}, hook_ns {number}, pause_ns {number});"
    "INSERT INTO totals VALUES (0, 0, 0, 0, 0, 0, 0);";

static const struct rh_db_migration steps[] = {
    {.define = first_tables},
};

enum { STEP_COUNT = sizeof steps / sizeof steps[0], OLDEST = 2 };
_Static_assert(OLDEST + STEP_COUNT - 1 == RH_RUNS_VERSION, "a step to each version");

const struct rh_db_format rh_runs_format = {
    .id = RH_RUNS_ID,
    .kind = "store of runs",
    .if_too_old = "move it away to start a new one",
    .oldest = OLDEST,
    .steps = steps,
    .step_count = STEP_COUNT,
};
