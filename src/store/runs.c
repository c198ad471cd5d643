/* Makes, opens and checks stores of runs: a file is written only once it is known to be ours. */
#include "store/runs.h"

#include "base/fs.h"
#include "base/mem.h"
#include "store/runs_int.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char kind[] = "store of runs";

#define TALLY_COLUMN(column, member) ", " #column " INTEGER"
#define TALLY_SIZE(column, member)   +sizeof(((struct rh_tally *)0)->member)
_Static_assert(RH_RUNS_TALLY(TALLY_SIZE) == sizeof(struct rh_tally), "a column for each member");

/* runs.h documents it. */
static const char schema[] =
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;"
    "CREATE TABLE runs (number INTEGER PRIMARY KEY, user INTEGER, started INTEGER,"
    " completed INTEGER, exit_status INTEGER, signal INTEGER, hung INTEGER, opaque INTEGER,"
    " wall_ns INTEGER, hook_ns INTEGER, pause_ns INTEGER);"
    "CREATE TABLE tasks (run INTEGER, number INTEGER, candidate INTEGER, first INTEGER,"
    " second INTEGER, stage INTEGER, \"order\" INTEGER, pause_us INTEGER, outcome INTEGER,"
    " seen INTEGER, flags INTEGER, executions_first INTEGER, executions_second INTEGER,"
    " PRIMARY KEY (run, number)) WITHOUT ROWID;"
    "CREATE TABLE candidates (id INTEGER PRIMARY KEY, first INTEGER, second INTEGER,"
    " executions_first INTEGER, executions_second INTEGER, vain_primary INTEGER,"
    " vain_alternate INTEGER, last_run INTEGER, attempts INTEGER, explored INTEGER" RH_RUNS_TALLY(
        TALLY_COLUMN) ");"
                      "CREATE TABLE races (number INTEGER PRIMARY KEY, candidate INTEGER, run "
                      "INTEGER,"
                      " \"order\" INTEGER, proof INTEGER, proved INTEGER, hurt INTEGER, layout "
                      "INTEGER, race BLOB);"
                      "CREATE INDEX races_by_candidate ON races (candidate);"
                      "CREATE TABLE images (race INTEGER, number INTEGER, build_id BLOB, path TEXT,"
                      " PRIMARY KEY (race, number)) WITHOUT ROWID;"
                      "CREATE TABLE totals (runs INTEGER, crashed INTEGER, hung INTEGER, opaque "
                      "INTEGER,"
                      " wall_ns INTEGER, hook_ns INTEGER, pause_ns INTEGER);"
                      "INSERT INTO totals VALUES (0, 0, 0, 0, 0, 0, 0);";

static const char *const statement_sql[] = {
#define STATEMENT_SQL(id, sql) [RH_RUNS_##id] = sql,
    RH_RUNS_STATEMENTS(STATEMENT_SQL)
#undef STATEMENT_SQL
};

static const struct meta {
    const char *name;
    size_t offset; /* in struct rh_runs_program */
} metas[] = {
#define META_ROW(name) {#name, offsetof(struct rh_runs_program, name)},
    RH_RUNS_METAS(META_ROW)
#undef META_ROW
};
enum { META_COUNT = sizeof metas / sizeof metas[0] };

static const char **meta_member(struct rh_runs_program *program, size_t at)
{
    return (const char **)((char *)program + metas[at].offset);
}

enum rh_status rh_runs_default_path(const char *build_id, const char *detector, char **path)
{
    size_t digits = strspn(build_id, "0123456789abcdef");
    if (digits == 0 || build_id[digits] != '\0')
        return rh_fail(RH_ERR_INPUT, "'%s' is not a build id", build_id);
    char *data;
    enum rh_status status = rh_path_user_data(&data);
    if (status != RH_OK)
        return status;
    *path = rh_format("%s/runs/%s-%s.runs", data, build_id, detector);
    free(data);
    return RH_OK;
}

enum rh_status rh_runs_fail_damaged(const struct rh_runs *runs, const char *what)
{
    return rh_fail(RH_ERR_INPUT, "cannot read %s: the file is damaged (%s)", runs->db.shown, what);
}

bool rh_runs_take(sqlite3_stmt *row, int column, uint64_t most, uint64_t *number)
{
    int64_t value = sqlite3_column_int64(row, column);
    *number = (uint64_t)value;
    return sqlite3_column_type(row, column) == SQLITE_INTEGER && value >= 0 && *number <= most;
}

bool rh_runs_take32(sqlite3_stmt *row, int column, uint64_t most, uint32_t *number)
{
    uint64_t value;
    bool fits = rh_runs_take(row, column, most, &value);
    *number = (uint32_t)value;
    return fits;
}

