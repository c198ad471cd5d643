/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of the store of runs, in every version that is still understood. The text of a version
 * never changes once it was released: a change is a new step at the end. runs.h documents the
 * tables as all steps together leave them.
 */
#include "store/finding_codec.h"
#include "store/runs_internal.h"

#include <string.h>

/* --- version 2, the first that is still understood --- */

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

/* --- version 3: findings as documented bytes, no longer as a struct of the shared memory --- */

static const char finding_tables[] =
    "ALTER TABLE candidates RENAME COLUMN vain_primary TO timed_out_primary;"
    "ALTER TABLE candidates RENAME COLUMN vain_alternate TO timed_out_alternate;"
    "ALTER TABLE images RENAME COLUMN race TO finding;"
    "CREATE TABLE findings (number {serial}, candidate {number}, run {number}, \"order\" {number},"
    " proof {number}, proved {number}, failed {number}, finding {blob});"
    "CREATE INDEX findings_by_candidate ON findings (candidate);";

/* What version 2 kept of a finding: the struct of layout 2 of the shared memory. Rows of other
 * layouts were never read, and go. */
enum { OLD_LAYOUT = 2, OLD_FRAMES = 32, OLD_LOCKS = 8 };

struct old_side {
    uint32_t image, site, thread, parent, frame_count, lock_count, size, reserved;
    struct rh_place frames[OLD_FRAMES], locks[OLD_LOCKS];
};

struct old_race {
    uint32_t ready, task, order, proof, opaque, block, block_thread, pause_us;
    struct rh_place data;
    struct old_side sides[2];
};
_Static_assert(sizeof(struct rh_place) == 16 && sizeof(struct old_race) == 1392,
               "as they were written");

static bool convert_side(const struct old_side *old, struct rh_finding_side *side)
{
    if (old->frame_count > OLD_FRAMES || old->lock_count > OLD_LOCKS)
        return false;
    _Static_assert(OLD_FRAMES <= RH_MAX_FRAMES && OLD_LOCKS <= RH_MAX_LOCKS, "there is room");
    side->site = (struct rh_site_name){old->image, old->site};
    side->thread = old->thread;
    side->parent = old->parent;
    side->size = old->size;
    side->frame_count = old->frame_count;
    side->lock_count = old->lock_count;
    memcpy(side->frames, old->frames, sizeof old->frames);
    memcpy(side->locks, old->locks, sizeof old->locks);
    return true;
}

static bool convert_race(struct rh_db_value bytes, struct rh_strbuf *encoded)
{
    struct old_race old;
    struct rh_finding finding = {0};
    if (bytes.kind != RH_DB_BLOB || bytes.len != sizeof old)
        return false;
    memcpy(&old, bytes.bytes, sizeof old);
    finding.proof = old.proof;
    finding.opaque = old.opaque;
    finding.block = old.block;
    finding.block_thread = old.block_thread;
    finding.pause_us = old.pause_us;
    finding.data = old.data;
    for (int i = 0; i < 2; i++)
        if (!convert_side(&old.sides[i], &finding.sides[i]))
            return false;
    if (!rh_finding_is_sound(&finding))
        return false;
    rh_finding_encode(&finding, encoded);
    return true;
}

/* The columns before the finding stay as they are. */
enum { KEPT_COLUMNS = 7 };

static enum rh_status convert_row(const struct rh_db_statement *row, struct rh_db_statement *insert)
{
    struct rh_db_value values[KEPT_COLUMNS + 1];
    struct rh_strbuf encoded = RH_STRBUF_INIT;
    for (int i = 0; i < KEPT_COLUMNS; i++)
        values[i] = rh_db_column(row, i);
    enum rh_status status = rh_db_fail_damaged(row->db, "races");
    if (convert_race(rh_db_column(row, KEPT_COLUMNS), &encoded)) {
        values[KEPT_COLUMNS] = rh_db_blob(encoded.data, encoded.len);
        status = rh_db_change(insert, values, KEPT_COLUMNS + 1);
    }
    rh_strbuf_release(&encoded);
    return status;
}

static enum rh_status convert_rows(struct rh_db_statement *row, struct rh_db_statement *insert)
{
    bool more;
    enum rh_status status = rh_db_find(row, &more, RH_DB_VALUES(rh_db_int(OLD_LAYOUT)));
    while (status == RH_OK && more) {
        status = convert_row(row, insert);
        if (status == RH_OK)
            status = rh_db_step(row, &more);
    }
    return status;
}

static enum rh_status convert_races(struct rh_db *db)
{
    struct rh_db_statement *row = NULL, *insert = NULL;
    enum rh_status status =
        rh_db_prepare(db,
                      "SELECT number, candidate, run, \"order\", proof, proved, hurt, race"
                      " FROM races WHERE layout = ? ORDER BY number",
                      &row);
    if (status == RH_OK)
        status = rh_db_prepare(db, "INSERT INTO findings VALUES (?, ?, ?, ?, ?, ?, ?, ?)", &insert);
    if (status == RH_OK)
        status = convert_rows(row, insert);
    rh_db_finish(insert);
    rh_db_finish(row);
    if (status == RH_OK)
        status = rh_db_exec(db, "DELETE FROM images"
                                " WHERE finding NOT IN (SELECT number FROM findings);"
                                "DROP TABLE races");
    return status;
}

