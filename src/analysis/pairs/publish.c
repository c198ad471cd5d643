/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which objects have their address given away without order: by a store that itself races, or by an
 * atomic weaker than release and acquire. See pairs.h.
 */
#include "analysis/pairs/internal.h"

static bool mark_racing(struct rh_pairs_work *w, const struct rh_idset *cells)
{
    bool grew = false;
    uint32_t cell;
    for (uint64_t at = 0; rh_idset_next(cells, &at, &cell);)
        grew |= rh_bitset_set(&w->racing, rh_pointsto_cell(w->pointsto, cell)->object);
    return grew;
}

/* Atomics that order what was done before with what is done after: release by the writer, acquire
 * by the reader. */
static bool hands_over_in_order(const struct rh_access *a)
{
    bool release = a->order == RH_MO_RELEASE || a->order >= RH_MO_ACQ_REL;
    bool acquire = a->order == RH_MO_ACQUIRE || a->order >= RH_MO_ACQ_REL;
    switch (a->kind) {
    case RH_ACCESS_ATOMIC_READ:
        return acquire;
    case RH_ACCESS_ATOMIC_WRITE:
        return release;
    default:
        return release && acquire;
    }
}

/* What a store gives away is what it stores. */
static bool mark_stored(struct rh_pairs_work *w, const struct rh_value *store)
{
    bool grew = false;
    uint32_t count;
    const uint32_t *instances = rh_pointsto_instances_of(w->pointsto, store->fn, &count);
    for (uint32_t i = 0; i < count; i++)
        grew |= mark_racing(w, rh_pointsto_of(w->pointsto, instances[i], store->ops[0]));
    return grew;
}

/* What a class of other accesses gives away is whatever the memory may hold. */
static bool mark_held(struct rh_pairs_work *w, const struct class_info *info)
{
    bool grew = false;
    for (uint32_t i = 0; i < info->fact_count; i++) {
        uint32_t cell, object;
        const struct rh_idset *objects = &w->objects.data[info->facts[i].objects];
        for (uint64_t at = 0; info->facts[i].vague && rh_idset_next(objects, &at, &object);) {
            struct rh_idset held = RH_IDSET_INIT;
            if (!rh_bitset_set(&w->emptied, object))
                continue;
            rh_pointsto_contents(w->pointsto, object, &held);
            grew |= mark_racing(w, &held);
            rh_idset_release(&held);
        }
        if (info->facts[i].vague)
            continue;
        for (uint64_t at = 0; rh_idset_next(&w->cells.data[info->facts[i].cells], &at, &cell);) {
            struct rh_idset held = RH_IDSET_INIT;
            rh_pointsto_held(w->pointsto, cell, rh_pairs_bytes_of(info->access), &held);
            grew |= mark_racing(w, &held);
            rh_idset_release(&held);
        }
    }
    return grew;
}

static bool mark_published(struct rh_pairs_work *w, uint32_t klass)
{
    bool grew = false, others = false;
    rh_vec_each (uint32_t, member, &w->out->classes.data[klass].members) {
        const struct rh_value *inst = w->accesses->all.data[*member].inst;
        if (inst->op == RH_OP_STORE)
            grew |= mark_stored(w, inst);
        else
            others = true;
    }
    return (others && mark_held(w, &w->infos.data[klass])) || grew;
}

bool rh_pairs_find_racing(struct rh_pairs_work *w)
{
    bool grew = false;
    for (uint32_t i = 0; i < w->out->classes.len; i++) {
        const struct rh_access_class *c = &w->out->classes.data[i];
        const struct rh_access *first = w->infos.data[i].access;
        bool weak = rh_access_is_atomic(first) && !hands_over_in_order(first);
        if (!weak && !(c->is_candidate && rh_access_writes(first)))
            continue;
        if (rh_bitset_set(&w->told, i))
            grew |= mark_published(w, i);
    }
    return grew;
}