struct rh_db_value rh_runs_counter(uint64_t number)
{
    return rh_db_int(number > INT64_MAX ? INT64_MAX : (int64_t)number);
}

enum rh_status rh_runs_find(struct rh_runs *runs, sqlite3_stmt *query, bool *more,
                            const struct rh_db_value *values, int count)
{
    enum rh_status status = rh_db_bind(&runs->db, query, values, count);
    return status == RH_OK ? rh_db_step(&runs->db, query, more) : status;
}

/* Nobody's: a file that was just made, or whose maker was killed. */
static enum rh_status tell_empty(const struct rh_runs *runs, bool *is_empty)
{
    int64_t id, tables;
    enum rh_status status = rh_db_number(&runs->db, "PRAGMA application_id", 0, &id);
    if (status == RH_OK)
        status = rh_db_number(&runs->db, "SELECT count(*) FROM sqlite_schema", 0, &tables);
    *is_empty = status == RH_OK && id == 0 && tables == 0;
    return status;
}

static enum rh_status set_metas(struct rh_runs *runs, const struct rh_runs_program *program)
{
    struct rh_runs_program wanted = *program;
    enum rh_status status = RH_OK;
    for (size_t i = 0; i < META_COUNT && status == RH_OK; i++)
        status = RH_RUNS_CHANGE(runs, SET_META, rh_db_text(metas[i].name),
                                rh_db_text(*meta_member(&wanted, i)));
    return status;
}

static enum rh_status prepare_statements(struct rh_runs *runs)
{
    enum rh_status status = RH_OK;
    for (int i = 0; i < RH_RUNS_STATEMENT_COUNT && status == RH_OK; i++)
        if (!runs->statements[i])
            status = rh_db_prepare(&runs->db, statement_sql[i], &runs->statements[i]);
    return status;
}

static enum rh_status fill_empty(struct rh_runs *runs, const struct rh_runs_program *program)
{
    char *sql = rh_format("PRAGMA application_id = %d; PRAGMA user_version = %d; %s", RH_RUNS_ID,
                          RH_RUNS_VERSION, schema);
    enum rh_status status = rh_db_exec(&runs->db, sql);
    free(sql);
    if (status == RH_OK)
        status = prepare_statements(runs);
    return status == RH_OK ? set_metas(runs, program) : status;
}

/* Makes the store in a file that is empty. Two may come here at once: who is second finds it made.
 */
static enum rh_status make_store(struct rh_runs *runs, const struct rh_runs_program *program)
{
    bool is_empty;
    enum rh_status status = tell_empty(runs, &is_empty);
    if (status != RH_OK || !is_empty)
        return status;
    status = rh_db_begin(&runs->db, true);
    if (status != RH_OK)
        return status;
    status = tell_empty(runs, &is_empty);
    if (status == RH_OK && is_empty)
        status = fill_empty(runs, program);
    return rh_db_end(&runs->db, status);
}

static enum rh_status check_identity(const struct rh_runs *runs)
{
    int64_t id, version;
    enum rh_status status = rh_db_number(&runs->db, "PRAGMA application_id", 0, &id);
    if (status == RH_OK)
        status = rh_db_number(&runs->db, "PRAGMA user_version", 0, &version);
    if (status != RH_OK)
        return status;
    if (id != RH_RUNS_ID)
        return rh_fail(RH_ERR_INPUT, "cannot read %s: it is not a %s", runs->db.shown, kind);
    if (version > RH_RUNS_VERSION)
        return rh_fail(RH_ERR_INPUT,
                       "cannot read %s: its format is version %lld and this racehive (%s) knows up "
                       "to %d: update racehive",
                       runs->db.shown, (long long)version, RH_VERSION, RH_RUNS_VERSION);
    if (version < 1)
        return rh_runs_fail_damaged(runs, "format version");
    if (version < RH_RUNS_VERSION)
        return rh_fail(RH_ERR_INPUT,
                       "cannot read %s: its format is version %lld, of an older racehive: move it "
                       "away to start a new one",
                       runs->db.shown, (long long)version);
    return RH_OK;
}

/*
 * SQLite fills up a last page that was cut off, and would run whatever a trigger of a stranger's
 * file says. The size is looked at within a transaction: nobody else changes it meanwhile.
 */
static enum rh_status check_shape(const struct rh_runs *runs, const char *path)
{
    static const char *const queries[] = {
        "PRAGMA page_size", "PRAGMA page_count",
        "SELECT 1 FROM sqlite_schema WHERE type NOT IN ('table', 'index') OR rootpage = 0"};
    int64_t numbers[3];
    for (int i = 0; i < 3; i++) {
        enum rh_status status = rh_db_number(&runs->db, queries[i], 0, &numbers[i]);
        if (status != RH_OK)
            return status;
    }
    struct stat info;
    if (stat(path, &info) != 0)
        return rh_fail_errno(RH_ERR_IO, "cannot read %s", path);
    if (info.st_size < numbers[0] * numbers[1])
        return rh_runs_fail_damaged(runs, "it was cut off");
    return numbers[2] == 0 ? RH_OK : rh_runs_fail_damaged(runs, "it holds more than tables");
}

