/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files that write and read sidecars share: the schema in SQL and the names in it, the
 * state of a writer and of a reader, and how rows are interned, inserted, walked and checked.
 */
#ifndef RH_STORE_SIDECAR_INTERNAL_H
#define RH_STORE_SIDECAR_INTERNAL_H

#include "base/arena.h"
#include "base/bitset.h"
#include "base/fs.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "store/db.h"
#include "store/sidecar.h"

/* sidecar.h documents it. */
extern const struct rh_db_format rh_sidecar_format;

extern const char *const rh_sidecar_meta_names[RH_SIDECAR_META_COUNT];

/* --- writing --- */

/* One row per table that is filled: enum suffix, its INSERT. */
#define RH_SIDECAR_INSERTS(X)                                                                      \
    X(META, "INSERT INTO meta VALUES (?, ?)"                                                       \
            " ON CONFLICT (name) DO UPDATE SET value = excluded.value")                            \
    X(SKIPPED, "INSERT INTO skipped VALUES (?, ?)"                                                 \
               " ON CONFLICT (reason) DO UPDATE SET count = excluded.count")                       \
    X(FILES, "INSERT INTO files VALUES (?, ?)")                                                    \
    X(FUNCTIONS, "INSERT INTO functions VALUES (?, ?, ?, ?, ?)")                                   \
    X(LOCATIONS, "INSERT INTO locations VALUES (?, ?, ?, ?, ?, ?, ?)")                             \
    X(SITES, "INSERT INTO sites VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")                            \
    X(KEYS, "INSERT INTO keys VALUES (?, ?, ?, ?, ?)")                                             \
    X(MODULE, "INSERT INTO module VALUES (?, ?)")                                                  \
    X(TEXTS, "INSERT INTO texts VALUES (?, ?)")                                                    \
    X(REMOVED, "INSERT INTO removed VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")                        \
    X(PHASES, "INSERT INTO phases VALUES (?, ?, ?)")                                               \
    X(FILTERS, "INSERT INTO filters VALUES (?, ?, ?)")                                             \
    X(UNKNOWN, "INSERT INTO unknown_functions VALUES (?, ?, ?, ?)")                                \
    X(CLASSES, "INSERT INTO classes VALUES (?, ?, ?)")                                             \
    X(CLASS_SITES, "INSERT INTO class_sites VALUES (?, ?)")                                        \
    X(GROUPS, "INSERT INTO \"groups\" VALUES (?, ?, ?, ?, ?, ?, ?)")

enum rh_sidecar_insert {
#define RH_SIDECAR_INSERT_ENUM(id, sql) RH_SIDECAR_INSERT_##id,
    RH_SIDECAR_INSERTS(RH_SIDECAR_INSERT_ENUM)
#undef RH_SIDECAR_INSERT_ENUM
        RH_SIDECAR_INSERT_COUNT
};

struct rh_sidecar_writer {
    struct rh_file file;
    struct rh_db *db;
    struct rh_db_statement *inserts[RH_SIDECAR_INSERT_COUNT];
    enum rh_status status; /* of the first failure */
    char *message;
    uint32_t counts[RH_SIDECAR_INSERT_COUNT]; /* rows so far, of tables whose rows are numbered */
    struct rh_arena arena;
    struct rh_strbuf key;   /* scratch: what is being looked up */
    struct rh_strmap files; /* by path: id + 1 as a pointer, as in the next three */
    struct rh_strmap functions;
    struct rh_strmap locations;
    struct rh_strmap texts;
    /* Kept until the commit, since a function may be met in an inlining chain, where its line is
     * not known, before it is met as the holder of a site. */
    RH_VEC(struct rh_sidecar_function) function_rows;
    struct rh_bitset classed; /* sites that have a class */
    bool is_reproducible;     /* nothing that differs from build to build may be written */
};

/* Keeps the first failure for the commit. */
void rh_sidecar_keep(struct rh_sidecar_writer *w, enum rh_status status);

