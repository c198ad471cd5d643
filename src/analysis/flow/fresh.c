/* SPDX-License-Identifier: Apache-2.0 */
/* Finds where blocks of memory are still unknown to others: see fresh.h. */
#include "analysis/flow/fresh.h"

#include <string.h>

#include "analysis/idset.h"
#include "analysis/library.h"
#include "base/arena.h"
#include "base/bitset.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "ir/graph/graph.h"

/* Where the block of one source is known to others. */
struct source {
    const struct rh_value *value;
    struct rh_idset region; /* code that leads to a use without making the source again; elsewhere
                               nothing is asked */
    struct rh_idset entered_known; /* of it, what may be entered with the block known */
    RH_VEC(const struct rh_value *) leaks;
};

struct rh_fresh {
    struct rh_module *module;
    struct rh_graph *graph;
    struct rh_arena arena;
    struct rh_map sources;    /* value id -> struct source */
    struct rh_bitset returns; /* functions by id */
    struct rh_map refuted;    /* parameters that some caller gives another block, by value id */
    struct rh_bitset open;    /* functions whose callers are not all known */
};

/* --- one source --- */

static bool is_leak(const struct rh_value *v, const struct rh_value *user)
{
    return rh_ir_judge_use(v, user) == RH_USE_ESCAPES && user->op != RH_OP_RET;
}

static bool is_made_in(const struct source *s, const struct rh_block *b)
{
    return s->value->kind == RH_VALUE_INST && s->value->block == b;
}

struct block_list RH_VEC_BODY(const struct rh_block *);

static void add_to_region(struct source *s, const struct rh_block *b, struct block_list *work)
{
    if (rh_idset_add(&s->region, b->id) && !is_made_in(s, b))
        rh_vec_push(work, b);
}

/* A value that a phi takes is used at the end of the block it comes from. */
static void add_use(struct source *s, const struct rh_value *user, struct block_list *work)
{
    if (user->kind != RH_VALUE_INST)
        return;
    add_to_region(s, user->block, work);
    for (uint32_t i = 0; user->op == RH_OP_PHI && i < user->block->pred_count; i++)
        add_to_region(s, user->block->preds[i], work);
}

static void spread_region(struct source *s, struct block_list *work)
{
    while (work->len) {
        const struct rh_block *b = rh_vec_pop(work);
        for (uint32_t i = 0; i < b->pred_count; i++)
            add_to_region(s, b->preds[i], work);
    }
}

static void collect_uses(struct source *s)
{
    struct rh_map seen = RH_MAP_INIT;
    struct block_list blocks = RH_VEC_INIT;
    RH_VEC(const struct rh_value *) work = RH_VEC_INIT;
    rh_map_put(&seen, s->value->id, 0);
    rh_vec_push(&work, s->value);
    while (work.len) {
        const struct rh_value *v = rh_vec_pop(&work);
        for (uint32_t i = 0; i < v->user_count; i++) {
            const struct rh_value *user = v->users[i];
            add_use(s, user, &blocks);
            if (is_leak(v, user))
                rh_vec_push(&s->leaks, user);
            else if (rh_ir_judge_use(v, user) == RH_USE_DERIVES && rh_map_put(&seen, user->id, 0))
                rh_vec_push(&work, user);
        }
    }
    spread_region(s, &blocks);
    rh_vec_free(&blocks);
    rh_vec_free(&work);
    rh_map_release(&seen);
}

/* Is there a leak between `after` (an id within the block, or 0) and `before`? */
static bool leaks_between(const struct source *s, const struct rh_block *b, uint32_t after,
                          uint32_t before)
{
    rh_vec_each (const struct rh_value *, leak, &s->leaks)
        if ((*leak)->block == b && (*leak)->id >= after && (*leak)->id < before)
            return true;
    return false;
}

/* Known at the end of a block: by a leak behind the source's making, or all the time. */
static bool leaves_known(const struct source *s, const struct rh_block *b)
{
    if (is_made_in(s, b))
        return leaks_between(s, b, s->value->id, UINT32_MAX);
    return rh_idset_has(&s->entered_known, b->id) || leaks_between(s, b, 0, UINT32_MAX);
}

