/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a sidecar, trusting nothing in it: a number out of range, a reference to a row that is not
 * there or a gap in the numbering is reported as damage and never followed.
 */
#include "store/sidecar.h"

#include "base/mem.h"
#include "store/sidecar_internal.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

static const char *const query_sql[] = {
#define QUERY_SQL(id, sql) [RH_SIDECAR_QUERY_##id] = sql,
    RH_SIDECAR_QUERIES(QUERY_SQL)
#undef QUERY_SQL
};

char *rh_sidecar_copy_text(struct rh_sidecar *sc, struct rh_db_statement *row, int column)
{
    const char *text = rh_db_column_text(row, column);
    return text ? rh_arena_strdup(&sc->arena, text) : NULL;
}

/* Whether `name` comes after the one before it: a damaged tree may repeat itself for ever. */
static bool advances(const char *before, const char *name)
{
    return name && (!before || strcmp(before, name) < 0);
}

static enum rh_status load_meta(struct rh_sidecar *sc)
{
    struct rh_db_statement *row = sc->queries[RH_SIDECAR_QUERY_META];
    const char *before = NULL;
    for (;;) {
        bool more;
        enum rh_status status = rh_db_step(row, &more);
        if (status != RH_OK || !more)
            return status;
        const char *name = rh_sidecar_copy_text(sc, row, 0);
        if (!advances(before, name))
            return rh_db_fail_damaged(sc->db, "names of meta");
        before = name;
        for (int i = 0; i < RH_SIDECAR_META_COUNT; i++)
            if (strcmp(name, rh_sidecar_meta_names[i]) == 0)
                sc->meta[i] = rh_sidecar_copy_text(sc, row, 1);
    }
}

static enum rh_status load_skipped(struct rh_sidecar *sc)
{
    struct rh_db_statement *row = sc->queries[RH_SIDECAR_QUERY_SKIPPED];
    const char *before = NULL;
    for (;;) {
        bool more;
        enum rh_status status = rh_db_step(row, &more);
        if (status != RH_OK || !more)
            return status;
        const char *reason = rh_sidecar_copy_text(sc, row, 0);
        uint64_t count;
        if (!advances(before, reason) || !rh_db_take(row, 1, RH_DB_LIMIT64, &count))
            return rh_db_fail_damaged(sc->db, "skipped");
        before = reason;
        rh_vec_push(&sc->skipped, (struct rh_sidecar_skipped){reason, count});
    }
}

/* One more than the largest number in a table. */
static enum rh_status count_rows(struct rh_sidecar *sc, enum rh_sidecar_query query,
                                 const char *name, uint32_t *count)
{
    struct rh_db_statement *row = sc->queries[query];
    bool more;
    enum rh_status status = rh_db_step(row, &more);
    if (status == RH_OK && more && rh_db_column(row, 0).kind != RH_DB_NULL) {
        uint32_t last;
        if (rh_db_take32(row, 0, RH_SIDECAR_NUMBER_LIMIT, &last))
            *count = last + 1;
        else
            status = rh_db_fail_damaged(sc->db, name);
    }
    rh_db_reset(row);
    return status;
}

static enum rh_status count_all(struct rh_sidecar *sc)
{
    enum rh_status status =
        count_rows(sc, RH_SIDECAR_QUERY_KEY_COUNT, "numbers of keys", &sc->key_count);
    if (status == RH_OK)
        status = count_rows(sc, RH_SIDECAR_QUERY_SITE_COUNT, "numbers of sites", &sc->site_count);
    if (status == RH_OK)
        status =
            count_rows(sc, RH_SIDECAR_QUERY_CLASS_COUNT, "numbers of classes", &sc->class_count);
    return status;
}