/* --- version 4: what runs could not do or keep --- */

static const char loss_tables[] =
    "CREATE TABLE losses (reason TEXT PRIMARY KEY, count {number}) {clustered};";

/* --- version 5: which pairs of sites met, and which sites ran --- */

static const char sight_tables[] =
    "CREATE TABLE met (id {id}, first {number}, second {number}, runs {number}, locked {number},"
    " unlocked {number}, ordered {number}, unordered {number});"
    "CREATE TABLE sites (number {id}, runs {number}, in_threads {number});";

/* --- version 6: how runs ended by the order that they had of a candidate, and which runs that saw
 * it ordered were to validate it --- */

/* What older versions knew follows from the tasks: 1 and 2 are the flags of a proved race in the
 * primary and the alternate order, 64 and 128 those of a crash and a hang, and 16 of `seen` says
 * that the order asked for was brought about. Outcome 1 is no race, stage 0 only watches. A run
 * counts once, whatever number of tasks it had. */
static const char end_columns[] =
    "ALTER TABLE candidates ADD COLUMN with_primary {number};"
    "ALTER TABLE candidates ADD COLUMN crashes_primary {number};"
    "ALTER TABLE candidates ADD COLUMN hangs_primary {number};"
    "ALTER TABLE candidates ADD COLUMN with_alternate {number};"
    "ALTER TABLE candidates ADD COLUMN crashes_alternate {number};"
    "ALTER TABLE candidates ADD COLUMN hangs_alternate {number};"
    "ALTER TABLE candidates ADD COLUMN validated_ordered {number};"
    "UPDATE candidates SET validated_ordered = 0, with_primary = 0, crashes_primary = 0,"
    " hangs_primary = 0, with_alternate = 0, crashes_alternate = 0, hangs_alternate = 0;"
    "UPDATE candidates SET validated_ordered = known.o, with_primary = known.p,"
    " crashes_primary = known.pc, hangs_primary = known.ph, with_alternate = known.a,"
    " crashes_alternate = known.ac, hangs_alternate = known.ah"
    " FROM (SELECT candidate, sum(o) AS o, sum(p) AS p, sum(p * c) AS pc, sum(p * h) AS ph,"
    " sum(a) AS a, sum(a * c) AS ac, sum(a * h) AS ah FROM (SELECT candidate,"
    " CASE WHEN max(stage) > 0 AND min(outcome) = 1 THEN 1 ELSE 0 END AS o,"
    " max(CASE WHEN (flags & 1) <> 0 OR ((seen & 16) <> 0 AND \"order\" = 0)"
    " THEN 1 ELSE 0 END) AS p,"
    " max(CASE WHEN (flags & 2) <> 0 OR ((seen & 16) <> 0 AND \"order\" = 1)"
    " THEN 1 ELSE 0 END) AS a,"
    " max(CASE WHEN (flags & 64) <> 0 THEN 1 ELSE 0 END) AS c,"
    " max(CASE WHEN (flags & 128) <> 0 THEN 1 ELSE 0 END) AS h"
    " FROM tasks WHERE outcome IS NOT NULL GROUP BY candidate, run) AS by_run GROUP BY candidate)"
    " AS known WHERE known.candidate = candidates.id;";

/* --- version 7: pairs that touched common bytes in different windows --- */

static const char hint_column[] = "ALTER TABLE met ADD COLUMN hinted {number};"
                                  "UPDATE met SET hinted = 0;";

/* --- version 8: libraries that took part --- */

static const char library_table[] =
    "CREATE TABLE libraries (number {id}, build_id TEXT UNIQUE, name TEXT, path TEXT, store TEXT,"
    " why_not TEXT, runs {number}, last_run {number});";

/* --- version 9: pairs of functions that ran at the same time --- */

static const char pair_tables[] =
    "CREATE TABLE pairs (first {number}, second {number}, calls {number}, last {number},"
    " streak {number}, PRIMARY KEY (first, second)) {clustered};"
    "CREATE TABLE sampled (executions {number});"
    "INSERT INTO sampled VALUES (0);";

/* --- version 10: how sites that met are known in other builds, and what those have shown --- */

static const char elsewhere_columns[] =
    "ALTER TABLE met ADD COLUMN first_print {number};"
    "ALTER TABLE met ADD COLUMN second_print {number};"
    "ALTER TABLE met ADD COLUMN elsewhere {number};"
    "UPDATE met SET first_print = 0, second_print = 0, elsewhere = 0;"
    "CREATE TABLE adopted (until {number});"
    "INSERT INTO adopted VALUES (0);";

/* --- version 11: sites that touched memory which several threads can reach --- */

static const char escaped_table[] =
    "CREATE TABLE escaped (number {id}, print {number}, runs {number});";

/* --- all versions --- */

static const struct rh_db_migration steps[] = {
    {.define = first_tables},      {.define = finding_tables, .convert = convert_races},
    {.define = loss_tables},       {.define = sight_tables},
    {.define = end_columns},       {.define = hint_column},
    {.define = library_table},     {.define = pair_tables},
    {.define = elsewhere_columns}, {.define = escaped_table},
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