static void spread_knowledge(struct source *s)
{
    RH_VEC(struct rh_block *) work = RH_VEC_INIT;
    rh_vec_each (const struct rh_value *, leak, &s->leaks)
        if ((*leak)->kind == RH_VALUE_INST)
            rh_vec_push(&work, (*leak)->block);
    while (work.len) {
        struct rh_block *b = rh_vec_pop(&work);
        if (!leaves_known(s, b))
            continue;
        for (uint32_t i = 0; i < b->succ_count; i++)
            if (rh_idset_has(&s->region, b->succs[i]->id) &&
                rh_idset_add(&s->entered_known, b->succs[i]->id))
                rh_vec_push(&work, b->succs[i]);
    }
    rh_vec_free(&work);
}

static struct source *source_of(struct rh_fresh *f, const struct rh_value *v)
{
    struct source *s = rh_map_get_ptr(&f->sources, v->id);
    if (s)
        return s;
    s = rh_arena_new(&f->arena, struct source);
    s->value = v;
    collect_uses(s);
    spread_knowledge(s);
    rh_map_put_ptr(&f->sources, v->id, s);
    return s;
}

static bool is_unknown_at(const struct source *s, const struct rh_value *inst)
{
    const struct rh_block *b = inst->block;
    if (is_made_in(s, b) && inst->id > s->value->id)
        return !leaks_between(s, b, s->value->id, inst->id);
    return rh_idset_has(&s->region, b->id) && !rh_idset_has(&s->entered_known, b->id) &&
           !leaks_between(s, b, 0, inst->id);
}

/* --- which values are sources --- */

static bool allocates(const struct rh_function *fn)
{
    const struct rh_library_row *row = rh_library_find(fn->name);
    bool allocates = false;
    for (uint32_t i = 0; row && i < row->effect_count; i++) {
        if (row->effects[i].kind == RH_EFFECT_RETURN)
            return false; /* the old block or a new one: realloc */
        allocates |= row->effects[i].kind == RH_EFFECT_ALLOC && row->effects[i].arg == RH_NO_ARG;
    }
    return allocates;
}

static bool is_source(const struct rh_fresh *f, const struct rh_value *v)
{
    if (v->kind == RH_VALUE_ARG)
        return !rh_bitset_test(&f->open, v->fn->id) && !rh_map_has(&f->refuted, v->id);
    if (v->kind != RH_VALUE_INST || !v->callee || v->callee->kind != RH_VALUE_FUNCTION ||
        v->intrinsic)
        return false;
    const struct rh_function *fn = v->callee->fn;
    return fn->block_count ? rh_bitset_test(&f->returns, fn->id) : allocates(fn);
}

static bool is_fresh(struct rh_fresh *f, const struct rh_value *inst, struct rh_value *pointer)
{
    struct rh_value *base = rh_ir_base(pointer, NULL, NULL);
    return is_source(f, base) && is_unknown_at(source_of(f, base), inst);
}

/* --- functions that return fresh blocks --- */

static bool is_fresh_or_null(struct rh_fresh *f, const struct rh_value *at, struct rh_value *v,
                             bool *any)
{
    struct rh_value *base = rh_ir_base(v, NULL, NULL);
    if (base->kind == RH_VALUE_NULL || base->kind == RH_VALUE_UNDEF)
        return true;
    *any = true;
    return base->kind == RH_VALUE_INST && is_fresh(f, at, base);
}

static bool return_is_fresh(struct rh_fresh *f, const struct rh_value *ret, bool *any)
{
    struct rh_value *v = ret->ops[0];
    if (v->kind != RH_VALUE_INST || (v->op != RH_OP_PHI && v->op != RH_OP_SELECT))
        return is_fresh_or_null(f, ret, v, any);
    for (uint32_t i = v->op == RH_OP_SELECT; i < v->op_count; i++)
        if (!is_fresh_or_null(f, v->op == RH_OP_PHI ? v->targets[i]->last : v, v->ops[i], any))
            return false;
    /* Between the merge and the return the block must not leak under its new name. */
    return is_unknown_at(source_of(f, v), ret);
}

