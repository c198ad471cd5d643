/* SPDX-License-Identifier: Apache-2.0 */
/* Writes and reads the tables of the analysis in a sidecar. They are kept sound while they are
 * made, and read with the distrust of sidecar_read.c. */
#include "store/sidecar_analysis.h"

#include "base/packed.h"
#include "store/sidecar_internal.h"

#include <string.h>

/* --- writing --- */

static struct rh_db_value put_words(struct rh_sidecar_writer *w, const char *text)
{
    bool is_new;
    uint32_t id = rh_sidecar_intern(&w->texts, text ? text : "", &is_new);
    if (is_new)
        RH_SIDECAR_INSERT(w, TEXTS, rh_db_int(id), rh_db_text(text ? text : ""));
    return rh_db_int(id);
}

/* Where the format allows NULL, no words are NULL. */
static struct rh_db_value put_optional(struct rh_sidecar_writer *w, const char *text)
{
    return text && *text ? put_words(w, text) : rh_db_null();
}

static struct rh_db_value take_next(struct rh_sidecar_writer *w, enum rh_sidecar_insert id)
{
    return rh_db_int(w->counts[id]++);
}

void rh_sidecar_add_removed(struct rh_sidecar_writer *w, const struct rh_sidecar_removed *removed)
{
    struct rh_db_value function = rh_sidecar_put_function(w, removed->function);
    struct rh_db_value location = rh_sidecar_put_location(w, removed->location);
    RH_SIDECAR_INSERT(w, REMOVED, take_next(w, RH_SIDECAR_INSERT_REMOVED),
                      rh_db_int(removed->access), rh_db_int(removed->order),
                      rh_db_int(removed->size), rh_db_int(removed->flags), function, location,
                      put_optional(w, removed->expression), put_words(w, removed->reason),
                      put_optional(w, removed->detail));
}

void rh_sidecar_add_phase(struct rh_sidecar_writer *w, const char *name, uint64_t milliseconds)
{
    bool known = !w->is_reproducible && milliseconds != RH_SIDECAR_NO_TIME;
    RH_SIDECAR_INSERT(w, PHASES, take_next(w, RH_SIDECAR_INSERT_PHASES), rh_db_text(name),
                      known ? rh_db_int((int64_t)milliseconds) : rh_db_null());
}

void rh_sidecar_add_filter(struct rh_sidecar_writer *w, const char *name, uint64_t pairs)
{
    RH_SIDECAR_INSERT(w, FILTERS, take_next(w, RH_SIDECAR_INSERT_FILTERS), rh_db_text(name),
                      rh_db_int((int64_t)pairs));
}

void rh_sidecar_add_unknown(struct rh_sidecar_writer *w, const char *name, uint64_t calls,
                            uint64_t objects)
{
    RH_SIDECAR_INSERT(w, UNKNOWN, take_next(w, RH_SIDECAR_INSERT_UNKNOWN), rh_db_text(name),
                      rh_db_int((int64_t)calls), rh_db_int((int64_t)objects));
}

/* A site in one class at most: then no pair is in two groups, and readers need not look for
 * repetitions. */
static enum rh_status check_class_site(struct rh_sidecar_writer *w, uint32_t class_number,
                                       uint32_t site)
{
    if (site >= w->counts[RH_SIDECAR_INSERT_SITES])
        return rh_fail(RH_ERR_INTERNAL, "site %u of class %u was not added", site, class_number);
    if (!rh_bitset_set(&w->classed, site))
        return rh_fail(RH_ERR_INTERNAL, "site %u of class %u is in a class already", site,
                       class_number);
    return RH_OK;
}

void rh_sidecar_add_class(struct rh_sidecar_writer *w, const struct rh_sidecar_class *row,
                          const uint32_t *sites, size_t site_count)
{
    if (!rh_sidecar_take_number(w, RH_SIDECAR_INSERT_CLASSES, "class", row->number))
        return;
    RH_SIDECAR_INSERT(w, CLASSES, rh_db_int(row->number), put_words(w, row->threads),
                      put_words(w, row->locks));
    for (size_t i = 0; i < site_count; i++) {
        enum rh_status status = check_class_site(w, row->number, sites[i]);
        rh_sidecar_keep(w, status);
        if (status != RH_OK)
            return;
        RH_SIDECAR_INSERT(w, CLASS_SITES, rh_db_int(sites[i]), rh_db_int(row->number));
    }
}

static enum rh_status check_group(struct rh_sidecar_writer *w, const struct rh_sidecar_group *group,
                                  const struct rh_strbuf *packed)
{
    if (!rh_packed_is_sound(packed->data, packed->len, group->first,
                            w->counts[RH_SIDECAR_INSERT_CLASSES]))
        return rh_fail(RH_ERR_INTERNAL, "group %u of class %u has no partners, or wrong ones",
                       group->number, group->first);
    if (group->score > RH_SCORE_MAX)
        return rh_fail(RH_ERR_INTERNAL, "group %u has a score of %u", group->number, group->score);
    return RH_OK;
}