static enum rh_status load_head(struct rh_sidecar *sc)
{
    bool is_current; /* always: the format has one version */
    enum rh_status status = rh_db_check_format(sc->db, &rh_sidecar_format, &is_current);
    if (status == RH_OK)
        status = rh_db_check_shape(sc->db);
    for (int i = 0; i < RH_SIDECAR_QUERY_COUNT && status == RH_OK; i++)
        status = rh_db_prepare(sc->db, query_sql[i], &sc->queries[i]);
    if (status == RH_OK)
        status = load_meta(sc);
    if (status == RH_OK)
        status = load_skipped(sc);
    return status == RH_OK ? count_all(sc) : status;
}

enum rh_status rh_sidecar_open(const char *path, struct rh_sidecar **sidecar)
{
    struct rh_sidecar *sc = rh_calloc(1, sizeof *sc);
    enum rh_status status = rh_db_open_finished(path, rh_sidecar_format.kind, &sc->db);
    if (status == RH_OK)
        status = load_head(sc);
    if (status == RH_OK)
        *sidecar = sc;
    else
        rh_sidecar_close(sc);
    return status;
}

void rh_sidecar_close(struct rh_sidecar *sc)
{
    for (int i = 0; i < RH_SIDECAR_QUERY_COUNT; i++)
        rh_db_finish(sc->queries[i]);
    rh_db_close(sc->db);
    rh_vec_free(&sc->skipped);
    rh_vec_free(&sc->files);
    rh_vec_free(&sc->functions);
    rh_vec_free(&sc->locations);
    rh_vec_free(&sc->texts);
    rh_vec_free(&sc->sites);
    rh_arena_release(&sc->arena);
    free(sc);
}

const char *rh_sidecar_get_meta(const struct rh_sidecar *sc, enum rh_sidecar_meta name)
{
    return sc->meta[name];
}

bool rh_sidecar_next_skipped(const struct rh_sidecar *sc, size_t *at, const char **reason,
                             uint64_t *count)
{
    if (*at >= sc->skipped.len)
        return false;
    const struct rh_sidecar_skipped *skipped = &sc->skipped.data[(*at)++];
    *reason = skipped->reason;
    *count = skipped->count;
    return true;
}

uint32_t rh_sidecar_key_count(const struct rh_sidecar *sc)
{
    return sc->key_count;
}

static bool take_file(struct rh_sidecar *sc, struct rh_db_statement *row)
{
    const char *path = rh_sidecar_copy_text(sc, row, 1);
    if (!path)
        return false;
    rh_vec_push(&sc->files, path);
    return true;
}

static const char *file_by_id(const struct rh_sidecar *sc, uint32_t id)
{
    return id == RH_SIDECAR_NO_ROW ? NULL : sc->files.data[id];
}

static bool take_function(struct rh_sidecar *sc, struct rh_db_statement *row)
{
    struct rh_sidecar_function *function = rh_arena_new(&sc->arena, struct rh_sidecar_function);
    uint32_t file;
    function->name = rh_sidecar_copy_text(sc, row, 1);
    function->linkage = rh_sidecar_copy_text(sc, row, 2);
    if (!function->name || !rh_db_take_optional(row, 3, sc->files.len, RH_SIDECAR_NO_ROW, &file) ||
        !rh_db_take32(row, 4, RH_SIDECAR_NUMBER_LIMIT, &function->line))
        return false;
    if (!function->linkage)
        function->linkage = function->name;
    function->file = file_by_id(sc, file);
    rh_vec_push(&sc->functions, function);
    return true;
}

static bool take_location(struct rh_sidecar *sc, struct rh_db_statement *row)
{
    struct rh_sidecar_location *location = rh_arena_new(&sc->arena, struct rh_sidecar_location);
    uint32_t file, function, outer, near;
    /* An inlined_at that points to an earlier row cannot make a cycle. */
    if (!rh_db_take_optional(row, 1, sc->files.len, RH_SIDECAR_NO_ROW, &file) ||
        !rh_db_take32(row, 2, RH_SIDECAR_NUMBER_LIMIT, &location->line) ||
        !rh_db_take32(row, 3, RH_SIDECAR_NUMBER_LIMIT, &location->column) ||
        !rh_db_take32(row, 4, sc->functions.len, &function) ||
        !rh_db_take_optional(row, 5, sc->locations.len, RH_SIDECAR_NO_ROW, &outer) ||
        !rh_db_take32(row, 6, 2, &near))
        return false;
    location->file = file_by_id(sc, file);
    location->function = sc->functions.data[function]->name;
    location->linkage = sc->functions.data[function]->linkage;
    location->inlined_at = outer == RH_SIDECAR_NO_ROW ? NULL : sc->locations.data[outer];
    location->is_near = near;
    rh_vec_push(&sc->locations, location);
    return true;
}

