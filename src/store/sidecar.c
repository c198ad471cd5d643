/* SPDX-License-Identifier: Apache-2.0 */
/* The sidecar's schema in SQL, the names of what its numbers mean, and the order of its sites. */
#include "store/sidecar.h"

#include "store/sidecar_internal.h"

#include <string.h>

static const char tables[] =
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT) {clustered};"
    "CREATE TABLE skipped (reason TEXT PRIMARY KEY, count {number}) {clustered};"
    "CREATE TABLE files (id {id}, path TEXT);"
    "CREATE TABLE functions (id {id}, name TEXT, linkage TEXT, file {number},"
    " line {number});"
    "CREATE TABLE locations (id {id}, file {number}, line {number},"
    " \"column\" {number}, function {number}, inlined_at {number}, near {number});"
    "CREATE TABLE sites (number {id}, fingerprint {number}, \"key\" {number},"
    " access {number}, \"order\" {number}, size {number}, flags {number}, function {number},"
    " location {number}, expression TEXT);"
    "CREATE TABLE keys (number {id}, kind {number}, first_site {number},"
    " site_count {number}, gate {number});"
    "CREATE TABLE module (size {number}, bitcode {blob});"
    "CREATE TABLE texts (id {id}, text TEXT);"
    "CREATE TABLE removed (number {id}, access {number}, \"order\" {number},"
    " size {number}, flags {number}, function {number}, location {number}, expression {number},"
    " reason {number}, detail {number});"
    "CREATE TABLE phases (number {id}, name TEXT, milliseconds {number});"
    "CREATE TABLE filters (number {id}, name TEXT, pairs {number});"
    "CREATE TABLE unknown_functions (number {id}, name TEXT, calls {number},"
    " objects {number});"
    "CREATE TABLE classes (number {id}, threads {number}, locks {number});"
    "CREATE TABLE class_sites (site {id}, class {number});"
    "CREATE TABLE \"groups\" (number {id}, first {number}, partners {blob},"
    " score {number}, flags {number}, why {number}, object {number});";

static const struct rh_db_migration steps[] = {
    {.define = tables},
};

const struct rh_db_format rh_sidecar_format = {
    .id = RH_SIDECAR_ID,
    .kind = RH_SIDECAR_SUFFIX " file",
    .if_too_old = "build the program again",
    .oldest = RH_SIDECAR_VERSION,
    .steps = steps,
    .step_count = sizeof steps / sizeof steps[0],
};

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

int rh_sidecar_compare_locations(const struct rh_sidecar_site *a, const struct rh_sidecar_site *b)
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
