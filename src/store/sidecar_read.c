/*
 * Reads a sidecar, trusting nothing in it: a number out of range, a reference to a row that is not
 * there or a gap in the numbering is reported as damage and never followed.
 */
#include "store/sidecar.h"

#include "base/mem.h"
#include "store/sidecar_int.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zstd.h>

static const char *const query_sql[] = {
#define QUERY_SQL(id, sql) [RH_SIDECAR_QUERY_##id] = sql,
    RH_SIDECAR_QUERIES(QUERY_SQL)
#undef QUERY_SQL
};

enum rh_status rh_sidecar_fail_damaged(const struct rh_sidecar *sc, const char *what)
{
    return rh_fail(RH_ERR_INPUT, "cannot read %s: the file is damaged (%s)", sc->db.shown, what);
}

bool rh_sidecar_read_number(sqlite3_stmt *row, int column, int64_t limit, uint32_t *number)
{
    int64_t value = sqlite3_column_int64(row, column);
    *number = (uint32_t)value;
    return value >= 0 && value < limit && sqlite3_column_type(row, column) == SQLITE_INTEGER;
}

bool rh_sidecar_read_optional(sqlite3_stmt *row, int column, int64_t limit, uint32_t none,
                              uint32_t *number)
{
    if (sqlite3_column_type(row, column) != SQLITE_NULL)
        return rh_sidecar_read_number(row, column, limit, number);
    *number = none;
    return true;
}

char *rh_sidecar_copy_text(struct rh_sidecar *sc, sqlite3_stmt *row, int column)
{
    const char *text = (const char *)sqlite3_column_text(row, column);
    return text ? rh_arena_strdup(&sc->arena, text) : NULL;
}

/* Whether `name` comes after the one before it: a damaged tree may repeat itself for ever. */
static bool advances(const char *before, const char *name)
{
    return name && (!before || strcmp(before, name) < 0);
}

static enum rh_status load_meta(struct rh_sidecar *sc)
{
    sqlite3_stmt *row = sc->queries[RH_SIDECAR_QUERY_META];
    const char *before = NULL;
    for (;;) {
        bool more;
        enum rh_status status = rh_db_step(&sc->db, row, &more);
        if (status != RH_OK || !more)
            return status;
        const char *name = rh_sidecar_copy_text(sc, row, 0);
        if (!advances(before, name))
            return rh_sidecar_fail_damaged(sc, "names of meta");
        before = name;
        for (int i = 0; i < RH_SIDECAR_META_COUNT; i++)
            if (strcmp(name, rh_sidecar_meta_names[i]) == 0)
                sc->meta[i] = rh_sidecar_copy_text(sc, row, 1);
    }
}

static enum rh_status load_skipped(struct rh_sidecar *sc)
{
    sqlite3_stmt *row = sc->queries[RH_SIDECAR_QUERY_SKIPPED];
    const char *before = NULL;
    for (;;) {
        bool more;
        enum rh_status status = rh_db_step(&sc->db, row, &more);
        if (status != RH_OK || !more)
            return status;
        const char *reason = rh_sidecar_copy_text(sc, row, 0);
        int64_t count = sqlite3_column_int64(row, 1);
        if (!advances(before, reason) || count < 0)
            return rh_sidecar_fail_damaged(sc, "skipped");
        before = reason;
        rh_vec_push(&sc->skipped, (struct rh_sidecar_skipped){reason, (uint64_t)count});
    }
}

