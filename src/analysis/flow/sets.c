/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of threads and of cells, each with a number, for the flow analysis. */
#include "analysis/flow/internal.h"

#include "base/mem.h"

void flow_sets_init(struct flow_sets *s)
{
    flow_set_intern(s, &(struct rh_idset)RH_IDSET_INIT);
}

void flow_sets_release(struct flow_sets *s)
{
    rh_vec_each (struct rh_idset *, set, &s->all) {
        rh_idset_release(*set);
        free(*set);
    }
    rh_vec_free(&s->all);
    rh_vec_free(&s->next);
    rh_map_release(&s->first);
    rh_map_release(&s->unions);
}

uint32_t flow_set_intern(struct flow_sets *s, const struct rh_idset *set)
{
    uint64_t hash = rh_idset_hash(set), first = FLOW_NONE;
    rh_map_get(&s->first, hash, &first);
    for (uint32_t i = (uint32_t)first; i != FLOW_NONE; i = s->next.data[i])
        if (rh_idset_equal(s->all.data[i], set))
            return i;
    struct rh_idset *own = rh_calloc(1, sizeof *own);
    uint32_t id = (uint32_t)s->all.len;
    rh_idset_copy(own, set);
    rh_vec_push(&s->all, own);
    rh_vec_push(&s->next, (uint32_t)first);
    rh_map_put(&s->first, hash, id);
    return id;
}

const struct rh_idset *flow_set(const struct flow_sets *s, uint32_t id)
{
    return s->all.data[id];
}

uint32_t flow_set_unite(struct flow_sets *s, uint32_t a, uint32_t b)
{
    uint64_t known;
    if (a == b || b == 0)
        return a;
    if (a == 0)
        return b;
    uint64_t key = a < b ? flow_pair(a, b) : flow_pair(b, a);
    if (rh_map_get(&s->unions, key, &known))
        return (uint32_t)known;
    struct rh_idset both = RH_IDSET_INIT;
    rh_idset_copy(&both, s->all.data[a]);
    rh_idset_unite(&both, s->all.data[b]);
    uint32_t id = flow_set_intern(s, &both);
    rh_idset_release(&both);
    rh_map_put(&s->unions, key, id);
    return id;
}

/* --- cells --- */

uint32_t flow_cells_unite(struct rh_flow *f, uint32_t a, uint32_t b)
{
    if (a == FLOW_ANY || b == FLOW_ANY)
        return FLOW_ANY;
    return flow_set_unite(&f->cell_sets, a, b);
}

/* A global that no pointer points to is reached by its name alone. Points-to has no cells for it,
 * so it gets a number beyond those of cells. */
#define ONLY_NAMED 0x80000000u

static bool is_only_named(const struct rh_flow *f, uint32_t instance, const struct rh_value *v)
{
    return v->kind == RH_VALUE_GLOBAL && !v->global->is_declaration &&
           (v->global->is_local || !f->is_library) &&
           rh_idset_is_empty(rh_pointsto_of(f->pointsto, instance, v));
}

uint32_t flow_cells_of(struct rh_flow *f, uint32_t instance, struct rh_value *pointer)
{
    const struct rh_idset *cells = rh_pointsto_of(f->pointsto, instance, pointer);
    if (!rh_idset_is_empty(cells))
        return flow_set_intern(&f->cell_sets, cells);
    const struct rh_value *base = rh_ir_base(pointer, NULL, NULL);
    /* What points to nothing we know may point anywhere. */
    if (!is_only_named(f, instance, base))
        return FLOW_ANY;
    struct rh_idset own = RH_IDSET_INIT;
    rh_idset_add(&own, ONLY_NAMED | base->id);
    uint32_t out = flow_set_intern(&f->cell_sets, &own);
    rh_idset_release(&own);
    return out;
}

static bool comes_from_outside(const struct rh_flow *f, const struct rh_idset *cells)
{
    uint32_t cell;
    for (uint64_t at = 0; rh_idset_next(cells, &at, &cell) && cell < ONLY_NAMED;) {
        uint32_t object = rh_pointsto_cell(f->pointsto, cell)->object;
        if (rh_pointsto_object(f->pointsto, object)->kind == RH_OBJECT_OUTSIDE)
            return true;
    }
    return false;
}

bool flow_cells_overlap(const struct rh_flow *f, const struct rh_idset *a, uint64_t a_size,
                        const struct rh_idset *b, uint64_t b_size)
{
    enum { MOST_PAIRS = 1000000 };
    uint32_t i, k;
    uint64_t pairs = 0;
    if (rh_idset_meets(a, b))
        return true;
    /* A pointer from outside may point to whatever is known there. */
    if ((comes_from_outside(f, a) && flow_touches_outside(f, b)) ||
        (comes_from_outside(f, b) && flow_touches_outside(f, a)))
        return true;
    for (uint64_t at = 0; rh_idset_next(a, &at, &i) && i < ONLY_NAMED;) {
        const struct rh_cell *cell = rh_pointsto_cell(f->pointsto, i);
        for (uint64_t other = 0; rh_idset_next(b, &other, &k) && k < ONLY_NAMED;)
            if (rh_cells_overlap(cell, a_size, rh_pointsto_cell(f->pointsto, k), b_size) ||
                ++pairs > MOST_PAIRS)
                return true;
    }
    return false;
}

bool flow_touches_outside(const struct rh_flow *f, const struct rh_idset *cells)
{
    uint32_t cell;
    for (uint64_t at = 0; rh_idset_next(cells, &at, &cell) && cell < ONLY_NAMED;) {
        uint32_t object = rh_pointsto_cell(f->pointsto, cell)->object;
        if (rh_bitset_test(&f->outside_objects, object) ||
            rh_pointsto_object(f->pointsto, object)->kind == RH_OBJECT_OUTSIDE)
            return true;
    }
    return false;
}

static bool may_meet(struct rh_flow *f, uint32_t a, uint32_t b)
{
    uint64_t known;
    uint64_t key = a < b ? flow_pair(a, b) : flow_pair(b, a);
    if (a == 0 || b == 0)
        return false;
    if (a == FLOW_ANY || b == FLOW_ANY)
        return true;
    if (rh_map_get(&f->cells_meet, key, &known))
        return known;
    bool meet = flow_cells_overlap(f, flow_set(&f->cell_sets, a), 1, flow_set(&f->cell_sets, b), 1);
    rh_map_put(&f->cells_meet, key, meet);
    return meet;
}

bool flow_is_released(struct rh_flow *f, uint32_t cells, const struct flow_release *r)
{
    if (r->outside &&
        (cells == FLOW_ANY || flow_touches_outside(f, flow_set(&f->cell_sets, cells))))
        return true;
    return may_meet(f, cells, r->cells);
}

void flow_release_unite(struct rh_flow *f, struct flow_release *to, const struct flow_release *from)
{
    to->cells = flow_cells_unite(f, to->cells, from->cells);
    to->outside |= from->outside;
}
