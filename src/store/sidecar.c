/* The sidecar's schema in SQL, and the names of what its numbers mean. */
#include "store/sidecar.h"

#include "store/sidecar_int.h"

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
    " site_count INTEGER, loop INTEGER);"
    "CREATE TABLE module (size INTEGER, bitcode BLOB);";

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
