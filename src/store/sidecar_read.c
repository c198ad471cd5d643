/*
 * Reads a sidecar, trusting nothing in it: a number out of range, a reference to a row that is not
 * there or a gap in the numbering is reported as damage and never followed.
 */
#include "store/sidecar.h"

#include "base/arena.h"
#include "base/mem.h"
#include "base/vec.h"
#include "store/db.h"
#include "store/sidecar_int.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zstd.h>

/* One row per query: enum suffix, SQL. All are prepared at once, so a missing table shows early. */
#define QUERIES(X)                                                                                 \
    X(META, "SELECT name, value FROM meta ORDER BY name")                                          \
    X(SKIPPED, "SELECT reason, count FROM skipped ORDER BY reason")                                \
    X(FILES, "SELECT id, path FROM files ORDER BY id")                                             \
    X(FUNCTIONS, "SELECT id, name, linkage, file, line FROM functions ORDER BY id")                \
    X(LOCATIONS, "SELECT id, file, line, \"column\", function, inlined_at FROM locations"          \
                 " ORDER BY id")                                                                   \
    X(SITES, "SELECT number, fingerprint, \"key\", access, \"order\", size, flags, function,"      \
             " location, expression FROM sites ORDER BY number")                                   \
    X(KEYS, "SELECT max(number) FROM keys")                                                        \
    X(MODULE, "SELECT size, bitcode FROM module LIMIT 1")

enum query {
#define QUERY_ENUM(id, sql) QUERY_##id,
    QUERIES(QUERY_ENUM)
#undef QUERY_ENUM
        QUERY_COUNT
};

static const char *const query_sql[] = {
#define QUERY_SQL(id, sql) [QUERY_##id] = sql,
    QUERIES(QUERY_SQL)
#undef QUERY_SQL
};

struct skipped {
    const char *reason;
    uint64_t count;
};

struct rh_sidecar {
    struct rh_db db;
    sqlite3_stmt *queries[QUERY_COUNT];
    struct rh_arena arena;
    const char *meta[RH_SIDECAR_META_COUNT];
    RH_VEC(struct skipped) skipped;
    uint32_t key_count;
    /* What sites refer to, by id; loaded when the first site is asked for. */
    bool places_loaded;
    RH_VEC(const char *) files;
    RH_VEC(const struct rh_sidecar_function *) functions;
    RH_VEC(const struct rh_sidecar_location *) locations;
    uint32_t next_site;
};

static enum rh_status fail_damaged(const struct rh_sidecar *sc, const char *what)
{
    return rh_fail(RH_ERR_INPUT, "cannot read %s: the file is damaged (%s)", sc->db.shown, what);
}

/* The unsigned number in a column if it is below `limit`; else false. */
static bool read_number(sqlite3_stmt *row, int column, int64_t limit, uint32_t *number)
{
    int64_t value = sqlite3_column_int64(row, column);
    *number = (uint32_t)value;
    return value >= 0 && value < limit && sqlite3_column_type(row, column) == SQLITE_INTEGER;
}

/* The same where NULL may stand, which becomes `none`. */
static bool read_optional(sqlite3_stmt *row, int column, int64_t limit, uint32_t none,
                          uint32_t *number)
{
    if (sqlite3_column_type(row, column) != SQLITE_NULL)
        return read_number(row, column, limit, number);
    *number = none;
    return true;
}

#define NUMBER_LIMIT ((int64_t)UINT32_MAX)

static char *copy_text(struct rh_sidecar *sc, sqlite3_stmt *row, int column)
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
    sqlite3_stmt *row = sc->queries[QUERY_META];
    const char *before = NULL;
    for (;;) {
        bool more;
        enum rh_status status = rh_db_step(&sc->db, row, &more);
        if (status != RH_OK || !more)
            return status;
        const char *name = copy_text(sc, row, 0);
        if (!advances(before, name))
            return fail_damaged(sc, "names of meta");
        before = name;
        for (int i = 0; i < RH_SIDECAR_META_COUNT; i++)
            if (strcmp(name, rh_sidecar_meta_names[i]) == 0)
                sc->meta[i] = copy_text(sc, row, 1);
    }
}