static enum rh_status load_metas(struct rh_runs *runs)
{
    sqlite3_stmt *row = runs->statements[RH_RUNS_META];
    for (size_t i = 0; i < META_COUNT; i++) {
        bool more;
        enum rh_status status = RH_RUNS_FIND(runs, META, &more, rh_db_text(metas[i].name));
        if (status != RH_OK)
            return status;
        const char *value = more ? (const char *)sqlite3_column_text(row, 0) : NULL;
        if (value)
            *meta_member(&runs->program, i) = rh_arena_strdup(&runs->arena, value);
        sqlite3_reset(row);
        if (!value)
            return rh_runs_fail_damaged(runs, metas[i].name);
    }
    return RH_OK;
}

/* All that is looked at before anything is believed, in one transaction. */
static enum rh_status load_head(struct rh_runs *runs, const char *path)
{
    enum rh_status status = rh_db_begin(&runs->db, false);
    if (status != RH_OK)
        return status;
    status = check_identity(runs);
    if (status == RH_OK)
        status = check_shape(runs, path);
    if (status == RH_OK)
        status = prepare_statements(runs);
    if (status == RH_OK)
        status = load_metas(runs);
    return rh_db_end(&runs->db, status);
}

static enum rh_status check_program(const struct rh_runs *runs,
                                    const struct rh_runs_program *program)
{
    if (strcmp(runs->program.build_id, program->build_id) != 0)
        return rh_fail(RH_ERR_INPUT,
                       "cannot use %s: it holds runs of another build of %s (build id %s, the "
                       "program's is %s)",
                       runs->db.shown, program->name, runs->program.build_id, program->build_id);
    if (strcmp(runs->program.detector, program->detector) != 0)
        return rh_fail(RH_ERR_INPUT, "cannot use %s: it holds runs of the detector %s, not of %s",
                       runs->db.shown, runs->program.detector, program->detector);
    return RH_OK;
}

/* Notes where the program is now, if that has changed. */
static enum rh_status follow_program(struct rh_runs *runs, const struct rh_runs_program *program)
{
    if (strcmp(runs->program.name, program->name) == 0 &&
        strcmp(runs->program.sidecar, program->sidecar) == 0)
        return RH_OK;
    enum rh_status status = rh_db_begin(&runs->db, true);
    if (status != RH_OK)
        return status;
    status = rh_db_end(&runs->db, set_metas(runs, program));
    if (status == RH_OK) {
        runs->program.name = rh_arena_strdup(&runs->arena, program->name);
        runs->program.sidecar = rh_arena_strdup(&runs->arena, program->sidecar);
    }
    return status;
}

static enum rh_status make_folder(const char *path)
{
    char *folder = rh_path_dirname(path);
    enum rh_status status = rh_fs_make_dirs(folder);
    free(folder);
    return status;
}

enum rh_status rh_runs_open(const char *path, const struct rh_runs_program *program,
                            struct rh_runs **result)
{
    struct rh_runs *runs = rh_calloc(1, sizeof *runs);
    enum rh_status status = make_folder(path);
    if (status == RH_OK)
        status = rh_db_open_shared(&runs->db, path, kind, RH_DB_MAKE);
    if (status == RH_OK)
        status = make_store(runs, program);
    if (status == RH_OK)
        status = load_head(runs, path);
    if (status == RH_OK)
        status = check_program(runs, program);
    if (status == RH_OK)
        status = follow_program(runs, program);
    if (status == RH_OK)
        *result = runs;
    else
        rh_runs_close(runs);
    return status;
}

enum rh_status rh_runs_open_existing(const char *path, struct rh_runs **result)
{
    struct rh_runs *runs = rh_calloc(1, sizeof *runs);
    enum rh_status status = rh_db_open_shared(&runs->db, path, kind, RH_DB_READ);
    if (status == RH_OK)
        status = load_head(runs, path);
    if (status == RH_OK)
        *result = runs;
    else
        rh_runs_close(runs);
    return status;
}

void rh_runs_close(struct rh_runs *runs)
{
    for (int i = 0; i < RH_RUNS_STATEMENT_COUNT; i++)
        sqlite3_finalize(runs->statements[i]);
    rh_db_close(&runs->db);
    rh_vec_free(&runs->states);
    rh_arena_release(&runs->arena);
    free(runs);
}

const struct rh_runs_program *rh_runs_program_of(const struct rh_runs *runs)
{
    return &runs->program;
}
