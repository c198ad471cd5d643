/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which pairs of accesses touch different memory if pointers are what they are declared to be: a
 * second opinion on pairs that may meet, from a second points-to analysis (pointsto/views.c).
 *
 * How it works: each access gets the set of cells that the second analysis gives its pointer, in
 * all instances of its function. Two accesses are apart if no two cells of their sets meet. Where
 * the second analysis knows nothing (no cell, or memory of the outside), the first one's word
 * holds.
 */
#include <stdlib.h>

#include "analysis/pairs/internal.h"
#include "base/mem.h"

static bool is_of_outside(const struct rh_pointsto *p, uint32_t cell)
{
    return rh_pointsto_object(p, rh_pointsto_cell(p, cell)->object)->kind == RH_OBJECT_OUTSIDE;
}

/* The cells of the access, in all instances. */
static void collect(const struct rh_pointsto *p, const struct rh_access *a, struct rh_idset *out)
{
    uint32_t count, cell;
    bool is_own = rh_ir_pointer(a->inst) == a->pointer;
    uint32_t tag = is_own && a->size <= 8 ? a->inst->tag : 0;
    const uint32_t *instances = rh_pointsto_instances_of(p, a->inst->fn, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct rh_idset *all = rh_pointsto_of(p, instances[i], a->pointer);
        for (uint64_t at = 0; rh_idset_next(all, &at, &cell);)
            if (rh_pointsto_fits(p, cell, tag))
                rh_idset_add(out, cell);
    }
}

/* Sorts by block, so that two sets are gone through side by side. */
static int compare_by_block(const void *a, const void *b)
{
    const struct seen_cell *x = a, *y = b;
    if (x->block != y->block)
        return x->block < y->block ? -1 : 1;
    return (x->cell > y->cell) - (x->cell < y->cell);
}

static void make_seen(struct rh_pairs_work *w, const struct rh_idset *cells, uint64_t bytes)
{
    struct seen seen = {.bytes = bytes};
    uint32_t cell;
    rh_idset_copy(&seen.cells, cells);
    seen.list = rh_arena_array(&w->arena, struct seen_cell, rh_idset_count(cells));
    for (uint64_t at = 0; rh_idset_next(cells, &at, &cell);)
        seen.list[seen.count++] = (struct seen_cell){
            rh_pointsto_block(w->declared, rh_pointsto_cell(w->declared, cell)->object), cell};
    qsort(seen.list, seen.count, sizeof *seen.list, compare_by_block);
    rh_vec_push(&w->seen, seen);
}

enum { MOST_SEEN = 256 }; /* more cells say little, and are long to compare */

uint32_t rh_pairs_see(struct rh_pairs_work *w, const struct rh_access *a)
{
    uint64_t at, bytes = rh_pairs_bytes_of(a);
    struct rh_idset cells = RH_IDSET_INIT;
    uint32_t cell, number = NOT_SEEN;
    if (!w->declared)
        return NOT_SEEN;
    collect(w->declared, a, &cells);
    uint32_t count = rh_idset_count(&cells);
    bool is_known = count > 0 && count <= MOST_SEEN;
    for (at = 0; rh_idset_next(&cells, &at, &cell);)
        is_known &= !is_of_outside(w->declared, cell);
    if (is_known) {
        uint64_t hash = rh_idset_hash(&cells) ^ bytes * 0x9e3779b97f4a7c15u;
        while (rh_map_get(&w->seen_of, hash, &at) && number == NOT_SEEN) {
            const struct seen *known = &w->seen.data[at];
            if (known->bytes == bytes && rh_idset_equal(&known->cells, &cells))
                number = (uint32_t)at;
            hash = hash * 0x9e3779b97f4a7c15u + 1;
        }
        if (number == NOT_SEEN) {
            number = (uint32_t)w->seen.len;
            rh_map_put(&w->seen_of, hash, number);
            make_seen(w, &cells, bytes);
        }
    }
    rh_idset_release(&cells);
    return number;
}

/* Do cells of the two meet in the block where both stand? */
static bool meet_in_block(struct rh_pairs_work *w, const struct seen *a, uint32_t i,
                          const struct seen *b, uint32_t k)
{
    uint32_t block = a->list[i].block;
    for (; i < a->count && a->list[i].block == block; i++) {
        for (uint32_t at = k; at < b->count && b->list[at].block == block; at++) {
            w->seen_steps++;
            if (rh_pointsto_meet(w->declared, a->list[i].cell, a->bytes, b->list[at].cell,
                                 b->bytes))
                return true;
        }
    }
    return false;
}

static bool find_meeting(struct rh_pairs_work *w, const struct seen *a, const struct seen *b)
{
    for (uint32_t i = 0, k = 0; i < a->count && k < b->count;) {
        uint32_t x = a->list[i].block, y = b->list[k].block;
        if (x == y && meet_in_block(w, a, i, b, k))
            return true;
        w->seen_steps++;
        while (x <= y && i < a->count && a->list[i].block == x)
            i++;
        while (y <= x && k < b->count && b->list[k].block == y)
            k++;
    }
    return false;
}

/* The opinion is worth so many steps; then the first one's word holds. */
enum { MOST_STEPS = 400 * 1000 * 1000, CACHE = 1 << 18 };

bool rh_pairs_apart(struct rh_pairs_work *w, uint32_t a, uint32_t b)
{
    if (a == NOT_SEEN || b == NOT_SEEN || a == b)
        return false;
    uint32_t first = a < b ? a : b, second = a < b ? b : a;
    if (!w->apart)
        w->apart = rh_calloc(CACHE, sizeof *w->apart);
    struct known_pair *known = &w->apart[(first * 0x9e3779b1u ^ second * 0x85ebca6bu) % CACHE];
    if ((known->first != first || known->second != second) && w->seen_steps < MOST_STEPS)
        *known = (struct known_pair){first, second,
                                     !find_meeting(w, &w->seen.data[first], &w->seen.data[second])};
    return known->first == first && known->second == second && known->apart;
}

void rh_pairs_release_seen(struct rh_pairs_work *w)
{
    rh_vec_each (struct seen, seen, &w->seen)
        rh_idset_release(&seen->cells);
    rh_vec_free(&w->seen);
    rh_map_release(&w->seen_of);
    free(w->apart);
}
