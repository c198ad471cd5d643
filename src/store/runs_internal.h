/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the store of runs share: the statements and the names of columns, the state of
 * an open store, and how rows are written, found and checked.
 */
#ifndef RH_STORE_RUNS_INTERNAL_H
#define RH_STORE_RUNS_INTERNAL_H

#include "base/arena.h"
#include "base/vec.h"
#include "store/db.h"
#include "store/runs.h"

/* Which program: name in the table meta, which is also the member of struct rh_runs_program. */
#define RH_RUNS_METAS(X) X(build_id) X(name) X(detector) X(sidecar)

/* The tally: column of candidates, member of struct rh_tally. */
#define RH_RUNS_TALLY(X)                                                                           \
    X(race, outcomes[RH_OUTCOME_RACE])                                                             \
    X(no_race, outcomes[RH_OUTCOME_NO_RACE])                                                       \
    X(timeout, outcomes[RH_OUTCOME_TIMEOUT])                                                       \
    X(not_seen, outcomes[RH_OUTCOME_NOT_SEEN])                                                     \
    X(raced_primary, raced[RH_ORDER_PRIMARY])                                                      \
    X(raced_alternate, raced[RH_ORDER_ALTERNATE])                                                  \
    X(collisions, collisions)                                                                      \
    X(suspected, suspected)                                                                        \
    X(met, met)                                                                                    \
    X(apart, apart)                                                                                \
    X(one_thread, one_thread)                                                                      \
    X(exhausted, exhausted)                                                                        \
    X(crashes, crashes)                                                                            \
    X(hangs, hangs)                                                                                \
    X(with_primary, with[RH_ORDER_PRIMARY].runs)                                                   \
    X(crashes_primary, with[RH_ORDER_PRIMARY].crashes)                                             \
    X(hangs_primary, with[RH_ORDER_PRIMARY].hangs)                                                 \
    X(with_alternate, with[RH_ORDER_ALTERNATE].runs)                                               \
    X(crashes_alternate, with[RH_ORDER_ALTERNATE].crashes)                                         \
    X(hangs_alternate, with[RH_ORDER_ALTERNATE].hangs)                                             \
    X(validated_ordered, ordered)

#define RH_RUNS_TALLY_SIZE(column, member) +sizeof(((struct rh_tally *)0)->member)
_Static_assert(RH_RUNS_TALLY(RH_RUNS_TALLY_SIZE) + sizeof(struct rh_ends) ==
                   sizeof(struct rh_tally),
               "a column for each member but `all`, which comes from totals");

/* The tables and their versions, in runs_schema.c. */
extern const struct rh_db_format rh_runs_format;

/* What is true of an answer: enum suffix, member of struct rh_runs_answer. */
#define RH_RUNS_FLAGS(X)                                                                           \
    X(RACED_PRIMARY, raced[RH_ORDER_PRIMARY])                                                      \
    X(RACED_ALTERNATE, raced[RH_ORDER_ALTERNATE])                                                  \
    X(COLLIDED, collided)                                                                          \
    X(SUSPECTED, suspected)                                                                        \
    X(TIMED_OUT, timed_out)                                                                        \
    X(EXHAUSTED, exhausted)                                                                        \
    X(CRASHED, crashed)                                                                            \
    X(HUNG, hung)

enum rh_runs_flag {
#define RH_RUNS_FLAG_ENUM(id, member) RH_RUNS_FLAG_##id,
    RH_RUNS_FLAGS(RH_RUNS_FLAG_ENUM)
#undef RH_RUNS_FLAG_ENUM
};

#define RH_RUNS_COLUMN(column, member)    ", " #column
#define RH_RUNS_PARAMETER(column, member) ", ?"
#define RH_RUNS_STATE_COLUMNS                                                                      \
    "id, first, second, executions_first, executions_second, timed_out_primary, "                  \
    "timed_out_alternate,"                                                                         \
    " last_run, attempts, explored" RH_RUNS_TALLY(RH_RUNS_COLUMN)