/* In the order in which they refer to each other. */
static const struct location_table {
    enum rh_sidecar_query query;
    const char *name;
    bool (*take)(struct rh_sidecar *sc, struct rh_db_statement *row);
} location_tables[] = {
    {RH_SIDECAR_QUERY_FILES, "files", take_file},
    {RH_SIDECAR_QUERY_FUNCTIONS, "functions", take_function},
    {RH_SIDECAR_QUERY_LOCATIONS, "locations", take_location},
};

enum rh_status rh_sidecar_step(struct rh_sidecar *sc, enum rh_sidecar_query query, const char *name,
                               bool *more)
{
    struct rh_db_statement *row = sc->queries[query];
    enum rh_status status = rh_db_step(row, more);
    if (status != RH_OK || !*more) {
        sc->next_row[query] = 0;
        return status;
    }
    uint32_t number;
    if (!rh_db_take32(row, 0, RH_SIDECAR_NUMBER_LIMIT, &number) || number != sc->next_row[query])
        return rh_db_fail_damaged(sc->db, name);
    sc->next_row[query]++;
    return RH_OK;
}

static enum rh_status load_location_table(struct rh_sidecar *sc, const struct location_table *table)
{
    for (;;) {
        bool more;
        enum rh_status status = rh_sidecar_step(sc, table->query, table->name, &more);
        if (status != RH_OK || !more)
            return status;
        if (!table->take(sc, sc->queries[table->query]))
            return rh_db_fail_damaged(sc->db, table->name);
    }
}

enum rh_status rh_sidecar_load_locations(struct rh_sidecar *sc)
{
    if (sc->locations_loaded)
        return RH_OK;
    for (size_t i = 0; i < sizeof location_tables / sizeof location_tables[0]; i++) {
        enum rh_status status = load_location_table(sc, &location_tables[i]);
        if (status != RH_OK)
            return status;
    }
    sc->locations_loaded = true;
    return RH_OK;
}

bool rh_sidecar_read_access(const struct rh_sidecar *sc, struct rh_db_statement *row,
                            struct rh_sidecar_access *access)
{
    uint32_t function, location;
    if (!rh_db_take32(row, 1, RH_ACCESS_COUNT, &access->access) ||
        !rh_db_take32(row, 2, RH_MO_SEQ_CST + 1, &access->order) ||
        !rh_db_take32(row, 3, RH_DB_LIMIT32, &access->size) ||
        !rh_db_take32(row, 4, RH_SIDECAR_NUMBER_LIMIT, &access->flags) ||
        !rh_db_take32(row, 5, sc->functions.len, &function) ||
        !rh_db_take_optional(row, 6, sc->locations.len, RH_SIDECAR_NO_ROW, &location))
        return false;
    access->function = sc->functions.data[function];
    access->location = location == RH_SIDECAR_NO_ROW ? NULL : sc->locations.data[location];
    return true;
}

static const char *image_of(const struct rh_sidecar *sc)
{
    const char *type = sc->meta[RH_SIDECAR_META_IMAGE], *name = sc->meta[RH_SIDECAR_META_PROGRAM];
    return type && name && strcmp(type, "shared") == 0 ? name : NULL;
}

