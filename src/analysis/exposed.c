/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses that may race with another image alone: see exposed.h. */
#include "analysis/exposed.h"

/* Of the reasons why an access is no site, those that another image may undo. */
static bool may_be_undone(enum rh_skip skip)
{
    return skip == RH_SKIP_DECLARED || skip == RH_SKIP_OWN || skip == RH_SKIP_ONLY_READ ||
           skip == RH_SKIP_NOT_PARALLEL || skip == RH_SKIP_GUARDED || skip == RH_SKIP_ATOMIC;
}

/* A variable that other images can name, though this one hands them nothing. */
static bool is_named(const struct rh_object *o)
{
    const struct rh_global *g = o->kind == RH_OBJECT_GLOBAL ? o->value->global : NULL;
    return g && !g->is_local && !g->is_thread_local;
}

static bool is_known_outside(const struct rh_pointsto *p, const struct rh_idset *cells)
{
    uint32_t cell;
    for (uint64_t at = 0; rh_idset_next(cells, &at, &cell);) {
        uint32_t object = rh_pointsto_cell(p, cell)->object;
        const struct rh_object *o = rh_pointsto_object(p, object);
        if (o->kind == RH_OBJECT_FUNCTION || o->is_const)
            continue;
        if (o->kind == RH_OBJECT_OUTSIDE || rh_pointsto_is_outside(p, object) || is_named(o))
            return true;
    }
    return false;
}

static bool is_exposed(const struct rh_analysis *analysis, const struct rh_access *a)
{
    uint32_t count;
    if (!may_be_undone(a->skip) || !a->pointer ||
        rh_escape_is_fresh(analysis->escape, a->inst, a->pointer))
        return false;
    const uint32_t *instances = rh_pointsto_instances_of(analysis->pointsto, a->inst->fn, &count);
    for (uint32_t i = 0; i < count; i++)
        if (is_known_outside(analysis->pointsto,
                             rh_pointsto_of(analysis->pointsto, instances[i], a->pointer)))
            return true;
    return false;
}

uint64_t rh_exposed_mark(struct rh_analysis *analysis)
{
    uint64_t marked = 0;
    rh_vec_each (struct rh_access, a, &analysis->accesses.all) {
        if (!is_exposed(analysis, a))
            continue;
        analysis->accesses.skipped[a->skip]--;
        a->skip = RH_SKIP_COUNT;
        marked++;
    }
    return marked;
}
