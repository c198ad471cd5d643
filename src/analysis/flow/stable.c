/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which memory does not change while several threads run, for the flow analysis.
 *
 * Memory is stable if everything that writes it does so while the main thread is alone, or into a
 * block that nobody else knows yet. From the moment that another thread can look, it stays as it is
 * until the main thread is alone again.
 */
#include "analysis/flow/internal.h"

#include "base/mem.h"

/* --- which writes make memory unstable --- */

static bool runs_alone(const struct rh_flow *f, const struct flow_write *w)
{
    uint32_t count;
    const struct rh_occurrence *all = rh_flow_occurrences(f, w->instance, w->inst, &count);
    for (uint32_t i = 0; i < count; i++)
        if (all[i].thread != 0 || all[i].alive != 0)
            return false;
    return true;
}

/* Reading through a pointer that only may be the block's would not be seen to be early. */
static bool is_merged_with_others(const struct rh_value *v, uint32_t steps)
{
    for (uint32_t i = 0; i < v->user_count; i++) {
        const struct rh_value *user = v->users[i];
        if (user->kind != RH_VALUE_INST)
            continue;
        if (user->op == RH_OP_PHI || user->op == RH_OP_SELECT)
            return true;
        if ((user->op == RH_OP_GEP || user->op == RH_OP_BITCAST) &&
            (steps == 0 || is_merged_with_others(user, steps - 1)))
            return true;
    }
    return false;
}

static bool is_unpublished(const struct rh_flow *f, const struct flow_write *w)
{
    enum { MOST_STEPS = 6 };
    if (!w->pointer)
        return false;
    struct rh_value *base = rh_ir_base(w->pointer, NULL, NULL);
    return base->kind == RH_VALUE_INST && base->callee &&
           rh_fresh_at(f->fresh, w->inst, w->pointer) && !is_merged_with_others(base, MOST_STEPS);
}

static void add_unstable(struct rh_flow *f, const struct flow_write *w, struct rh_map *seen)
{
    uint32_t cell, object;
    for (uint64_t at = 0; w->objects && rh_idset_next(w->objects, &at, &object);)
        rh_bitset_set(&f->unstable_objects, object);
    for (uint64_t at = 0; !w->objects && rh_idset_next(w->cells, &at, &cell);) {
        uint64_t size = w->size < 256 ? w->size : 0;
        if (!rh_map_put(seen, (uint64_t)cell << 8 | size, 0))
            continue;
        object = rh_pointsto_cell(f->pointsto, cell)->object;
        rh_vec_push(&f->unstable[object], (struct flow_unstable){cell, size});
    }
}

void flow_find_unstable(struct rh_flow *f)
{
    struct rh_map seen = RH_MAP_INIT, done = RH_MAP_INIT;
    struct unstable_list *all =
        rh_calloc(rh_pointsto_object_count(f->pointsto) + (size_t)1, sizeof *all);
    f->unstable = all;
    rh_vec_each (struct flow_write, w, &f->writes) {
        uint64_t known, key = rh_map_key(w->objects ? w->objects : w->cells);
        uint64_t size = w->size < 256 ? w->size : 0;
        /* The same set with the same size has been entered already. */
        if (rh_map_get(&done, key, &known) && known == size)
            continue;
        if (runs_alone(f, w) || is_unpublished(f, w))
            continue;
        add_unstable(f, w, &seen);
        rh_map_put(&done, key, size);
    }
    rh_map_release(&seen);
    rh_map_release(&done);
}

static bool is_cell_stable(const struct rh_flow *f, uint32_t id, uint64_t size)
{
    const struct rh_cell *cell = rh_pointsto_cell(f->pointsto, id);
    const struct rh_object *o = rh_pointsto_object(f->pointsto, cell->object);
    if ((o->kind != RH_OBJECT_GLOBAL && o->kind != RH_OBJECT_HEAP && o->kind != RH_OBJECT_STACK) ||
        rh_bitset_test(&f->outside_objects, cell->object) ||
        rh_bitset_test(&f->unstable_objects, cell->object))
        return false;
    const struct unstable_list *list = &f->unstable[cell->object];
    for (size_t i = 0; i < list->len; i++)
        if (rh_cells_overlap(cell, size, rh_pointsto_cell(f->pointsto, list->data[i].cell),
                             list->data[i].size))
            return false;
    return true;
}

bool flow_is_stable(struct rh_flow *f, uint32_t instance, const struct rh_value *load)
{
    uint64_t known, key = flow_pair(instance, load->id);
    uint32_t cell;
    if (!f->unstable || load->op != RH_OP_LOAD)
        return false;
    if (rh_map_get(&f->stable, key, &known))
        return known;
    const struct rh_idset *cells = rh_pointsto_of(f->pointsto, instance, load->ops[0]);
    bool stable = !rh_idset_is_empty(cells);
    for (uint64_t at = 0; stable && rh_idset_next(cells, &at, &cell);)
        stable = is_cell_stable(f, cell, load->access->size);
    rh_map_put(&f->stable, key, stable);
    return stable;
}

void flow_stable_release(struct rh_flow *f)
{
    for (uint32_t i = 0; f->unstable && i < rh_pointsto_object_count(f->pointsto); i++)
        rh_vec_free(&f->unstable[i]);
    free(f->unstable);
    rh_map_release(&f->stable);
    rh_bitset_release(&f->unstable_objects);
}
