/* The sidecar's schema in SQL, the names of what its numbers mean, and the order of its sites. */
#include "store/sidecar.h"

#include "store/sidecar_int.h"

#include <string.h>

const char rh_sidecar_schema[] =
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;"
    "CREATE TABLE skipped (reason TEXT PRIMARY KEY, count INTEGER) WITHOUT ROWID;"
    "CREATE TABLE files (id INTEGER PRIMARY KEY, path TEXT);"
    "CREATE TABLE functions (id INTEGER PRIMARY KEY, name TEXT, linkage TEXT, file INTEGER,"
    " line INTEGER);"
    "CREATE TABLE locations (id INTEGER PRIMARY KEY, file INTEGER, line INTEGER,"
    " \"column\" INTEGER, function INTEGER, inlined_at INTEGER);"
    "CREATE TABLE sites (number INTEGER PRIMARY KEY, fingerprint INTEGER, \"key\" INTEGER,"
    " access INTEGER, \"order\" INTEGER, size INTEGER, flags INTEGER, function INTEGER,"
    " location INTEGER, expression TEXT);"
    "CREATE TABLE keys (number INTEGER PRIMARY KEY, kind INTEGER, first_site INTEGER,"
    " site_count INTEGER, gate INTEGER);"
    "CREATE TABLE module (size INTEGER, bitcode BLOB);"
    "CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT);"
    "CREATE TABLE removed (number INTEGER PRIMARY KEY, access INTEGER, \"order\" INTEGER,"
    " size INTEGER, flags INTEGER, function INTEGER, location INTEGER, expression INTEGER,"
    " reason INTEGER, detail INTEGER);"
    "CREATE TABLE phases (number INTEGER PRIMARY KEY, name TEXT, milliseconds INTEGER);"
    "CREATE TABLE filters (number INTEGER PRIMARY KEY, name TEXT, pairs INTEGER);"
    "CREATE TABLE unknown_functions (number INTEGER PRIMARY KEY, name TEXT, calls INTEGER,"
    " objects INTEGER);"
    "CREATE TABLE classes (number INTEGER PRIMARY KEY, threads INTEGER, locks INTEGER);"
    "CREATE TABLE class_sites (site INTEGER PRIMARY KEY, class INTEGER);"
    "CREATE TABLE \"groups\" (number INTEGER PRIMARY KEY, first INTEGER, partners BLOB,"
    " score INTEGER, flags INTEGER, why INTEGER, object INTEGER);";

const char *const rh_sidecar_meta_names[RH_SIDECAR_META_COUNT] = {
#define META_NAME(id, name) [RH_SIDECAR_META_##id] = name,
    RH_SIDECAR_METAS(META_NAME)
#undef META_NAME
};

static const char *const access_names[RH_ACCESS_COUNT] = {
#define ACCESS_NAME(id, name) [RH_ACCESS_##id] = name,
    RH_ACCESSES(ACCESS_NAME)
#undef ACCESS_NAME
};

static const char *const order_names[] = {
    [RH_MO_PLAIN] = NULL,        [RH_MO_UNORDERED] = "unordered", [RH_MO_RELAXED] = "relaxed",
    [RH_MO_ACQUIRE] = "acquire", [RH_MO_RELEASE] = "release",     [RH_MO_ACQ_REL] = "acq_rel",
    [RH_MO_SEQ_CST] = "seq_cst",
};

const char *rh_sidecar_access_name(enum rh_access_kind access)
{
    return access_names[access];
}

const char *rh_sidecar_order_name(enum rh_memory_order order)
{
    return order_names[order];
}

static int compare_files(const char *a, const char *b)
{
    if (a == b)
        return 0;
    if (!a || !b)
        return (a == NULL) - (b == NULL);
    return strcmp(a, b);
}

static int compare_numbers(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

int rh_sidecar_compare_places(const struct rh_sidecar_site *a, const struct rh_sidecar_site *b)
{
    static const struct rh_sidecar_location nowhere = {0};
    const struct rh_sidecar_location *at = a->location ? a->location : &nowhere;
    const struct rh_sidecar_location *bt = b->location ? b->location : &nowhere;
    int order = compare_files(at->file, bt->file);
    if (order == 0)
        order = compare_numbers(at->line, bt->line);
    if (order == 0)
        order = compare_numbers(at->column, bt->column);
    return order != 0 ? order : compare_numbers(a->number, b->number);
}
