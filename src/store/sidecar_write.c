/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a sidecar: interns what sites share and streams rows into a temporary SQLite file. */
#include "store/sidecar.h"

#include "base/mem.h"
#include "store/sidecar_internal.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zstd.h>

static const char *const insert_sql[] = {
#define INSERT_SQL(id, sql) [RH_SIDECAR_INSERT_##id] = sql,
    RH_SIDECAR_INSERTS(INSERT_SQL)
#undef INSERT_SQL
};

void rh_sidecar_keep(struct rh_sidecar_writer *w, enum rh_status status)
{
    if (status == RH_OK || w->status != RH_OK)
        return;
    w->status = status;
    w->message = rh_strdup(rh_error_text());
}

void rh_sidecar_insert(struct rh_sidecar_writer *w, enum rh_sidecar_insert id,
                       const struct rh_db_value *values, int count)
{
    if (w->status == RH_OK)
        rh_sidecar_keep(w, rh_db_change(w->inserts[id], values, count));
}

bool rh_sidecar_take_number(struct rh_sidecar_writer *w, enum rh_sidecar_insert id,
                            const char *what, uint32_t number)
{
    uint32_t next = w->counts[id]++;
    if (number != next)
        rh_sidecar_keep(
            w, rh_fail(RH_ERR_INTERNAL, "%s %u was added as %s %u", what, number, what, next));
    return number == next;
}

static enum rh_status prepare_tables(struct rh_sidecar_writer *w)
{
    enum rh_status status = rh_db_begin(w->db, true);
    if (status == RH_OK)
        status = rh_db_make(w->db, &rh_sidecar_format);
    for (int i = 0; i < RH_SIDECAR_INSERT_COUNT && status == RH_OK; i++)
        status = rh_db_prepare(w->db, insert_sql[i], &w->inserts[i]);
    return status;
}

/* The time of the build, or SOURCE_DATE_EPOCH for builds that must be reproducible. */
static void set_created(struct rh_sidecar_writer *w)
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    w->is_reproducible = epoch && *epoch;
    time_t now = w->is_reproducible ? (time_t)strtoll(epoch, NULL, 10) : time(NULL);
    struct tm utc;
    char text[64];
    if (gmtime_r(&now, &utc) && strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc) > 0)
        rh_sidecar_set_meta(w, RH_SIDECAR_META_CREATED, text);
}

static void close_database(struct rh_sidecar_writer *w)
{
    for (int i = 0; i < RH_SIDECAR_INSERT_COUNT; i++)
        rh_db_finish(w->inserts[i]);
    rh_db_close(w->db);
}

static void free_writer(struct rh_sidecar_writer *w)
{
    rh_strmap_release(&w->files);
    rh_strmap_release(&w->functions);
    rh_strmap_release(&w->locations);
    rh_strmap_release(&w->texts);
    rh_bitset_release(&w->classed);
    rh_vec_free(&w->function_rows);
    rh_strbuf_release(&w->key);
    rh_arena_release(&w->arena);
    free(w->message);
    free(w);
}

enum rh_status rh_sidecar_create(const char *path, struct rh_sidecar_writer **writer)
{
    struct rh_sidecar_writer *w = rh_calloc(1, sizeof *w);
    enum rh_status status = rh_file_begin(&w->file, path, 0666);
    if (status != RH_OK)
        goto free_w;
    if (!w->file.temp_path) {
        status = rh_fail(RH_ERR_IO, "cannot write %s: it is not a regular file", path);
        goto abort_file;
    }
    status = rh_db_open_draft(w->file.temp_path, path, &w->db);
    if (status != RH_OK)
        goto abort_file;
    status = prepare_tables(w);
    if (status != RH_OK)
        goto close_db;
    rh_sidecar_set_meta(w, RH_SIDECAR_META_VERSION, RH_VERSION);
    set_created(w);
    *writer = w;
    return RH_OK;

close_db:
    close_database(w);
abort_file:
    rh_file_abort(&w->file);
free_w:
    free_writer(w);
    return status;
}