static bool returns_fresh(struct rh_fresh *f, const struct rh_function *fn)
{
    bool any = false;
    if (fn->type->ret->kind != RH_TYPE_PTR)
        return false;
    for (uint32_t b = 0; b < fn->block_count; b++) {
        const struct rh_value *last = fn->blocks[b]->last;
        if (last->op == RH_OP_RET && !return_is_fresh(f, last, &any))
            return false;
    }
    return any;
}

static void find_returns(struct rh_fresh *f)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < rh_ir_function_count(f->module); i++) {
            struct rh_function *fn = rh_ir_function(f->module, i);
            if (fn->block_count && !rh_bitset_test(&f->returns, i) && returns_fresh(f, fn))
                changed |= rh_bitset_set(&f->returns, i);
        }
    }
}

/* --- parameters --- */

/* A caller that cannot be seen may give anything. */
static void find_open_functions(struct rh_fresh *f)
{
    for (uint32_t i = 0; i < rh_ir_function_count(f->module); i++) {
        struct rh_function *fn = rh_ir_function(f->module, i);
        uint32_t count;
        rh_graph_in(f->graph, fn, &count);
        if (!fn->block_count || !fn->is_local || !count || rh_graph_address_taken(f->graph, fn))
            rh_bitset_set(&f->open, i);
    }
}

static bool refute_arguments(struct rh_fresh *f, const struct rh_edge *edge)
{
    bool changed = false;
    const struct rh_function *fn = edge->callee;
    for (uint32_t i = 0; i < fn->arg_count; i++) {
        const struct rh_value *param = fn->args[i];
        if (param->type->kind != RH_TYPE_PTR || rh_map_has(&f->refuted, param->id))
            continue;
        if (i >= edge->site->op_count || !is_fresh(f, edge->site, edge->site->ops[i]))
            changed |= rh_map_put(&f->refuted, param->id, 0);
    }
    return changed;
}

static void find_parameters(struct rh_fresh *f)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < rh_graph_edge_count(f->graph); i++) {
            const struct rh_edge *edge = rh_graph_edge(f->graph, i);
            if (edge->kind == RH_EDGE_CALL && edge->callee &&
                !rh_bitset_test(&f->open, edge->callee->id))
                changed |= refute_arguments(f, edge);
        }
    }
}

struct rh_fresh *rh_fresh_find(struct rh_module *m)
{
    struct rh_fresh *f = rh_calloc(1, sizeof *f);
    f->module = m;
    f->graph = rh_graph_build(m);
    /* While returns are looked for no parameter counts, so all functions are open. */
    for (uint32_t i = 0; i < rh_ir_function_count(m); i++)
        rh_bitset_set(&f->open, i);
    find_returns(f);
    rh_bitset_release(&f->open);
    find_open_functions(f);
    find_parameters(f);
    return f;
}

void rh_fresh_free(struct rh_fresh *f)
{
    if (!f)
        return;
    uint64_t value;
    for (size_t at = 0; rh_map_next(&f->sources, &at, NULL, &value);) {
        struct source *s = (struct source *)(uintptr_t)value;
        rh_idset_release(&s->region);
        rh_idset_release(&s->entered_known);
        rh_vec_free(&s->leaks);
    }
    rh_map_release(&f->sources);
    rh_map_release(&f->refuted);
    rh_bitset_release(&f->returns);
    rh_bitset_release(&f->open);
    rh_arena_release(&f->arena);
    rh_graph_free(f->graph);
    free(f);
}

bool rh_fresh_at(const struct rh_fresh *f, const struct rh_value *inst, struct rh_value *pointer)
{
    /* Answers are remembered. */
    return is_fresh((struct rh_fresh *)(uintptr_t)f, inst, pointer);
}

bool rh_fresh_returns(const struct rh_fresh *f, const struct rh_function *fn)
{
    return rh_bitset_test(&f->returns, fn->id);
}
