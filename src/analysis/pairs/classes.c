/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts accesses into classes that no filter can tell apart: see pairs.h. */
#include <string.h>

#include "analysis/pairs/internal.h"
#include "base/hash.h"
#include "base/mem.h"

/* --- interning --- */

/* The number under which `hash` is filed, or a fresh one: asks `same` about each that collides. */
static uint32_t intern(struct rh_map *map, uint64_t hash, uint32_t fresh,
                       bool (*same)(const struct rh_pairs_work *w, uint32_t at, const void *item),
                       const struct rh_pairs_work *w, const void *item)
{
    uint64_t at;
    while (rh_map_get(map, hash, &at)) {
        if (same(w, (uint32_t)at, item))
            return (uint32_t)at;
        hash = hash * 0x9e3779b97f4a7c15u + 1;
    }
    rh_map_put(map, hash, fresh);
    return fresh;
}

static bool same_cells(const struct rh_pairs_work *w, uint32_t at, const void *item)
{
    return rh_idset_equal(&w->cells.data[at], item);
}

static uint32_t intern_cells(struct rh_pairs_work *w, struct rh_idset *cells)
{
    uint32_t fresh = (uint32_t)w->cells.len;
    uint32_t at = intern(&w->cells_of, rh_idset_hash(cells), fresh, same_cells, w, cells);
    if (at == fresh) {
        rh_vec_push(&w->cells, (struct rh_idset){0});
        rh_idset_swap(&rh_vec_last(&w->cells), cells);
    }
    return at;
}

static bool same_objects(const struct rh_pairs_work *w, uint32_t at, const void *item)
{
    return rh_idset_equal(&w->objects.data[at], item);
}

static uint32_t intern_objects(struct rh_pairs_work *w, const struct rh_idset *cells)
{
    struct rh_idset objects = RH_IDSET_INIT;
    uint32_t cell, fresh = (uint32_t)w->objects.len;
    for (uint64_t at = 0; rh_idset_next(cells, &at, &cell);)
        rh_idset_add(&objects, rh_pointsto_cell(w->pointsto, cell)->object);
    if (rh_idset_count(&objects) > MANY_OBJECTS) {
        rh_idset_unite(&w->objects.data[MANY], &objects);
        rh_idset_release(&objects);
        return MANY;
    }
    uint32_t at = intern(&w->objects_of, rh_idset_hash(&objects), fresh, same_objects, w, &objects);
    if (at == fresh) {
        rh_vec_push(&w->objects, (struct rh_idset){0});
        rh_idset_swap(&rh_vec_last(&w->objects), &objects);
    }
    rh_idset_release(&objects);
    return at;
}

static bool same_ways(const struct rh_pairs_work *w, uint32_t at, const void *item)
{
    const struct ways *a = &w->ways.data[at], *b = item;
    return a->count == b->count && memcmp(a->list, b->list, a->count * sizeof *a->list) == 0;
}

static uint32_t intern_ways(struct rh_pairs_work *w, uint32_t instance, const struct rh_value *inst)
{
    struct ways ways;
    ways.list = rh_flow_occurrences(w->flow, instance, inst, &ways.count);
    uint64_t hash = rh_hash_bytes(ways.list, ways.count * sizeof *ways.list);
    uint32_t fresh = (uint32_t)w->ways.len;
    uint32_t at = intern(&w->ways_of, hash, fresh, same_ways, w, &ways);
    if (at == fresh) {
        struct rh_occurrence *own = rh_arena_array(&w->arena, struct rh_occurrence, ways.count);
        if (ways.count)
            memcpy(own, ways.list, ways.count * sizeof *own);
        ways.list = own;
        rh_vec_push(&w->ways, ways);
    }
    return at;
}

static bool holds_locks(const struct rh_pairs_work *w, uint32_t ways)
{
    for (uint32_t i = 0; i < w->ways.data[ways].count; i++) {
        uint32_t count;
        rh_flow_locks(w->flow, w->ways.data[ways].list[i].locks, &count);
        if (count)
            return true;
    }
    return false;
}

/* --- facts: one access in one instance --- */

/* The type tag of an access; 0 if it is of no single scalar. */
static uint32_t tag_of(const struct rh_access *a)
{
    enum { WORD = 8 };
    bool single = rh_ir_pointer(a->inst) == a->pointer && a->size && a->size <= WORD;
    return single ? a->inst->tag : 0;
}

/* The cells of shared objects among those that the access may touch. */
static void keep_shared(const struct rh_pairs_work *w, const struct rh_idset *all, uint32_t tag,
                        struct rh_idset *out)
{
    uint32_t cell;
    for (uint64_t at = 0; rh_idset_next(all, &at, &cell);) {
        const struct rh_cell *c = rh_pointsto_cell(w->pointsto, cell);
        const struct rh_object *o = rh_pointsto_object(w->pointsto, c->object);
        if (!rh_pointsto_fits(w->pointsto, cell, tag))
            continue;
        if (o->kind != RH_OBJECT_FUNCTION && !o->is_const && o->value != NULL &&
            rh_escape_is_shared(w->escape, c->object))
            rh_idset_add(out, cell);
        else if (o->kind == RH_OBJECT_OUTSIDE)
            rh_idset_add(out, cell);
    }
}