static enum rh_status load_skipped(struct rh_sidecar *sc)
{
    sqlite3_stmt *row = sc->queries[QUERY_SKIPPED];
    const char *before = NULL;
    for (;;) {
        bool more;
        enum rh_status status = rh_db_step(&sc->db, row, &more);
        if (status != RH_OK || !more)
            return status;
        const char *reason = copy_text(sc, row, 0);
        int64_t count = sqlite3_column_int64(row, 1);
        if (!advances(before, reason) || count < 0)
            return fail_damaged(sc, "skipped");
        before = reason;
        rh_vec_push(&sc->skipped, (struct skipped){reason, (uint64_t)count});
    }
}

static enum rh_status count_keys(struct rh_sidecar *sc)
{
    sqlite3_stmt *row = sc->queries[QUERY_KEYS];
    bool more;
    enum rh_status status = rh_db_step(&sc->db, row, &more);
    if (status == RH_OK && more && sqlite3_column_type(row, 0) != SQLITE_NULL) {
        uint32_t last;
        if (read_number(row, 0, NUMBER_LIMIT, &last))
            sc->key_count = last + 1;
        else
            status = fail_damaged(sc, "numbers of keys");
    }
    sqlite3_reset(row);
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
    return version < 1 ? fail_damaged(sc, "format version") : RH_OK;
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
        return fail_damaged(sc, "its size is wrong");
    return numbers[2] == 0 ? RH_OK : fail_damaged(sc, "it holds more than tables");
}

static enum rh_status load_head(struct rh_sidecar *sc, const char *path)
{
    enum rh_status status = check_identity(sc);
    if (status == RH_OK)
        status = check_shape(sc, path);
    for (int i = 0; i < QUERY_COUNT && status == RH_OK; i++)
        status = rh_db_prepare(&sc->db, query_sql[i], &sc->queries[i]);
    if (status == RH_OK)
        status = load_meta(sc);
    if (status == RH_OK)
        status = load_skipped(sc);
    return status == RH_OK ? count_keys(sc) : status;
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
    for (int i = 0; i < QUERY_COUNT; i++)
        sqlite3_finalize(sc->queries[i]);
    rh_db_close(&sc->db);
    rh_vec_free(&sc->skipped);
    rh_vec_free(&sc->files);
    rh_vec_free(&sc->functions);
    rh_vec_free(&sc->locations);
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
    const struct skipped *skipped = &sc->skipped.data[(*at)++];
    *reason = skipped->reason;
    *count = skipped->count;
    return true;
}

uint32_t rh_sidecar_key_count(const struct rh_sidecar *sc)
{
    return sc->key_count;
}

#define NO_ROW UINT32_MAX

static bool take_file(struct rh_sidecar *sc, sqlite3_stmt *row)
{
    const char *path = copy_text(sc, row, 1);
    if (!path)
        return false;
    rh_vec_push(&sc->files, path);
    return true;
}

static const char *file_by_id(const struct rh_sidecar *sc, uint32_t id)
{
    return id == NO_ROW ? NULL : sc->files.data[id];
}

static bool take_function(struct rh_sidecar *sc, sqlite3_stmt *row)
{
    struct rh_sidecar_function *function = rh_arena_new(&sc->arena, struct rh_sidecar_function);
    uint32_t file;
    function->name = copy_text(sc, row, 1);
    function->linkage = copy_text(sc, row, 2);
    if (!function->name || !read_optional(row, 3, (int64_t)sc->files.len, NO_ROW, &file) ||
        !read_number(row, 4, NUMBER_LIMIT, &function->line))
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
    if (!read_optional(row, 1, (int64_t)sc->files.len, NO_ROW, &file) ||
        !read_number(row, 2, NUMBER_LIMIT, &location->line) ||
        !read_number(row, 3, NUMBER_LIMIT, &location->column) ||
        !read_number(row, 4, (int64_t)sc->functions.len, &function) ||
        !read_optional(row, 5, (int64_t)sc->locations.len, NO_ROW, &outer))
        return false;
    location->file = file_by_id(sc, file);
    location->function = sc->functions.data[function]->name;
    location->linkage = sc->functions.data[function]->linkage;
    location->inlined_at = outer == NO_ROW ? NULL : sc->locations.data[outer];
    rh_vec_push(&sc->locations, location);
    return true;
}