void rh_sidecar_set_meta(struct rh_sidecar_writer *w, enum rh_sidecar_meta name, const char *value)
{
    RH_SIDECAR_INSERT(w, META, rh_db_text(rh_sidecar_meta_names[name]), rh_db_text(value));
}

void rh_sidecar_set_skipped(struct rh_sidecar_writer *w, const char *reason, uint64_t count)
{
    RH_SIDECAR_INSERT(w, SKIPPED, rh_db_text(reason), rh_db_int((int64_t)count));
}

uint32_t rh_sidecar_intern(struct rh_strmap *map, const char *key, bool *is_new)
{
    uintptr_t known = (uintptr_t)rh_strmap_get(map, key);
    *is_new = known == 0;
    if (*is_new) {
        known = map->len + 1;
        rh_strmap_put(map, key, (void *)known);
    }
    return (uint32_t)(known - 1);
}

static struct rh_db_value add_file(struct rh_sidecar_writer *w, const char *path)
{
    if (!path || !*path)
        return rh_db_null();
    bool is_new;
    uint32_t id = rh_sidecar_intern(&w->files, path, &is_new);
    if (is_new)
        RH_SIDECAR_INSERT(w, FILES, rh_db_int(id), rh_db_text(path));
    return rh_db_int(id);
}

static char *copy_or_null(struct rh_arena *arena, const char *text)
{
    return text ? rh_arena_strdup(arena, text) : NULL;
}

static uint32_t add_function(struct rh_sidecar_writer *w, const char *name, const char *linkage,
                             const char *file, uint32_t line)
{
    if (!name)
        name = "";
    if (linkage && strcmp(linkage, name) == 0)
        linkage = NULL;
    /* No name contains 0x01, so different triples have different keys. */
    const char *parts[] = {name, "\x01", linkage ? linkage : "", "\x01", file ? file : ""};
    rh_strbuf_reset(&w->key);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        rh_strbuf_add(&w->key, parts[i]);
    bool is_new;
    uint32_t id = rh_sidecar_intern(&w->functions, rh_strbuf_text(&w->key), &is_new);
    if (is_new)
        rh_vec_push(&w->function_rows, (struct rh_sidecar_function){
                                           .name = rh_arena_strdup(&w->arena, name),
                                           .linkage = copy_or_null(&w->arena, linkage),
                                           .file = copy_or_null(&w->arena, file),
                                       });
    if (w->function_rows.data[id].line == 0)
        w->function_rows.data[id].line = line;
    return id;
}

/* Adds a number to a key in digits of six bits, the last marked: this runs for every site. */
static void add_digits(struct rh_strbuf *key, uint64_t number)
{
    for (; number >= 64; number >>= 6)
        rh_strbuf_addc(key, (char)(0x40 | (number & 0x3F)));
    rh_strbuf_addc(key, (char)(0x80 | number));
}

/* Outer locations first, so that inlined_at always points to an earlier row. */
struct rh_db_value rh_sidecar_put_location(struct rh_sidecar_writer *w,
                                           const struct rh_sidecar_location *location)
{
    if (!location)
        return rh_db_null();
    struct rh_db_value outer = rh_sidecar_put_location(w, location->inlined_at);
    struct rh_db_value file = add_file(w, location->file);
    uint32_t function = add_function(w, location->function, location->linkage, location->file, 0);
    rh_strbuf_reset(&w->key);
    add_digits(&w->key, file.kind == RH_DB_NULL ? 0 : (uint64_t)file.number + 1);
    add_digits(&w->key, location->line);
    add_digits(&w->key, location->column);
    add_digits(&w->key, function);
    add_digits(&w->key, outer.kind == RH_DB_NULL ? 0 : (uint64_t)outer.number + 1);
    add_digits(&w->key, location->is_near);
    bool is_new;
    uint32_t id = rh_sidecar_intern(&w->locations, rh_strbuf_text(&w->key), &is_new);
    if (is_new)
        RH_SIDECAR_INSERT(w, LOCATIONS, rh_db_int(id), file, rh_db_int(location->line),
                          rh_db_int(location->column), rh_db_int(function), outer,
                          rh_db_int(location->is_near));
    return rh_db_int(id);
}