void rh_sidecar_add_group(struct rh_sidecar_writer *w, const struct rh_sidecar_group *group,
                          const uint32_t *partners, size_t partner_count)
{
    if (!rh_sidecar_take_number(w, RH_SIDECAR_INSERT_GROUPS, "group", group->number))
        return;
    struct rh_strbuf packed = RH_STRBUF_INIT;
    rh_packed_add(&packed, partners, partner_count);
    rh_sidecar_keep(w, check_group(w, group, &packed));
    RH_SIDECAR_INSERT(w, GROUPS, rh_db_int(group->number), rh_db_int(group->first),
                      rh_db_blob(packed.data, packed.len), rh_db_int(group->score),
                      rh_db_int(group->flags), put_words(w, group->why),
                      put_optional(w, group->object));
    rh_strbuf_release(&packed);
}

/* --- reading --- */

static enum rh_status load_texts(struct rh_sidecar *sc)
{
    if (sc->texts_loaded)
        return RH_OK;
    rh_vec_clear(&sc->texts);
    for (;;) {
        bool more;
        enum rh_status status = rh_sidecar_step(sc, RH_SIDECAR_QUERY_TEXTS, "texts", &more);
        if (status != RH_OK)
            return status;
        if (!more)
            break;
        const char *text = rh_sidecar_copy_text(sc, sc->queries[RH_SIDECAR_QUERY_TEXTS], 1);
        if (!text)
            return rh_db_fail_damaged(sc->db, "texts");
        rh_vec_push(&sc->texts, text);
    }
    sc->texts_loaded = true;
    return RH_OK;
}

/* The text that a column refers to. */
static bool read_text(const struct rh_sidecar *sc, struct rh_db_statement *row, int column,
                      const char **text)
{
    uint32_t id;
    if (!rh_db_take32(row, column, sc->texts.len, &id))
        return false;
    *text = sc->texts.data[id];
    return true;
}

/* The same where NULL may stand. */
static bool read_optional_text(const struct rh_sidecar *sc, struct rh_db_statement *row, int column,
                               const char **text)
{
    *text = NULL;
    return rh_db_column(row, column).kind == RH_DB_NULL || read_text(sc, row, column, text);
}

/* The name in column 1 of the small tables, which lives until the next row. */
static bool read_name(struct rh_db_statement *row, const char **name)
{
    *name = rh_db_column_text(row, 1);
    return *name;
}

enum rh_status rh_sidecar_next_removed(struct rh_sidecar *sc, struct rh_sidecar_removed *removed,
                                       bool *more)
{
    enum rh_status status = rh_sidecar_load_locations(sc);
    if (status == RH_OK)
        status = load_texts(sc);
    if (status == RH_OK)
        status = rh_sidecar_step(sc, RH_SIDECAR_QUERY_REMOVED, "removed", more);
    if (status != RH_OK || !*more)
        return status;
    struct rh_db_statement *row = sc->queries[RH_SIDECAR_QUERY_REMOVED];
    struct rh_sidecar_access access;
    if (!rh_sidecar_read_access(sc, row, &access) ||
        !read_optional_text(sc, row, 7, &removed->expression) ||
        !read_text(sc, row, 8, &removed->reason) ||
        !read_optional_text(sc, row, 9, &removed->detail))
        return rh_db_fail_damaged(sc->db, "removed");
    removed->access = (enum rh_access_kind)access.access;
    removed->order = (enum rh_memory_order)access.order;
    removed->size = access.size;
    removed->flags = access.flags;
    removed->function = access.function;
    removed->location = access.location;
    return RH_OK;
}

enum rh_status rh_sidecar_next_phase(struct rh_sidecar *sc, struct rh_sidecar_phase *phase,
                                     bool *more)
{
    enum rh_status status = rh_sidecar_step(sc, RH_SIDECAR_QUERY_PHASES, "phases", more);
    if (status != RH_OK || !*more)
        return status;
    struct rh_db_statement *row = sc->queries[RH_SIDECAR_QUERY_PHASES];
    bool known = rh_db_column(row, 2).kind != RH_DB_NULL;
    phase->milliseconds = RH_SIDECAR_NO_TIME;
    if (!read_name(row, &phase->name) ||
        (known && !rh_db_take(row, 2, RH_DB_LIMIT64, &phase->milliseconds)))
        return rh_db_fail_damaged(sc->db, "phases");
    return RH_OK;
}

enum rh_status rh_sidecar_next_filter(struct rh_sidecar *sc, struct rh_sidecar_filter *filter,
                                      bool *more)
{
    enum rh_status status = rh_sidecar_step(sc, RH_SIDECAR_QUERY_FILTERS, "filters", more);
    if (status != RH_OK || !*more)
        return status;
    struct rh_db_statement *row = sc->queries[RH_SIDECAR_QUERY_FILTERS];
    if (!read_name(row, &filter->name) || !rh_db_take(row, 2, RH_DB_LIMIT64, &filter->pairs))
        return rh_db_fail_damaged(sc->db, "filters");
    return RH_OK;
}