/* One more than the largest number in a table. */
static enum rh_status count_rows(struct rh_sidecar *sc, enum rh_sidecar_query query,
                                 const char *name, uint32_t *count)
{
    sqlite3_stmt *row = sc->queries[query];
    bool more;
    enum rh_status status = rh_db_step(&sc->db, row, &more);
    if (status == RH_OK && more && sqlite3_column_type(row, 0) != SQLITE_NULL) {
        uint32_t last;
        if (rh_sidecar_read_number(row, 0, RH_SIDECAR_NUMBER_LIMIT, &last))
            *count = last + 1;
        else
            status = rh_sidecar_fail_damaged(sc, name);
    }
    sqlite3_reset(row);
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

static enum rh_status check_identity(struct rh_sidecar *sc)
{
    int64_t id, version;
    enum rh_status status = rh_db_number(&sc->db, "PRAGMA application_id", 0, &id);
    if (status != RH_OK)
        return status;
    if (id != RH_SIDECAR_ID)
        return rh_fail(RH_ERR_INPUT, "cannot read %s: it is not a %s file", sc->db.shown,
                       RH_SIDECAR_SUFFIX);
    status = rh_db_number(&sc->db, "PRAGMA user_version", 0, &version);
    if (status != RH_OK)
        return status;
    if (version > RH_SIDECAR_VERSION)
        return rh_fail(RH_ERR_INPUT,
                       "cannot read %s: its format is version %lld and this racehive (%s) knows up "
                       "to %d: update racehive",
                       sc->db.shown, (long long)version, RH_VERSION, RH_SIDECAR_VERSION);
    if (version < 1)
        return rh_sidecar_fail_damaged(sc, "format version");
    if (version < RH_SIDECAR_VERSION)
        return rh_fail(
            RH_ERR_INPUT,
            "cannot read %s: its format is version %lld, of an older racehive: build the "
            "program again",
            sc->db.shown, (long long)version);
    return RH_OK;
}

/*
 * SQLite fills up a last page that was cut off, and would run whatever a view of a stranger's file
 * says: a sidecar has whole pages and nothing but tables.
 */
static enum rh_status check_shape(struct rh_sidecar *sc, const char *path)
{
    static const char *const queries[] = {"PRAGMA page_size", "PRAGMA page_count",
                                          "SELECT 1 FROM sqlite_schema WHERE type <> 'table'"};
    int64_t numbers[3];
    for (int i = 0; i < 3; i++) {
        enum rh_status status = rh_db_number(&sc->db, queries[i], 0, &numbers[i]);
        if (status != RH_OK)
            return status;
    }
    struct stat info;
    if (stat(path, &info) != 0)
        return rh_fail_errno(RH_ERR_IO, "cannot read %s", path);
    if (info.st_size != numbers[0] * numbers[1])
        return rh_sidecar_fail_damaged(sc, "its size is wrong");
    return numbers[2] == 0 ? RH_OK : rh_sidecar_fail_damaged(sc, "it holds more than tables");
}

static enum rh_status load_head(struct rh_sidecar *sc, const char *path)
{
    enum rh_status status = check_identity(sc);
    if (status == RH_OK)
        status = check_shape(sc, path);
    for (int i = 0; i < RH_SIDECAR_QUERY_COUNT && status == RH_OK; i++)
        status = rh_db_prepare(&sc->db, query_sql[i], &sc->queries[i]);
    if (status == RH_OK)
        status = load_meta(sc);
    if (status == RH_OK)
        status = load_skipped(sc);
    return status == RH_OK ? count_all(sc) : status;
}

enum rh_status rh_sidecar_open(const char *path, struct rh_sidecar **sidecar)
{
    struct rh_sidecar *sc = rh_calloc(1, sizeof *sc);
    enum rh_status status = rh_db_open_finished(&sc->db, path);
    if (status == RH_OK)
        status = load_head(sc, path);
    if (status == RH_OK)
        *sidecar = sc;
    else
        rh_sidecar_close(sc);
    return status;
}

void rh_sidecar_close(struct rh_sidecar *sc)
{
    for (int i = 0; i < RH_SIDECAR_QUERY_COUNT; i++)
        sqlite3_finalize(sc->queries[i]);
    rh_db_close(&sc->db);
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

static bool take_file(struct rh_sidecar *sc, sqlite3_stmt *row)
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

static bool take_function(struct rh_sidecar *sc, sqlite3_stmt *row)
{
    struct rh_sidecar_function *function = rh_arena_new(&sc->arena, struct rh_sidecar_function);
    uint32_t file;
    function->name = rh_sidecar_copy_text(sc, row, 1);
    function->linkage = rh_sidecar_copy_text(sc, row, 2);
    if (!function->name ||
        !rh_sidecar_read_optional(row, 3, (int64_t)sc->files.len, RH_SIDECAR_NO_ROW, &file) ||
        !rh_sidecar_read_number(row, 4, RH_SIDECAR_NUMBER_LIMIT, &function->line))
        return false;
    if (!function->linkage)
        function->linkage = function->name;
    function->file = file_by_id(sc, file);
    rh_vec_push(&sc->functions, function);
    return true;
}

static bool take_location(struct rh_sidecar *sc, sqlite3_stmt *row)
{
    struct rh_sidecar_location *location = rh_arena_new(&sc->arena, struct rh_sidecar_location);
    uint32_t file, function, outer;
    /* An inlined_at that points to an earlier row cannot make a circle. */
    if (!rh_sidecar_read_optional(row, 1, (int64_t)sc->files.len, RH_SIDECAR_NO_ROW, &file) ||
        !rh_sidecar_read_number(row, 2, RH_SIDECAR_NUMBER_LIMIT, &location->line) ||
        !rh_sidecar_read_number(row, 3, RH_SIDECAR_NUMBER_LIMIT, &location->column) ||
        !rh_sidecar_read_number(row, 4, (int64_t)sc->functions.len, &function) ||
        !rh_sidecar_read_optional(row, 5, (int64_t)sc->locations.len, RH_SIDECAR_NO_ROW, &outer))
        return false;
    location->file = file_by_id(sc, file);
    location->function = sc->functions.data[function]->name;
    location->linkage = sc->functions.data[function]->linkage;
    location->inlined_at = outer == RH_SIDECAR_NO_ROW ? NULL : sc->locations.data[outer];
    rh_vec_push(&sc->locations, location);
    return true;
}

/* In the order in which they refer to each other. */
static const struct place_table {
    enum rh_sidecar_query query;
    const char *name;
    bool (*take)(struct rh_sidecar *sc, sqlite3_stmt *row);
} place_tables[] = {
    {RH_SIDECAR_QUERY_FILES, "files", take_file},
    {RH_SIDECAR_QUERY_FUNCTIONS, "functions", take_function},
    {RH_SIDECAR_QUERY_LOCATIONS, "locations", take_location},
};

enum rh_status rh_sidecar_step(struct rh_sidecar *sc, enum rh_sidecar_query query, const char *name,
                               bool *more)
{
    sqlite3_stmt *row = sc->queries[query];
    enum rh_status status = rh_db_step(&sc->db, row, more);
    if (status != RH_OK || !*more) {
        sc->next_row[query] = 0;
        return status;
    }
    uint32_t number;
    if (!rh_sidecar_read_number(row, 0, RH_SIDECAR_NUMBER_LIMIT, &number) ||
        number != sc->next_row[query])
        return rh_sidecar_fail_damaged(sc, name);
    sc->next_row[query]++;
    return RH_OK;
}

static enum rh_status load_place_table(struct rh_sidecar *sc, const struct place_table *table)
{
    for (;;) {
        bool more;
        enum rh_status status = rh_sidecar_step(sc, table->query, table->name, &more);
        if (status != RH_OK || !more)
            return status;
        if (!table->take(sc, sc->queries[table->query]))
            return rh_sidecar_fail_damaged(sc, table->name);
    }
}

enum rh_status rh_sidecar_load_places(struct rh_sidecar *sc)
{
    if (sc->places_loaded)
        return RH_OK;
    for (size_t i = 0; i < sizeof place_tables / sizeof place_tables[0]; i++) {
        enum rh_status status = load_place_table(sc, &place_tables[i]);
        if (status != RH_OK)
            return status;
    }
    sc->places_loaded = true;
    return RH_OK;
}

bool rh_sidecar_read_access(const struct rh_sidecar *sc, sqlite3_stmt *row,
                            struct rh_sidecar_access *access)
{
    uint32_t function, location;
    if (!rh_sidecar_read_number(row, 1, RH_ACCESS_COUNT, &access->access) ||
        !rh_sidecar_read_number(row, 2, RH_MO_SEQ_CST + 1, &access->order) ||
        !rh_sidecar_read_number(row, 3, RH_SIDECAR_NUMBER_LIMIT + 1, &access->size) ||
        !rh_sidecar_read_number(row, 4, RH_SIDECAR_NUMBER_LIMIT, &access->flags) ||
        !rh_sidecar_read_number(row, 5, (int64_t)sc->functions.len, &function) ||
        !rh_sidecar_read_optional(row, 6, (int64_t)sc->locations.len, RH_SIDECAR_NO_ROW, &location))
        return false;
    access->function = sc->functions.data[function];
    access->location = location == RH_SIDECAR_NO_ROW ? NULL : sc->locations.data[location];
    return true;
}

static bool take_site(struct rh_sidecar *sc, sqlite3_stmt *row, struct rh_sidecar_site *site)
{
    struct rh_sidecar_access access;
    if (!rh_sidecar_read_access(sc, row, &access) ||
        !rh_sidecar_read_optional(row, 8, (int64_t)sc->key_count, RH_SIDECAR_NO_KEY, &site->key))
        return false;
    site->number = (uint32_t)sqlite3_column_int64(row, 0);
    site->fingerprint = (uint64_t)sqlite3_column_int64(row, 7);
    site->access = (enum rh_access_kind)access.access;
    site->order = (enum rh_memory_order)access.order;
    site->size = access.size;
    site->flags = access.flags;
    site->function = access.function;
    site->location = access.location;
    site->expression = (const char *)sqlite3_column_text(row, 9);
    return true;
}

enum rh_status rh_sidecar_next_site(struct rh_sidecar *sc, struct rh_sidecar_site *site, bool *more)
{
    enum rh_status status = rh_sidecar_load_places(sc);
    if (status == RH_OK)
        status = rh_sidecar_step(sc, RH_SIDECAR_QUERY_SITES, "sites", more);
    if (status != RH_OK || !*more)
        return status;
    return take_site(sc, sc->queries[RH_SIDECAR_QUERY_SITES], site)
               ? RH_OK
               : rh_sidecar_fail_damaged(sc, "sites");
}

static enum rh_status collect_sites(struct rh_sidecar *sc)
{
    sqlite3_reset(sc->queries[RH_SIDECAR_QUERY_SITES]);
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
    return sc->sites.len == sc->site_count ? RH_OK : rh_sidecar_fail_damaged(sc, "sites");
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

/* Room comes from malloc itself: a damaged size must end in a message, not in the process's end. */
static enum rh_status unpack_module(const struct rh_sidecar *sc, sqlite3_stmt *row, void **bytes,
                                    size_t *len)
{
    const void *packed = sqlite3_column_blob(row, 1);
    size_t packed_len = (size_t)sqlite3_column_bytes(row, 1);
    int64_t size = sqlite3_column_int64(row, 0);
    if (!packed || size < 0 || ZSTD_getFrameContentSize(packed, packed_len) != (uint64_t)size)
        return rh_sidecar_fail_damaged(sc, "module");
    void *room = malloc((size_t)size + 1);
    if (!room)
        return rh_fail(RH_ERR_IO, "cannot read %s: no memory for a module of %lld bytes",
                       sc->db.shown, (long long)size);
    size_t got = ZSTD_decompress(room, (size_t)size, packed, packed_len);
    if (ZSTD_isError(got) || got != (size_t)size) {
        free(room);
        return rh_sidecar_fail_damaged(sc, "module");
    }
    *bytes = room;
    *len = got;
    return RH_OK;
}

enum rh_status rh_sidecar_load_module(struct rh_sidecar *sc, void **bytes, size_t *len)
{
    sqlite3_stmt *row = sc->queries[RH_SIDECAR_QUERY_MODULE];
    bool more;
    enum rh_status status = rh_db_step(&sc->db, row, &more);
    if (status != RH_OK)
        return status;
    status = more ? unpack_module(sc, row, bytes, len)
                  : rh_fail(RH_ERR_NOT_FOUND, "%s holds no module", sc->db.shown);
    sqlite3_reset(row);
    return status;
}
