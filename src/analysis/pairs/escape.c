/* SPDX-License-Identifier: Apache-2.0 */
/* Which objects are reachable by several threads: see escape.h. */
#include "analysis/pairs/escape.h"

#include <stdlib.h>

#include "analysis/flow/fresh.h"
#include "base/bitset.h"
#include "base/mem.h"
#include "base/vec.h"

struct rh_escape {
    const struct rh_pointsto *pointsto;
    struct rh_bitset shared;
    RH_VEC(uint32_t) work;
    struct rh_fresh *fresh;
};

static void share_object(struct rh_escape *s, uint32_t object)
{
    if (rh_bitset_set(&s->shared, object))
        rh_vec_push(&s->work, object);
}

static void share_cells(struct rh_escape *s, const struct rh_idset *cells)
{
    uint32_t cell;
    for (uint64_t at = 0; rh_idset_next(cells, &at, &cell);)
        share_object(s, rh_pointsto_cell(s->pointsto, cell)->object);
}

static void share_roots(struct rh_escape *s)
{
    for (uint32_t i = 0; i < rh_pointsto_object_count(s->pointsto); i++) {
        enum rh_object_kind kind = rh_pointsto_object(s->pointsto, i)->kind;
        if (kind == RH_OBJECT_GLOBAL || kind == RH_OBJECT_LIBRARY || kind == RH_OBJECT_OUTSIDE)
            share_object(s, i);
    }
    share_cells(s, rh_pointsto_outside(s->pointsto));
    share_cells(s, rh_pointsto_kept(s->pointsto));
    share_cells(s, rh_pointsto_sent(s->pointsto));
}

/* What a thread's first function is called with. */
static void share_arguments(struct rh_escape *s, uint32_t instance)
{
    const struct rh_function *fn = rh_pointsto_instance(s->pointsto, instance)->fn;
    for (uint32_t i = 0; i < fn->arg_count; i++)
        share_cells(s, rh_pointsto_of(s->pointsto, instance, fn->args[i]));
}

static void share_starts(struct rh_escape *s, uint32_t instance)
{
    const struct rh_function *fn = rh_pointsto_instance(s->pointsto, instance)->fn;
    for (uint32_t b = 0; b < fn->block_count; b++) {
        for (struct rh_value *v = fn->blocks[b]->first; v; v = v->next) {
            uint32_t count = 0;
            const uint32_t *entries =
                v->callee ? rh_pointsto_entries(s->pointsto, instance, v, &count) : NULL;
            for (uint32_t i = 0; i < count; i++)
                share_arguments(s, entries[i]);
        }
    }
}

struct rh_escape *rh_escape_find(struct rh_module *m, const struct rh_pointsto *p)
{
    struct rh_escape *s = rh_calloc(1, sizeof *s);
    struct rh_idset contents = RH_IDSET_INIT;
    s->pointsto = p;
    share_roots(s);
    for (uint32_t i = 0; i < rh_pointsto_instance_count(p); i++)
        share_starts(s, i);
    while (s->work.len) {
        rh_idset_clear(&contents);
        rh_pointsto_contents(p, rh_vec_pop(&s->work), &contents);
        share_cells(s, &contents);
    }
    rh_idset_release(&contents);
    s->fresh = rh_fresh_find(m);
    return s;
}

void rh_escape_free(struct rh_escape *s)
{
    if (!s)
        return;
    rh_fresh_free(s->fresh);
    rh_bitset_release(&s->shared);
    rh_vec_free(&s->work);
    free(s);
}

bool rh_escape_is_shared(const struct rh_escape *s, uint32_t object)
{
    return rh_bitset_test(&s->shared, object);
}

const struct rh_fresh *rh_escape_fresh(const struct rh_escape *s)
{
    return s->fresh;
}

bool rh_escape_is_fresh(const struct rh_escape *s, const struct rh_value *inst,
                        struct rh_value *pointer)
{
    return rh_fresh_at(s->fresh, inst, pointer);
}