struct rh_db_value rh_sidecar_put_function(struct rh_sidecar_writer *w,
                                           const struct rh_sidecar_function *function)
{
    return rh_db_int(
        add_function(w, function->name, function->linkage, function->file, function->line));
}

void rh_sidecar_add_site(struct rh_sidecar_writer *w, const struct rh_sidecar_site *site)
{
    if (!rh_sidecar_take_number(w, RH_SIDECAR_INSERT_SITES, "site", site->number))
        return;
    struct rh_db_value function = rh_sidecar_put_function(w, site->function);
    struct rh_db_value location = rh_sidecar_put_location(w, site->location);
    RH_SIDECAR_INSERT(w, SITES, rh_db_int(site->number), rh_db_int((int64_t)site->fingerprint),
                      site->key == RH_SIDECAR_NO_KEY ? rh_db_null() : rh_db_int(site->key),
                      rh_db_int(site->access), rh_db_int(site->order), rh_db_int(site->size),
                      rh_db_int(site->flags), function, location,
                      rh_db_text(site->expression && *site->expression ? site->expression : NULL));
}

void rh_sidecar_add_key(struct rh_sidecar_writer *w, uint32_t number,
                        const struct rh_key_record *key)
{
    if (!rh_sidecar_take_number(w, RH_SIDECAR_INSERT_KEYS, "key", number))
        return;
    RH_SIDECAR_INSERT(w, KEYS, rh_db_int(number), rh_db_int(key->kind), rh_db_int(key->first_site),
                      rh_db_int(key->site_count),
                      key->gate == RH_NO_GATE ? rh_db_null() : rh_db_int(key->gate));
}

static enum rh_status fail_compress(const struct rh_sidecar_writer *w, size_t code)
{
    return rh_fail(RH_ERR_IO, "cannot write %s: the module cannot be compressed: %s", w->db->name,
                   ZSTD_getErrorName(code));
}

/* The checksum reveals a damaged module when it is loaded. */
static enum rh_status compress(const struct rh_sidecar_writer *w, const void *bytes, size_t len,
                               int level, void *out, size_t *out_len)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();
    if (!context)
        rh_out_of_memory(*out_len);
    size_t code = ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
    if (!ZSTD_isError(code))
        code = ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    if (!ZSTD_isError(code))
        code = ZSTD_compress2(context, out, *out_len, bytes, len);
    ZSTD_freeCCtx(context);
    if (ZSTD_isError(code))
        return fail_compress(w, code);
    *out_len = code;
    return RH_OK;
}

void rh_sidecar_set_module(struct rh_sidecar_writer *w, const void *bytes, size_t len, int level)
{
    if (w->status != RH_OK)
        return;
    size_t packed_len = ZSTD_compressBound(len);
    void *packed = rh_alloc(packed_len);
    rh_sidecar_keep(w, compress(w, bytes, len, level, packed, &packed_len));
    RH_SIDECAR_INSERT(w, MODULE, rh_db_int((int64_t)len), rh_db_blob(packed, packed_len));
    free(packed);
}

static void write_functions(struct rh_sidecar_writer *w)
{
    for (size_t i = 0; i < w->function_rows.len; i++) {
        const struct rh_sidecar_function *row = &w->function_rows.data[i];
        struct rh_db_value file = add_file(w, row->file);
        RH_SIDECAR_INSERT(w, FUNCTIONS, rh_db_int((int64_t)i), rh_db_text(row->name),
                          rh_db_text(row->linkage), file, rh_db_int(row->line));
    }
}

enum rh_status rh_sidecar_commit(struct rh_sidecar_writer *w)
{
    write_functions(w);
    if (w->status == RH_OK)
        rh_sidecar_keep(w, rh_db_end(w->db, RH_OK));
    close_database(w);
    enum rh_status status = w->status;
    if (status == RH_OK) {
        status = rh_file_commit(&w->file);
    } else {
        rh_file_abort(&w->file);
        rh_fail(status, "%s", w->message);
    }
    free_writer(w);
    return status;
}

void rh_sidecar_abort(struct rh_sidecar_writer *w)
{
    close_database(w);
    rh_file_abort(&w->file);
    free_writer(w);
}