#define RH_RUNS_UPDATE(column, member) ", " #column " = excluded." #column
#define RH_RUNS_STATE_UPDATES                                                                      \
    " first = excluded.first, second = excluded.second,"                                           \
    " executions_first = excluded.executions_first,"                                               \
    " executions_second = excluded.executions_second, timed_out_primary = "                        \
    "excluded.timed_out_primary,"                                                                  \
    " timed_out_alternate = excluded.timed_out_alternate, last_run = excluded.last_run,"           \
    " attempts = excluded.attempts, explored = excluded.explored" RH_RUNS_TALLY(RH_RUNS_UPDATE)

/* One row per statement: enum suffix, SQL. All are prepared at once, so a missing table shows
 * early. */
#define RH_RUNS_STATEMENTS(X)                                                                      \
    X(META, "SELECT value FROM meta WHERE name = ?")                                               \
    X(SET_META, "INSERT INTO meta VALUES (?, ?)"                                                   \
                " ON CONFLICT (name) DO UPDATE SET value = excluded.value")                        \
    X(ADD_RUN, "INSERT INTO runs (\"user\", started, completed) VALUES (?, ?, 0)"                  \
               " RETURNING number")                                                                \
    X(ADD_TASK, "INSERT INTO tasks (run, number, candidate, first, second, stage, \"order\","      \
                " pause_us) VALUES (?, ?, ?, ?, ?, ?, ?, ?)")                                      \
    X(IS_COMPLETED, "SELECT completed FROM runs WHERE number = ?")                                 \
    X(TASKS, "SELECT number, candidate, first, second, stage, \"order\", pause_us FROM tasks"      \
             " WHERE run = ? ORDER BY number")                                                     \
    X(END_RUN, "UPDATE runs SET completed = 1, exit_status = ?, signal = ?, hung = ?, opaque = ?," \
               " wall_ns = ?, hook_ns = ?, pause_ns = ? WHERE number = ?")                         \
    X(ANSWER, "UPDATE tasks SET outcome = ?, seen = ?, flags = ?, executions_first = ?,"           \
              " executions_second = ? WHERE run = ? AND number = ?")                               \
    X(STATE, "SELECT " RH_RUNS_STATE_COLUMNS " FROM candidates WHERE id = ?")                      \
    X(STATES, "SELECT " RH_RUNS_STATE_COLUMNS " FROM candidates ORDER BY id")                      \
    X(SET_STATE, "INSERT INTO candidates (" RH_RUNS_STATE_COLUMNS ") VALUES"                       \
                 " (?, ?, ?, ?, ?, ?, ?, ?, ?, ?" RH_RUNS_TALLY(                                   \
                     RH_RUNS_PARAMETER) ")"                                                        \
                                        " ON CONFLICT (id) DO UPDATE SET" RH_RUNS_STATE_UPDATES)   \
    /* The one to make room first. */                                                              \
    X(FINDINGS_ALIKE,                                                                              \
      "SELECT number, failed, finding FROM findings WHERE candidate = ? AND \"order\" = ?"         \
      " AND proof = ? AND proved = ? ORDER BY failed, number DESC")                                \
    X(ADD_FINDING, "INSERT INTO findings (candidate, run, \"order\", proof, proved, failed,"       \
                   " finding) VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING number")                      \
    X(DROP_FINDING, "DELETE FROM findings WHERE number = ?")                                       \
    X(FINDING, "SELECT findings.number, \"order\", proof, proved, finding, completed,"             \
               " exit_status, signal, hung, opaque, wall_ns, hook_ns, pause_ns"                    \
               " FROM findings LEFT JOIN runs ON runs.number = run WHERE candidate = ?"            \
               " ORDER BY proved DESC, proof DESC, failed DESC, findings.number"                   \
               " LIMIT 1 OFFSET ?")                                                                \
    X(ADD_IMAGE, "INSERT INTO images VALUES (?, ?, ?, ?)")                                         \
    X(DROP_IMAGES, "DELETE FROM images WHERE finding = ?")                                         \
    X(IMAGES, "SELECT number, build_id, path FROM images WHERE finding = ? ORDER BY number")       \
    X(ADD_MET, "INSERT INTO met VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)"                       \
               " ON CONFLICT (id) DO UPDATE SET first_print = excluded.first_print,"               \
               " second_print = excluded.second_print,"                                            \
               " runs = met.runs + excluded.runs, locked = met.locked + excluded.locked,"          \
               " unlocked = met.unlocked + excluded.unlocked,"                                     \
               " ordered = met.ordered + excluded.ordered,"                                        \
               " unordered = met.unordered + excluded.unordered,"                                  \
               " hinted = met.hinted + excluded.hinted")                                           \
    X(MET, "SELECT met.id, met.first, met.second, runs, locked, unlocked, ordered, unordered,"     \
           " hinted, first_print, second_print, elsewhere,"                                        \
           " COALESCE(raced_primary + raced_alternate, 0)"                                         \
           " FROM met LEFT JOIN candidates ON candidates.id = met.id ORDER BY met.id")             \
    X(COUNT_MET, "SELECT count(*), count(CASE WHEN unlocked > 0 THEN 1 END),"                      \
                 " count(CASE WHEN unordered > 0 THEN 1 END) FROM met WHERE runs > 0")             \
    X(ADOPT_MET, "INSERT INTO met VALUES (?, ?, ?, 0, 0, 0, 0, 0, 0, ?, ?, ?)"                     \
                 " ON CONFLICT (id) DO UPDATE SET elsewhere ="                                     \
                 " CASE WHEN met.elsewhere > excluded.elsewhere THEN met.elsewhere"                \
                 " ELSE excluded.elsewhere END")                                                   \
    X(SET_ADOPTED, "UPDATE adopted SET until = ?")                                                 \
    X(ADOPTED, "SELECT until FROM adopted")                                                        \
    X(ADD_SITE, "INSERT INTO sites VALUES (?, 1, ?) ON CONFLICT (number) DO UPDATE SET"            \
                " runs = sites.runs + 1, in_threads = sites.in_threads + excluded.in_threads")     \
    X(SITES, "SELECT number, runs, in_threads FROM sites ORDER BY number")                         \
    X(ADD_ESCAPED, "INSERT INTO escaped VALUES (?, ?, ?) ON CONFLICT (number) DO UPDATE SET"       \
                   " runs = escaped.runs + excluded.runs")                                         \
    X(ESCAPED, "SELECT number, print, runs FROM escaped ORDER BY number")                          \
    X(COUNT_EXECUTION, "UPDATE sampled SET executions = executions + 1")                           \
    X(EXECUTIONS, "SELECT executions FROM sampled")                                                \
    X(ADD_PAIR, "INSERT INTO pairs VALUES (?, ?, ?, ?, ?) ON CONFLICT (first, second) DO UPDATE"   \
                " SET calls = pairs.calls + excluded.calls, last = excluded.last,"                 \
                " streak = pairs.streak"                                                           \
                " + CASE WHEN pairs.last < excluded.last THEN 1 ELSE 0 END")                       \
    X(DROP_PAIRS, "DELETE FROM pairs WHERE last < ?")                                              \
    X(PAIRS, "SELECT first, second, calls FROM pairs WHERE streak >= ? ORDER BY first, second")    \
    X(ENTER_LIBRARY, "INSERT INTO libraries VALUES (?, ?, ?, ?, ?, ?, 0, 0)"                       \
                     " ON CONFLICT (build_id) DO UPDATE SET name = excluded.name,"                 \
                     " path = excluded.path, store = excluded.store,"                              \
                     " why_not = excluded.why_not")                                                \
    X(LIBRARY, "SELECT number FROM libraries WHERE build_id = ?")                                  \
    X(NOTE_LOADED, "UPDATE libraries SET runs = runs + 1, last_run = ? WHERE number = ?")          \
    X(LIBRARIES_ALL, "SELECT number, build_id, name, path, store, why_not, runs, last_run"         \
                     " FROM libraries ORDER BY number")                                            \
    X(NEXT_LIBRARY, "SELECT COALESCE(max(number), 0) + 1 FROM libraries")                          \
    X(TOTALS, "SELECT runs, crashed, hung, opaque, wall_ns, hook_ns, pause_ns FROM totals")        \
    X(SET_TOTALS, "UPDATE totals SET runs = ?, crashed = ?, hung = ?, opaque = ?, wall_ns = ?,"    \
                  " hook_ns = ?, pause_ns = ?")                                                    \
    X(LOSSES, "SELECT reason, count FROM losses")                                                  \
    X(SET_LOSS, "INSERT INTO losses VALUES (?, ?)"                                                 \
                " ON CONFLICT (reason) DO UPDATE SET count = excluded.count")