/* Facts of one access; the reason if there is none. */
static enum rh_skip collect_facts(struct rh_pairs_work *w, const struct rh_access *a)
{
    uint32_t count;
    const uint32_t *instances = rh_pointsto_instances_of(w->pointsto, a->inst->fn, &count);
    enum rh_skip why = RH_SKIP_NEVER_RUN;
    rh_vec_clear(&w->facts_now);
    w->fresh_now = rh_escape_is_fresh(w->escape, a->inst, a->pointer);
    w->vague_now = false;
    w->librarys_now = w->trusts_library && rh_pairs_is_librarys(a);
    w->seen_now = rh_pairs_see(w, a);
    for (uint32_t i = 0; i < count; i++) {
        const struct rh_idset *all = rh_pointsto_of(w->pointsto, instances[i], a->pointer);
        struct rh_idset shared = RH_IDSET_INIT;
        uint32_t ways = intern_ways(w, instances[i], a->inst);
        if (!w->ways.data[ways].count)
            continue;
        keep_shared(w, all, tag_of(a), &shared);
        if (rh_idset_is_empty(&shared)) {
            if (why != RH_SKIP_ONE_THREAD)
                why = rh_idset_is_empty(all) ? RH_SKIP_NO_OBJECT : RH_SKIP_ONE_THREAD;
        } else {
            struct fact fact = {.instance = instances[i], .ways = ways};
            fact.objects = intern_objects(w, &shared);
            fact.vague = rh_idset_count(&shared) > VAGUE_CELLS;
            if (!fact.vague)
                fact.cells = intern_cells(w, &shared);
            w->vague_now |= fact.vague;
            rh_vec_push(&w->facts_now, fact);
        }
        rh_idset_release(&shared);
    }
    return w->facts_now.len ? RH_SKIP_COUNT : why;
}

/* --- classes --- */

/* Does it matter which of the accesses with the same facts it is: for the names of the locks that
 * it holds, and for what threads own? What is vague is never found to be either. */
static bool is_particular(const struct rh_pairs_work *w, const struct rh_access *a)
{
    if (w->vague_now)
        return false;
    if (rh_perthread_knows(w->perthread, a))
        return true;
    rh_vec_each (const struct fact, fact, &w->facts_now)
        if (holds_locks(w, fact->ways))
            return true;
    return false;
}

enum { CLASS_FLAGS = RH_SITE_SIZED | RH_SITE_AT_LEAST | RH_SITE_VOLATILE };

static uint64_t hash_class(const struct rh_pairs_work *w, const struct rh_access *a)
{
    struct rh_hash h;
    rh_hash_init(&h);
    rh_hash_add_u64(&h, a->kind);
    rh_hash_add_u64(&h, tag_of(a));
    rh_hash_add_u64(&h, w->vague_now ? 0 : a->size);
    rh_hash_add_u64(&h, w->vague_now ? 0 : a->flags & CLASS_FLAGS);
    rh_hash_add_u64(&h, w->fresh_now);
    rh_hash_add_u64(&h, w->librarys_now);
    rh_hash_add_u64(&h, w->seen_now);
    rh_vec_each (struct fact, fact, &w->facts_now) {
        rh_hash_add_u64(&h, fact->vague ? 0 : fact->cells + (uint64_t)1);
        rh_hash_add_u64(&h, fact->objects);
        rh_hash_add_u64(&h, fact->ways);
    }
    rh_hash_add_u64(&h, is_particular(w, a) ? a->inst->id + (uint64_t)1 : 0);
    return rh_hash_finish(&h);
}

static bool is_same_class(const struct rh_pairs_work *w, uint32_t at, const void *item)
{
    const struct rh_access *a = item, *b = w->infos.data[at].access;
    const struct class_info *info = &w->infos.data[at];
    if (a->kind != b->kind || tag_of(a) != info->tag || info->fact_count != w->facts_now.len ||
        info->fresh != w->fresh_now || info->vague != w->vague_now ||
        info->librarys != w->librarys_now || info->seen != w->seen_now)
        return false;
    if (!info->vague && (a->size != b->size || (a->flags ^ b->flags) & CLASS_FLAGS))
        return false;
    for (uint32_t i = 0; i < info->fact_count; i++) {
        const struct fact *x = &info->facts[i], *y = &w->facts_now.data[i];
        if (x->vague != y->vague || x->objects != y->objects || x->ways != y->ways ||
            (!x->vague && x->cells != y->cells))
            return false;
    }
    return a->inst == b->inst || !is_particular(w, a);
}

void rh_pairs_classify(struct rh_pairs_work *w, uint32_t number)
{
    struct rh_access *a = &w->accesses->all.data[number];
    w->out->class_of[number] = NO_CLASS;
    if (a->skip != RH_SKIP_COUNT || !a->pointer)
        return;
    a->skip = collect_facts(w, a);
    if (a->skip != RH_SKIP_COUNT)
        return;
    uint32_t fresh = (uint32_t)w->infos.len;
    uint32_t at = intern(&w->class_of, hash_class(w, a), fresh, is_same_class, w, a);
    if (at == fresh) {
        struct class_info info = {.access = a,
                                  .tag = tag_of(a),
                                  .writes = rh_access_writes(a),
                                  .librarys = w->librarys_now,
                                  .seen = w->seen_now,
                                  .fresh = w->fresh_now,
                                  .vague = w->vague_now,
                                  .fact_count = (uint32_t)w->facts_now.len};
        if (info.vague)
            rh_vec_push(&w->vague, at);
        info.facts = rh_arena_array(&w->arena, struct fact, info.fact_count);
        memcpy(info.facts, w->facts_now.data, info.fact_count * sizeof *info.facts);
        rh_vec_push(&w->infos, info);
        rh_vec_push(&w->out->classes, (struct rh_access_class){.closest = RH_PAIR_COUNT});
    }
    rh_vec_push(&w->out->classes.data[at].members, number);
    w->out->class_of[number] = at;
}