/* In the order in which they refer to each other. */
static const struct place_table {
    enum query query;
    const char *name;
    bool (*take)(struct rh_sidecar *sc, sqlite3_stmt *row);
} place_tables[] = {
    {QUERY_FILES, "files", take_file},
    {QUERY_FUNCTIONS, "functions", take_function},
    {QUERY_LOCATIONS, "locations", take_location},
};

static enum rh_status load_place_table(struct rh_sidecar *sc, const struct place_table *table)
{
    sqlite3_stmt *row = sc->queries[table->query];
    for (uint32_t expected = 0;; expected++) {
        bool more;
        enum rh_status status = rh_db_step(&sc->db, row, &more);
        if (status != RH_OK || !more)
            return status;
        uint32_t id;
        if (!read_number(row, 0, NUMBER_LIMIT, &id) || id != expected || !table->take(sc, row))
            return fail_damaged(sc, table->name);
    }
}

static enum rh_status load_places(struct rh_sidecar *sc)
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

static bool take_site(struct rh_sidecar *sc, sqlite3_stmt *row, struct rh_sidecar_site *site)
{
    uint32_t access, order, function, location;
    if (!read_number(row, 0, NUMBER_LIMIT, &site->number) || site->number != sc->next_site ||
        !read_optional(row, 2, (int64_t)sc->key_count, RH_SIDECAR_NO_KEY, &site->key) ||
        !read_number(row, 3, RH_ACCESS_COUNT, &access) ||
        !read_number(row, 4, RH_MO_SEQ_CST + 1, &order) ||
        !read_number(row, 5, NUMBER_LIMIT + 1, &site->size) ||
        !read_number(row, 6, NUMBER_LIMIT, &site->flags) ||
        !read_number(row, 7, (int64_t)sc->functions.len, &function) ||
        !read_optional(row, 8, (int64_t)sc->locations.len, NO_ROW, &location))
        return false;
    site->fingerprint = (uint64_t)sqlite3_column_int64(row, 1);
    site->access = (enum rh_access_kind)access;
    site->order = (enum rh_memory_order)order;
    site->function = sc->functions.data[function];
    site->location = location == NO_ROW ? NULL : sc->locations.data[location];
    site->expression = (const char *)sqlite3_column_text(row, 9);
    return true;
}

enum rh_status rh_sidecar_next_site(struct rh_sidecar *sc, struct rh_sidecar_site *site, bool *more)
{
    enum rh_status status = load_places(sc);
    if (status != RH_OK)
        return status;
    sqlite3_stmt *row = sc->queries[QUERY_SITES];
    status = rh_db_step(&sc->db, row, more);
    if (status != RH_OK)
        return status;
    if (!*more) {
        sc->next_site = 0;
        return RH_OK;
    }
    if (!take_site(sc, row, site))
        return fail_damaged(sc, "sites");
    sc->next_site++;
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
        return fail_damaged(sc, "module");
    void *room = malloc((size_t)size + 1);
    if (!room)
        return rh_fail(RH_ERR_IO, "cannot read %s: no memory for a module of %lld bytes",
                       sc->db.shown, (long long)size);
    size_t got = ZSTD_decompress(room, (size_t)size, packed, packed_len);
    if (ZSTD_isError(got) || got != (size_t)size) {
        free(room);
        return fail_damaged(sc, "module");
    }
    *bytes = room;
    *len = got;
    return RH_OK;
}

enum rh_status rh_sidecar_load_module(struct rh_sidecar *sc, void **bytes, size_t *len)
{
    sqlite3_stmt *row = sc->queries[QUERY_MODULE];
    bool more;
    enum rh_status status = rh_db_step(&sc->db, row, &more);
    if (status != RH_OK)
        return status;
    status = more ? unpack_module(sc, row, bytes, len)
                  : rh_fail(RH_ERR_NOT_FOUND, "%s holds no module", sc->db.shown);
    sqlite3_reset(row);
    return status;
}
