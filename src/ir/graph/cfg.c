/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control flow of one function. All algorithms run on arrays indexed by a block's place in reverse
 * post-order, which unreachable blocks do not have.
 */
#include "ir/graph/cfg.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/mem.h"
#include "ir/graph/domtree.h"
#include "ir/graph/scc.h"

#define UNREACHABLE UINT32_MAX

struct rh_cfg_impl {
    struct rh_arena arena;
    uint32_t *place_of;        /* block id -> place in cfg->rpo, or UNREACHABLE */
    struct rh_scc_edges succs; /* by place */
    struct rh_scc_edges preds;
    struct rh_domtree dom;
    struct rh_loop **loop_of; /* innermost, by place */
    bool irreducible;
};

static void order_blocks(struct rh_cfg *cfg)
{
    struct rh_function *fn = cfg->fn;
    struct rh_cfg_impl *impl = cfg->impl;
    struct rh_block **stack = rh_alloc_array(fn->block_count, sizeof *stack);
    uint32_t *next = rh_calloc(fn->block_count, sizeof *next);
    uint32_t depth = 0, free_place = fn->block_count;

    /* Filled from the back as blocks are finished; moved to the front once the count is known. */
    cfg->rpo = rh_arena_array(&impl->arena, struct rh_block *, fn->block_count);
    impl->place_of[0] = 0;
    stack[depth++] = fn->blocks[0];
    while (depth > 0) {
        struct rh_block *b = stack[depth - 1];

        if (next[b->id] < b->succ_count) {
            struct rh_block *to = b->succs[next[b->id]++];

            if (impl->place_of[to->id] == UNREACHABLE) {
                impl->place_of[to->id] = 0;
                stack[depth++] = to;
            }
        } else {
            cfg->rpo[--free_place] = b;
            depth--;
        }
    }
    cfg->rpo += free_place;
    cfg->rpo_count = fn->block_count - free_place;
    for (uint32_t i = 0; i < cfg->rpo_count; i++)
        impl->place_of[cfg->rpo[i]->id] = i;
    free(stack);
    free(next);
}

/* The reachable ones of a list of neighbours, as places. */
static uint32_t add_places(const struct rh_cfg_impl *impl, struct rh_block **blocks, uint32_t count,
                           uint32_t *to)
{
    uint32_t added = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t place = impl->place_of[blocks[i]->id];

        if (place != UNREACHABLE)
            to[added++] = place;
    }
    return added;
}

static void read_edges(struct rh_cfg *cfg)
{
    struct rh_cfg_impl *impl = cfg->impl;
    uint32_t n = cfg->rpo_count, edges = 0;

    for (uint32_t i = 0; i < n; i++)
        edges += cfg->rpo[i]->succ_count;
    impl->succs.nodes = impl->preds.nodes = n;
    impl->succs.at = rh_arena_array(&impl->arena, uint32_t, n + 1);
    impl->preds.at = rh_arena_array(&impl->arena, uint32_t, n + 1);
    impl->succs.to = rh_arena_array(&impl->arena, uint32_t, edges);
    impl->preds.to = rh_arena_array(&impl->arena, uint32_t, edges);
    for (uint32_t i = 0; i < n; i++) {
        struct rh_block *b = cfg->rpo[i];
        uint32_t *succs = impl->succs.at + i, *preds = impl->preds.at + i;

        succs[1] = succs[0] + add_places(impl, b->succs, b->succ_count, impl->succs.to + succs[0]);
        preds[1] = preds[0] + add_places(impl, b->preds, b->pred_count, impl->preds.to + preds[0]);
    }
}

static bool is_back_edge(const struct rh_cfg_impl *impl, uint32_t from, uint32_t to)
{
    return rh_domtree_dominates(&impl->dom, to, from);
}