enum rh_runs_statement {
#define RH_RUNS_STATEMENT_ENUM(id, sql) RH_RUNS_##id,
    RH_RUNS_STATEMENTS(RH_RUNS_STATEMENT_ENUM)
#undef RH_RUNS_STATEMENT_ENUM
        RH_RUNS_STATEMENT_COUNT
};

struct rh_runs {
    struct rh_db *db;
    struct rh_db_statement *statements[RH_RUNS_STATEMENT_COUNT];
    struct rh_arena arena;
    struct rh_runs_program program;
    /* The walk over the states. They are taken at once: a statement that is left open in the middle
     * of a table would keep every other process from writing. */
    RH_VEC(struct rh_runs_state) states;
    size_t walked; /* handed out; 0 if no walk is under way */
    size_t start;  /* where the smallest id is: SQLite puts those above INT64_MAX before it */
    struct rh_image_name images[RH_MAX_IMAGES]; /* of the finding last handed out */
};

/* Runs a statement that changes something, with its parameters. */
#define RH_RUNS_CHANGE(runs, id, ...)                                                              \
    rh_db_change((runs)->statements[RH_RUNS_##id], RH_DB_VALUES(__VA_ARGS__))

/* Runs one that adds a row whose number the database gives. */
#define RH_RUNS_INSERT(runs, id, number, ...)                                                      \
    rh_db_insert((runs)->statements[RH_RUNS_##id], RH_DB_VALUES(__VA_ARGS__), (number))

/* Starts a query and moves to its first row, with *more false if there is none. The
 * caller steps on to the end, or resets it. */
#define RH_RUNS_FIND(runs, id, more, ...)                                                          \
    rh_db_find((runs)->statements[RH_RUNS_##id], (more), RH_DB_VALUES(__VA_ARGS__))

/* What the runs so far say of a candidate, and how a run changes it: `answers` are those to the
 * tasks of `run` about the candidate at `tasks[at]`, of which it is the first. */
void rh_runs_add_answers(struct rh_runs_state *state, uint64_t run,
                         const struct rh_runs_task *tasks, const struct rh_runs_answer *answers,
                         size_t count, size_t at);

/* Keeps a finding of a run, if there is room for it or it is better than one that is kept. */
enum rh_status rh_runs_keep_finding(struct rh_runs *runs, uint64_t run,
                                    const struct rh_runs_end *end,
                                    const struct rh_runs_finding *finding);

/* Adds what a run showed of all sites. */
enum rh_status rh_runs_add_sights(struct rh_runs *runs, const struct rh_runs_sights *sights);

/* How the run of a finding ended, from seven columns of runs. */
bool rh_runs_take_end(const struct rh_db_statement *row, int column, struct rh_runs_end *end);

/* A sum of what comes from memory that the program may have written over: it stops at what SQLite
 * can hold instead of turning into something that is no number any more. */
struct rh_db_value rh_runs_add_counter(uint64_t sum, uint64_t more);

/* RH_LOSS_COUNT sums over all completed runs, and how a run changes them. */
enum rh_status rh_runs_sum_losses(struct rh_runs *runs, uint64_t *losses);
enum rh_status rh_runs_add_losses(struct rh_runs *runs, const uint64_t *sums, const uint64_t *more);

#endif
