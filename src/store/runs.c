/* SPDX-License-Identifier: Apache-2.0 */
/* Makes, opens and checks stores of runs: a file is written only once it is known to be ours. */
#include "store/runs.h"

#include "base/elf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "store/runs_internal.h"

#include <stdlib.h>
#include <string.h>

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
    char *data;
    enum rh_status status = rh_elf_check_build_id(build_id);
    if (status == RH_OK)
        status = rh_path_user_data(&data);
    if (status != RH_OK)
        return status;
    *path = rh_format("%s/runs/%s-%s.runs", data, build_id, detector);
    free(data);
    return RH_OK;
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
            status = rh_db_prepare(runs->db, statement_sql[i], &runs->statements[i]);
    return status;
}

static enum rh_status fill_empty(struct rh_runs *runs, const struct rh_runs_program *program)
{
    enum rh_status status = rh_db_make(runs->db, &rh_runs_format);
    if (status == RH_OK)
        status = prepare_statements(runs);
    return status == RH_OK ? set_metas(runs, program) : status;
}

/* Makes the store in a file that is empty. Of two processes that come here at once, the second
 * finds it made. */
static enum rh_status make_store(struct rh_runs *runs, const struct rh_runs_program *program)
{
    bool is_empty;
    enum rh_status status = rh_db_is_empty(runs->db, &is_empty);
    if (status != RH_OK || !is_empty)
        return status;
    status = rh_db_begin(runs->db, true);
    if (status != RH_OK)
        return status;
    status = rh_db_is_empty(runs->db, &is_empty);
    if (status == RH_OK && is_empty)
        status = fill_empty(runs, program);
    return rh_db_end(runs->db, status);
}

static enum rh_status load_metas(struct rh_runs *runs)
{
    struct rh_db_statement *row = runs->statements[RH_RUNS_META];
    for (size_t i = 0; i < META_COUNT; i++) {
        bool more;
        enum rh_status status = RH_RUNS_FIND(runs, META, &more, rh_db_text(metas[i].name));
        if (status != RH_OK)
            return status;
        const char *value = more ? rh_db_column_text(row, 0) : NULL;
        if (value)
            *meta_member(&runs->program, i) = rh_arena_strdup(&runs->arena, value);
        rh_db_reset(row);
        if (!value)
            return rh_db_fail_damaged(runs->db, metas[i].name);
    }
    return RH_OK;
}

/* Nothing else in a file is trusted before its format and its shape were checked. */
static enum rh_status check_head(struct rh_runs *runs, bool *is_current)
{
    enum rh_status status = rh_db_begin(runs->db, false);
    if (status != RH_OK)
        return status;
    status = rh_db_check_format(runs->db, &rh_runs_format, is_current);
    if (status == RH_OK)
        status = rh_db_check_shape(runs->db);
    return rh_db_end(runs->db, status);
}

static enum rh_status load_head(struct rh_runs *runs)
{
    enum rh_status status = rh_db_begin(runs->db, false);
    if (status != RH_OK)
        return status;
    status = prepare_statements(runs);
    if (status == RH_OK)
        status = load_metas(runs);
    return rh_db_end(runs->db, status);
}

static enum rh_status check_program(const struct rh_runs *runs,
                                    const struct rh_runs_program *program)
{
    if (strcmp(runs->program.build_id, program->build_id) != 0)
        return rh_fail(RH_ERR_INPUT,
                       "cannot use %s: it holds runs of another build of %s (build id %s, the "
                       "program's is %s)",
                       runs->db->name, program->name, runs->program.build_id, program->build_id);
    if (strcmp(runs->program.detector, program->detector) != 0)
        return rh_fail(RH_ERR_INPUT, "cannot use %s: it holds runs of the detector %s, not of %s",
                       runs->db->name, runs->program.detector, program->detector);
    return RH_OK;
}

/* Updates where the program is, if that has changed. */
static enum rh_status follow_program(struct rh_runs *runs, const struct rh_runs_program *program)
{
    if (strcmp(runs->program.name, program->name) == 0 &&
        strcmp(runs->program.sidecar, program->sidecar) == 0)
        return RH_OK;
    enum rh_status status = rh_db_begin(runs->db, true);
    if (status != RH_OK)
        return status;
    status = rh_db_end(runs->db, set_metas(runs, program));
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

/* Opens a file that others may use at the same time, and takes it to the newest version. */
static enum rh_status open_current(struct rh_runs *runs, const char *path, enum rh_db_mode mode,
                                   const struct rh_runs_program *program)
{
    enum rh_status status = rh_db_open_shared(path, rh_runs_format.kind, mode, &runs->db);
    if (status == RH_OK && program)
        status = make_store(runs, program);
    bool is_current = true;
    if (status == RH_OK)
        status = check_head(runs, &is_current);
    if (status == RH_OK && !is_current)
        status = rh_db_migrate(runs->db, &rh_runs_format);
    return status;
}

/* A reader of an old store migrates it, as a writer, and then reads it. */
static enum rh_status open_to_read(struct rh_runs *runs, const char *path)
{
    enum rh_status status = rh_db_open_shared(path, rh_runs_format.kind, RH_DB_READ, &runs->db);
    bool is_current = true;
    if (status == RH_OK)
        status = check_head(runs, &is_current);
    if (status != RH_OK || is_current)
        return status;
    rh_db_close(runs->db);
    runs->db = NULL;
    status = open_current(runs, path, RH_DB_MAKE, NULL);
    return rh_fail_prefix(status, "the store of runs is of an older racehive and must be updated");
}

enum rh_status rh_runs_open(const char *path, const struct rh_runs_program *program,
                            struct rh_runs **result)
{
    struct rh_runs *runs = rh_calloc(1, sizeof *runs);
    enum rh_status status = make_folder(path);
    if (status == RH_OK)
        status = open_current(runs, path, RH_DB_MAKE, program);
    if (status == RH_OK)
        status = load_head(runs);
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
    enum rh_status status = open_to_read(runs, path);
    if (status == RH_OK)
        status = load_head(runs);
    if (status == RH_OK)
        *result = runs;
    else
        rh_runs_close(runs);
    return status;
}

void rh_runs_close(struct rh_runs *runs)
{
    for (int i = 0; i < RH_RUNS_STATEMENT_COUNT; i++)
        rh_db_finish(runs->statements[i]);
    rh_db_close(runs->db);
    rh_vec_free(&runs->states);
    rh_arena_release(&runs->arena);
    free(runs);
}

const struct rh_runs_program *rh_runs_program_of(const struct rh_runs *runs)
{
    return &runs->program;
}