static void create_loops(struct rh_cfg *cfg)
{
    struct rh_cfg_impl *impl = cfg->impl;
    bool *is_header = rh_calloc(cfg->rpo_count, sizeof *is_header);

    for (uint32_t v = 0; v < cfg->rpo_count; v++) {
        for (uint32_t e = impl->preds.at[v]; e < impl->preds.at[v + 1]; e++) {
            uint32_t from = impl->preds.to[e];

            if (is_back_edge(impl, from, v))
                is_header[v] = true;
            else if (from >= v)
                impl->irreducible = true;
        }
        cfg->loop_count += is_header[v];
    }
    cfg->loops = rh_arena_array(&impl->arena, struct rh_loop, cfg->loop_count);
    for (uint32_t v = 0, id = 0; v < cfg->rpo_count; v++) {
        if (is_header[v]) {
            cfg->loops[id].id = id;
            cfg->loops[id].cfg = cfg;
            cfg->loops[id].innermost = true;
            cfg->loops[id].header = cfg->rpo[v];
            impl->loop_of[v] = &cfg->loops[id++];
        }
    }
    free(is_header);
}

static struct rh_loop *find_outermost(struct rh_loop *loop)
{
    while (loop->parent)
        loop = loop->parent;
    return loop;
}

/* Walks back from the latches to the header and claims what it meets: blocks in no loop yet, and
 * whole loops, whose header's outside predecessors are next. Inner loops must have been done. */
static void fill_loop(struct rh_cfg *cfg, struct rh_loop *loop, uint32_t *stack)
{
    struct rh_cfg_impl *impl = cfg->impl;
    uint32_t header = impl->place_of[loop->header->id], depth = 0;

    for (uint32_t e = impl->preds.at[header]; e < impl->preds.at[header + 1]; e++) {
        if (is_back_edge(impl, impl->preds.to[e], header))
            stack[depth++] = impl->preds.to[e];
    }
    while (depth > 0) {
        uint32_t v = stack[--depth];
        struct rh_loop *inner = impl->loop_of[v] ? find_outermost(impl->loop_of[v]) : NULL;

        if (inner == loop)
            continue;
        if (inner) {
            inner->parent = loop;
            loop->innermost = false;
            v = impl->place_of[inner->header->id];
        } else {
            impl->loop_of[v] = loop;
        }
        for (uint32_t e = impl->preds.at[v]; e < impl->preds.at[v + 1]; e++)
            stack[depth++] = impl->preds.to[e];
    }
}

static void collect_blocks(struct rh_cfg *cfg)
{
    struct rh_cfg_impl *impl = cfg->impl;

    for (uint32_t v = 0; v < cfg->rpo_count; v++) {
        for (struct rh_loop *l = impl->loop_of[v]; l; l = l->parent)
            l->block_count++;
    }
    for (uint32_t i = 0; i < cfg->loop_count; i++) {
        struct rh_loop *l = &cfg->loops[i];

        l->depth = l->parent ? l->parent->depth + 1 : 1;
        l->blocks = rh_arena_array(&impl->arena, struct rh_block *, l->block_count);
        l->block_count = 0;
    }
    for (uint32_t v = 0; v < cfg->rpo_count; v++) {
        for (struct rh_loop *l = impl->loop_of[v]; l; l = l->parent)
            l->blocks[l->block_count++] = cfg->rpo[v];
    }
}

static void find_entries(struct rh_cfg_impl *impl, struct rh_loop *loop)
{
    struct rh_block *header = loop->header, *outside = NULL;
    uint32_t outside_count = 0;

    loop->latches = rh_arena_array(&impl->arena, struct rh_block *, header->pred_count);
    for (uint32_t i = 0; i < header->pred_count; i++) {
        struct rh_block *from = header->preds[i];

        if (rh_cfg_loop_contains(loop, from)) {
            loop->latches[loop->latch_count++] = from;
        } else {
            outside = from;
            outside_count++;
        }
    }
    if (outside_count == 1 && outside->succ_count == 1)
        loop->preheader = outside;
}

/* `seen` is indexed by block id and holds one more than the last loop that listed the block. */
static void find_exits(struct rh_cfg_impl *impl, struct rh_loop *loop, uint32_t *seen)
{
    uint32_t most = 0;

    for (uint32_t i = 0; i < loop->block_count; i++)
        most += loop->blocks[i]->succ_count;
    loop->exits = rh_arena_array(&impl->arena, struct rh_block *, most);
    for (uint32_t i = 0; i < loop->block_count; i++) {
        for (uint32_t k = 0; k < loop->blocks[i]->succ_count; k++) {
            struct rh_block *to = loop->blocks[i]->succs[k];

            if (seen[to->id] == loop->id + 1 || rh_cfg_loop_contains(loop, to))
                continue;
            seen[to->id] = loop->id + 1;
            loop->exits[loop->exit_count++] = to;
        }
    }
}