static bool take_site(struct rh_sidecar *sc, struct rh_db_statement *row,
                      struct rh_sidecar_site *site)
{
    struct rh_sidecar_access access;
    if (!rh_sidecar_read_access(sc, row, &access) ||
        !rh_db_take_optional(row, 8, sc->key_count, RH_SIDECAR_NO_KEY, &site->key))
        return false;
    site->image = image_of(sc);
    site->number = (uint32_t)rh_db_column(row, 0).number;
    site->fingerprint = (uint64_t)rh_db_column(row, 7).number;
    site->access = (enum rh_access_kind)access.access;
    site->order = (enum rh_memory_order)access.order;
    site->size = access.size;
    site->flags = access.flags;
    site->function = access.function;
    site->location = access.location;
    site->expression = rh_db_column_text(row, 9);
    return true;
}

enum rh_status rh_sidecar_next_site(struct rh_sidecar *sc, struct rh_sidecar_site *site, bool *more)
{
    enum rh_status status = rh_sidecar_load_locations(sc);
    if (status == RH_OK)
        status = rh_sidecar_step(sc, RH_SIDECAR_QUERY_SITES, "sites", more);
    if (status != RH_OK || !*more)
        return status;
    return take_site(sc, sc->queries[RH_SIDECAR_QUERY_SITES], site)
               ? RH_OK
               : rh_db_fail_damaged(sc->db, "sites");
}

static enum rh_status collect_sites(struct rh_sidecar *sc)
{
    rh_db_reset(sc->queries[RH_SIDECAR_QUERY_SITES]);
    sc->next_row[RH_SIDECAR_QUERY_SITES] = 0;
    for (;;) {
        struct rh_sidecar_site site;
        bool more;
        enum rh_status status = rh_sidecar_next_site(sc, &site, &more);
        if (status != RH_OK)
            return status;
        if (!more)
            break;
        if (site.expression)
            site.expression = rh_arena_strdup(&sc->arena, site.expression);
        rh_vec_push(&sc->sites, site);
    }
    return sc->sites.len == sc->site_count ? RH_OK : rh_db_fail_damaged(sc->db, "sites");
}

enum rh_status rh_sidecar_load_sites(struct rh_sidecar *sc, const struct rh_sidecar_site **sites,
                                     uint32_t *count)
{
    if (!sc->sites_loaded) {
        rh_vec_clear(&sc->sites);
        enum rh_status status = collect_sites(sc);
        if (status != RH_OK)
            return status;
        sc->sites_loaded = true;
    }
    *sites = sc->sites.data;
    *count = sc->site_count;
    return RH_OK;
}

/* Calls malloc itself: a damaged size must lead to a message, and not end the process. */
static enum rh_status unpack_module(const struct rh_sidecar *sc, struct rh_db_statement *row,
                                    void **bytes, size_t *len)
{
    struct rh_db_value packed = rh_db_column(row, 1);
    uint64_t size;
    if (packed.kind != RH_DB_BLOB || !rh_db_take(row, 0, RH_DB_LIMIT64, &size) ||
        ZSTD_getFrameContentSize(packed.bytes, packed.len) != size)
        return rh_db_fail_damaged(sc->db, "module");
    void *room = malloc(size + 1);
    if (!room)
        return rh_fail(RH_ERR_IO, "cannot read %s: no memory for a module of %llu bytes",
                       sc->db->name, (unsigned long long)size);
    size_t got = ZSTD_decompress(room, size, packed.bytes, packed.len);
    if (ZSTD_isError(got) || got != size) {
        free(room);
        return rh_db_fail_damaged(sc->db, "module");
    }
    *bytes = room;
    *len = got;
    return RH_OK;
}

enum rh_status rh_sidecar_load_module(struct rh_sidecar *sc, void **bytes, size_t *len)
{
    struct rh_db_statement *row = sc->queries[RH_SIDECAR_QUERY_MODULE];
    bool more;
    enum rh_status status = rh_db_step(row, &more);
    if (status != RH_OK)
        return status;
    status = more ? unpack_module(sc, row, bytes, len)
                  : rh_fail(RH_ERR_NOT_FOUND, "%s holds no module", sc->db->name);
    rh_db_reset(row);
    return status;
}
