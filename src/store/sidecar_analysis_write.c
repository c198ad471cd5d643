/* Writes the tables of the analysis into a sidecar, and keeps them sound while they are made. */
#include "store/sidecar_analysis.h"

#include "base/packed.h"
#include "store/sidecar_internal.h"

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