static void build_loops(struct rh_cfg *cfg)
{
    struct rh_cfg_impl *impl = cfg->impl;
    uint32_t edges = impl->preds.at[cfg->rpo_count];
    uint32_t *stack = rh_alloc_array((size_t)edges * 2, sizeof *stack);
    uint32_t *seen = rh_calloc(cfg->fn->block_count, sizeof *seen);

    impl->loop_of = rh_arena_array(&impl->arena, struct rh_loop *, cfg->rpo_count);
    create_loops(cfg);
    /* An inner header comes after its outer one in reverse post-order. */
    for (uint32_t i = cfg->loop_count; i > 0; i--)
        fill_loop(cfg, &cfg->loops[i - 1], stack);
    collect_blocks(cfg);
    for (uint32_t i = 0; i < cfg->loop_count; i++) {
        find_entries(impl, &cfg->loops[i]);
        find_exits(impl, &cfg->loops[i], seen);
    }
    free(stack);
    free(seen);
}

struct rh_cfg *rh_cfg_build(struct rh_function *fn)
{
    struct rh_cfg *cfg = rh_calloc(1, sizeof *cfg);
    struct rh_cfg_impl *impl = rh_calloc(1, sizeof *impl);

    cfg->fn = fn;
    cfg->impl = impl;
    if (fn->block_count == 0)
        return cfg;
    impl->place_of = rh_arena_array(&impl->arena, uint32_t, fn->block_count);
    for (uint32_t i = 0; i < fn->block_count; i++)
        impl->place_of[i] = UNREACHABLE;
    order_blocks(cfg);
    read_edges(cfg);
    rh_domtree_build(&impl->dom, &impl->arena, 0, &impl->succs, &impl->preds);
    build_loops(cfg);
    return cfg;
}

void rh_cfg_free(struct rh_cfg *cfg)
{
    if (!cfg)
        return;
    rh_arena_release(&cfg->impl->arena);
    free(cfg->impl);
    free(cfg);
}

bool rh_cfg_reachable(const struct rh_cfg *cfg, const struct rh_block *b)
{
    return cfg->impl->place_of[b->id] != UNREACHABLE;
}

struct rh_block *rh_cfg_idom(const struct rh_cfg *cfg, const struct rh_block *b)
{
    const struct rh_domtree *tree = &cfg->impl->dom;
    uint32_t place = cfg->impl->place_of[b->id];

    if (place == UNREACHABLE || place == tree->root)
        return NULL;
    return cfg->rpo[tree->idom[place]];
}

bool rh_cfg_dominates(const struct rh_cfg *cfg, const struct rh_block *a, const struct rh_block *b)
{
    uint32_t above = cfg->impl->place_of[a->id], below = cfg->impl->place_of[b->id];

    return above != UNREACHABLE && below != UNREACHABLE &&
           rh_domtree_dominates(&cfg->impl->dom, above, below);
}

bool rh_cfg_inst_dominates(const struct rh_cfg *cfg, const struct rh_value *a,
                           const struct rh_value *b)
{
    if (a->block == b->block)
        return rh_cfg_reachable(cfg, a->block) && a->id < b->id;
    return rh_cfg_dominates(cfg, a->block, b->block);
}

struct rh_loop *rh_cfg_loop_of(const struct rh_cfg *cfg, const struct rh_block *b)
{
    uint32_t place = cfg->impl->place_of[b->id];

    return place == UNREACHABLE ? NULL : cfg->impl->loop_of[place];
}

bool rh_cfg_loop_contains(const struct rh_loop *loop, const struct rh_block *b)
{
    const struct rh_loop *at = rh_cfg_loop_of(loop->cfg, b);

    while (at && at->depth > loop->depth)
        at = at->parent;
    return at == loop;
}

bool rh_cfg_irreducible(const struct rh_cfg *cfg)
{
    return cfg->impl->irreducible;
}
