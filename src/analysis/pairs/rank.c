/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the reasons for the score of each group of candidates (candidate/score.h), and sorts the
 * groups by it.
 */
#include <stdlib.h>

#include "analysis/flow/spin.h"
#include "analysis/pairs/internal.h"
#include "base/mem.h"

/* What the rank of a class's pairs goes by. */
enum trait {
    WRITES = 1,
    WRITES_POINTER = 2,
    UPDATES = 4, /* x++, x |= 1 */
    ATOMIC = 8,
    LOCKED = 16,
    VOLATILE = 32,
    VAGUE = 64,
    WAITS = 128, /* in a loop, for another's write */
};

/* --- reasons --- */

/* In which class a trait must be for a reason to hold. */
enum where { IN_EITHER, IN_BOTH, IN_ONE, OF_OBJECT };

static const struct condition {
    enum where where;
    uint32_t what; /* enum trait, or enum rh_object_kind */
} conditions[] = {
    [RH_REASON_WAITS] = {IN_EITHER, WAITS},
    [RH_REASON_POINTER_WRITTEN] = {IN_EITHER, WRITES_POINTER},
    [RH_REASON_UPDATE] = {IN_EITHER, UPDATES},
    [RH_REASON_ONE_LOCKED] = {IN_ONE, LOCKED},
    [RH_REASON_ONE_ATOMIC] = {IN_ONE, ATOMIC},
    [RH_REASON_EXACT] = {OF_OBJECT, RH_OBJECT_GLOBAL},
    [RH_REASON_BOTH_WRITE] = {IN_BOTH, WRITES},
    [RH_REASON_BOTH_VOLATILE] = {IN_BOTH, VOLATILE},
    [RH_REASON_OUTSIDE] = {OF_OBJECT, RH_OBJECT_OUTSIDE},
    [RH_REASON_VAGUE] = {IN_EITHER, VAGUE},
};
_Static_assert(sizeof conditions / sizeof conditions[0] == RH_REASON_COUNT,
               "every reason has its condition");

static bool holds(const struct rh_pairs_work *w, const struct condition *condition, uint8_t a,
                  uint8_t b, uint32_t object)
{
    switch (condition->where) {
    case IN_EITHER:
        return (a | b) & condition->what;
    case IN_BOTH:
        return a & b & condition->what;
    case IN_ONE:
        return (a ^ b) & condition->what;
    default:
        return object != RH_MANY_OBJECTS &&
               rh_pointsto_object(w->pointsto, object)->kind == condition->what;
    }
}

/* --- traits --- */

/* A store of something computed from a load of the same place. */
static bool updates(const struct rh_access *a)
{
    const struct rh_value *store = a->inst;
    if (store->op != RH_OP_STORE || store->ops[0]->kind != RH_VALUE_INST)
        return false;
    const struct rh_value *sum = store->ops[0];
    for (uint32_t i = 0; i < sum->op_count; i++) {
        const struct rh_value *v = sum->ops[i];
        if (v->kind == RH_VALUE_INST && v->op == RH_OP_LOAD && v->ops[0] == a->pointer)
            return true;
    }
    return false;
}

/* On every way: the description has the one with the fewest locks. */
static bool is_locked(const struct rh_pairs_work *w, const struct class_info *c)
{
    for (uint32_t f = 0; f < c->fact_count; f++) {
        const struct ways *ways = &w->ways.data[c->facts[f].ways];
        for (uint32_t i = 0; i < ways->count; i++) {
            uint32_t count;
            rh_flow_locks(w->flow, ways->list[i].locks, &count);
            if (!count)
                return false;
        }
    }
    return c->fact_count > 0;
}

static bool waits(const struct rh_pairs *c, uint32_t klass)
{
    rh_vec_each (uint32_t, member, &c->classes.data[klass].members)
        if (!rh_bitset_test(&c->work->waiting, *member))
            return false;
    return true;
}

static uint8_t traits_of(const struct rh_pairs *c, uint32_t klass)
{
    const struct class_info *info = &c->work->infos.data[klass];
    const struct rh_access *a = info->access;
    bool is_store = a->inst->op == RH_OP_STORE;
    int traits = 0;
    if (!c->classes.data[klass].is_candidate)
        return 0;
    traits |= rh_access_writes(a) ? WRITES : 0;
    traits |= is_store && a->inst->ops[0]->type->kind == RH_TYPE_PTR ? WRITES_POINTER : 0;
    traits |= updates(a) ? UPDATES : 0;
    traits |= rh_access_is_atomic(a) ? ATOMIC : 0;
    traits |= is_locked(c->work, info) ? LOCKED : 0;
    traits |= a->flags & RH_SITE_VOLATILE ? VOLATILE : 0;
    traits |= info->vague ? VAGUE : 0;
    traits |= waits(c, klass) ? WAITS : 0;
    return (uint8_t)traits;
}

/* --- ranking --- */

static void rank_group(const struct rh_pairs_work *w, struct rh_group *g, uint8_t a, uint8_t b)
{
    int held = a & b & LOCKED ? RH_REASONS_BOTH_LOCKED : 0;
    /* Of many objects the one that was found first says nothing. */
    if ((a | b) & VAGUE)
        g->object = RH_MANY_OBJECTS;
    for (int i = 0; i < RH_REASON_COUNT; i++)
        held |= holds(w, &conditions[i], a, b, g->object) ? 1 << i : 0;
    g->reasons = (uint16_t)held;
    g->score = (uint8_t)rh_score_group(g->reasons);
}

bool rh_pairs_say_the_same(const struct rh_group *a, const struct rh_group *b)
{
    return a->score == b->score && a->first == b->first && a->reasons == b->reasons &&
           a->object == b->object;
}

static int compare_groups(const void *a, const void *b)
{
    const struct rh_group *x = a, *y = b;
    if (x->score != y->score)
        return x->score < y->score ? 1 : -1;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    if (x->reasons != y->reasons)
        return x->reasons < y->reasons ? -1 : 1;
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    return (x->second > y->second) - (x->second < y->second);
}

void rh_pairs_rank(struct rh_pairs *c)
{
    uint8_t *traits = rh_calloc(c->classes.len + 1, 1);
    rh_spin_find(c->work->accesses, &c->work->waiting);
    for (uint32_t i = 0; i < c->classes.len; i++)
        traits[i] = traits_of(c, i);
    rh_vec_each (struct rh_group, g, &c->groups)
        rank_group(c->work, g, traits[g->first], traits[g->second]);
    free(traits);
    if (c->groups.len)
        qsort(c->groups.data, c->groups.len, sizeof *c->groups.data, compare_groups);
}