#define RH_SIDECAR_INSERT(w, id, ...)                                                              \
    rh_sidecar_insert((w), RH_SIDECAR_INSERT_##id, RH_DB_VALUES(__VA_ARGS__))

void rh_sidecar_insert(struct rh_sidecar_writer *w, enum rh_sidecar_insert id,
                       const struct rh_db_value *values, int count);

/* Takes the next number of a table; false, with the failure kept, unless it is `number`. */
bool rh_sidecar_take_number(struct rh_sidecar_writer *w, enum rh_sidecar_insert id,
                            const char *what, uint32_t number);

/* The id of `key` in a map of ids, a new one if it was not met before. */
uint32_t rh_sidecar_intern(struct rh_strmap *map, const char *key, bool *is_new);

struct rh_db_value rh_sidecar_put_function(struct rh_sidecar_writer *w,
                                           const struct rh_sidecar_function *function);
struct rh_db_value rh_sidecar_put_location(struct rh_sidecar_writer *w,
                                           const struct rh_sidecar_location *location);

/* --- reading --- */

/* One row per query: enum suffix, SQL. All are prepared at once, so a missing table shows early. */
#define RH_SIDECAR_QUERIES(X)                                                                      \
    X(META, "SELECT name, value FROM meta ORDER BY name")                                          \
    X(SKIPPED, "SELECT reason, count FROM skipped ORDER BY reason")                                \
    X(FILES, "SELECT id, path FROM files ORDER BY id")                                             \
    X(FUNCTIONS, "SELECT id, name, linkage, file, line FROM functions ORDER BY id")                \
    X(LOCATIONS, "SELECT id, file, line, \"column\", function, inlined_at, near FROM locations"    \
                 " ORDER BY id")                                                                   \
    X(SITES, "SELECT number, access, \"order\", size, flags, function, location, fingerprint,"     \
             " \"key\", expression FROM sites ORDER BY number")                                    \
    X(SITE_COUNT, "SELECT max(number) FROM sites")                                                 \
    X(KEY_COUNT, "SELECT max(number) FROM keys")                                                   \
    X(MODULE, "SELECT size, bitcode FROM module LIMIT 1")                                          \
    X(TEXTS, "SELECT id, text FROM texts ORDER BY id")                                             \
    X(REMOVED, "SELECT number, access, \"order\", size, flags, function, location, expression,"    \
               " reason, detail FROM removed ORDER BY number")                                     \
    X(PHASES, "SELECT number, name, milliseconds FROM phases ORDER BY number")                     \
    X(FILTERS, "SELECT number, name, pairs FROM filters ORDER BY number")                          \
    X(UNKNOWN, "SELECT number, name, calls, objects FROM unknown_functions ORDER BY number")       \
    X(CLASSES, "SELECT number, threads, locks FROM classes ORDER BY number")                       \
    X(CLASS_COUNT, "SELECT max(number) FROM classes")                                              \
    X(CLASS_SITES, "SELECT site, class FROM class_sites ORDER BY site")                            \
    X(GROUPS, "SELECT number, first, partners, score, flags, why, object FROM \"groups\""          \
              " ORDER BY number")

enum rh_sidecar_query {
#define RH_SIDECAR_QUERY_ENUM(id, sql) RH_SIDECAR_QUERY_##id,
    RH_SIDECAR_QUERIES(RH_SIDECAR_QUERY_ENUM)
#undef RH_SIDECAR_QUERY_ENUM
        RH_SIDECAR_QUERY_COUNT
};

struct rh_sidecar_skipped {
    const char *reason;
    uint64_t count;
};

struct rh_sidecar {
    struct rh_db *db;
    struct rh_db_statement *queries[RH_SIDECAR_QUERY_COUNT];
    uint32_t next_row[RH_SIDECAR_QUERY_COUNT]; /* the number that a walk expects next */
    struct rh_arena arena;
    const char *meta[RH_SIDECAR_META_COUNT];
    RH_VEC(struct rh_sidecar_skipped) skipped;
    uint32_t site_count, key_count, class_count;
    /* What sites refer to, by id; loaded when the first site is asked for. */
    bool locations_loaded;
    RH_VEC(const char *) files;
    RH_VEC(const struct rh_sidecar_function *) functions;
    RH_VEC(const struct rh_sidecar_location *) locations;
    /* Loaded when the first row that refers to them is asked for. */
    bool texts_loaded;
    RH_VEC(const char *) texts;
    bool sites_loaded;
    RH_VEC(struct rh_sidecar_site) sites; /* by number, for rh_sidecar_load_sites */
};

#define RH_SIDECAR_NUMBER_LIMIT ((uint64_t)UINT32_MAX)
#define RH_SIDECAR_NO_ROW       UINT32_MAX

/* The column's text, which lives as long as the sidecar; NULL for NULL. */
char *rh_sidecar_copy_text(struct rh_sidecar *sc, struct rh_db_statement *row, int column);

/*
 * Moves a walk over a numbered table to its next row, whose number must be the next one; `name` is
 * the table's in messages. At the end *more is false and the walk starts again.
 */
enum rh_status rh_sidecar_step(struct rh_sidecar *sc, enum rh_sidecar_query query, const char *name,
                               bool *more);

/* Loads the files, functions and locations, once. */
enum rh_status rh_sidecar_load_locations(struct rh_sidecar *sc);

/* What rows of sites and of removed have in common. */
struct rh_sidecar_access {
    uint32_t access, order, size, flags;
    const struct rh_sidecar_function *function;
    const struct rh_sidecar_location *location;
};

/* Reads it from columns 1 to 6 of either; false if something is out of range. */
bool rh_sidecar_read_access(const struct rh_sidecar *sc, struct rh_db_statement *row,
                            struct rh_sidecar_access *access);

#endif