enum rh_status rh_sidecar_next_unknown(struct rh_sidecar *sc, struct rh_sidecar_unknown *unknown,
                                       bool *more)
{
    enum rh_status status =
        rh_sidecar_step(sc, RH_SIDECAR_QUERY_UNKNOWN, "unknown_functions", more);
    if (status != RH_OK || !*more)
        return status;
    struct rh_db_statement *row = sc->queries[RH_SIDECAR_QUERY_UNKNOWN];
    if (!read_name(row, &unknown->name) || !rh_db_take(row, 2, RH_DB_LIMIT64, &unknown->calls) ||
        !rh_db_take(row, 3, RH_DB_LIMIT64, &unknown->objects))
        return rh_db_fail_damaged(sc->db, "unknown_functions");
    return RH_OK;
}

enum rh_status rh_sidecar_next_class(struct rh_sidecar *sc, struct rh_sidecar_class *out,
                                     bool *more)
{
    uint32_t walked = sc->next_row[RH_SIDECAR_QUERY_CLASSES];
    enum rh_status status = load_texts(sc);
    if (status == RH_OK)
        status = rh_sidecar_step(sc, RH_SIDECAR_QUERY_CLASSES, "classes", more);
    if (status != RH_OK)
        return status;
    /* Other tables are checked against the count, so it must match the number of rows. */
    if (!*more)
        return walked == sc->class_count ? RH_OK : rh_db_fail_damaged(sc->db, "classes");
    struct rh_db_statement *row = sc->queries[RH_SIDECAR_QUERY_CLASSES];
    out->number = walked;
    if (!read_text(sc, row, 1, &out->threads) || !read_text(sc, row, 2, &out->locks))
        return rh_db_fail_damaged(sc->db, "classes");
    return RH_OK;
}

enum rh_status rh_sidecar_next_class_site(struct rh_sidecar *sc, uint32_t *site,
                                          uint32_t *class_number, bool *more)
{
    struct rh_db_statement *row = sc->queries[RH_SIDECAR_QUERY_CLASS_SITES];
    uint32_t *next = &sc->next_row[RH_SIDECAR_QUERY_CLASS_SITES];
    enum rh_status status = rh_db_step(row, more);
    if (status != RH_OK || !*more) {
        *next = 0;
        return status;
    }
    if (!rh_db_take32(row, 0, sc->site_count, site) || *site < *next ||
        !rh_db_take32(row, 1, sc->class_count, class_number))
        return rh_db_fail_damaged(sc->db, "class_sites");
    *next = *site + 1;
    return RH_OK;
}

static bool read_partners(struct rh_sidecar *sc, struct rh_db_statement *row,
                          struct rh_sidecar_group *group)
{
    struct rh_db_value packed = rh_db_column(row, 2);
    if (packed.kind != RH_DB_BLOB ||
        !rh_packed_is_sound(packed.bytes, packed.len, group->first, sc->class_count))
        return false;
    group->partners = memcpy(rh_arena_alloc(&sc->arena, packed.len), packed.bytes, packed.len);
    group->partners_len = packed.len;
    return true;
}

enum rh_status rh_sidecar_next_group(struct rh_sidecar *sc, struct rh_sidecar_group *group,
                                     bool *more)
{
    group->number = sc->next_row[RH_SIDECAR_QUERY_GROUPS];
    enum rh_status status = load_texts(sc);
    if (status == RH_OK)
        status = rh_sidecar_step(sc, RH_SIDECAR_QUERY_GROUPS, "groups", more);
    if (status != RH_OK || !*more)
        return status;
    struct rh_db_statement *row = sc->queries[RH_SIDECAR_QUERY_GROUPS];
    if (!rh_db_take32(row, 1, sc->class_count, &group->first) || !read_partners(sc, row, group) ||
        !rh_db_take32(row, 3, RH_SCORE_MAX + 1, &group->score) ||
        !rh_db_take32(row, 4, RH_SIDECAR_NUMBER_LIMIT, &group->flags) ||
        !read_text(sc, row, 5, &group->why) || !read_optional_text(sc, row, 6, &group->object))
        return rh_db_fail_damaged(sc->db, "groups");
    return RH_OK;
}

enum rh_status rh_sidecar_check_analysed(struct rh_sidecar *sc)
{
    bool more;
    enum rh_status status = rh_db_step(sc->queries[RH_SIDECAR_QUERY_FILTERS], &more);
    if (status != RH_OK || more) {
        rh_db_reset(sc->queries[RH_SIDECAR_QUERY_FILTERS]);
        sc->next_row[RH_SIDECAR_QUERY_FILTERS] = 0;
        return status;
    }
    const char *why = sc->meta[RH_SIDECAR_META_UNANALYSED];
    return rh_fail(RH_ERR_NOT_FOUND,
                   "%s holds no candidates: the build left out the analysis of the program%s%s",
                   sc->db->name, why ? ": " : "", why ? why : "");
}
