/* SPDX-License-Identifier: Apache-2.0 */
/* Where the gates of a function stand: see gates.h. */
#include "instrument/gates.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct planner {
    const struct rh_cfg *cfg;
    struct rh_block *const *keyed; /* one for each key */
    size_t key_count;
    bool *holds_keys; /* per loop: in it or in one of its loops */
    bool *covered;    /* per loop: has a gate in its header */
    bool *taken;      /* per block: has a gate */
    struct rh_block **out;
    uint32_t count;
};

bool rh_gates_is_boundary(const struct rh_value *inst)
{
    switch (inst->op) {
    case RH_OP_CALL:
        return !inst->intrinsic || strcmp(inst->intrinsic, "llvm.trap") == 0;
    case RH_OP_INVOKE:
    case RH_OP_CALLBR:
    case RH_OP_FENCE:
    case RH_OP_RMW:
    case RH_OP_CMPXCHG:
        return true;
    case RH_OP_LOAD:
    case RH_OP_STORE:
        return inst->order != RH_MO_PLAIN || inst->is_volatile;
    default:
        return false;
    }
}

static bool has_boundary(const struct rh_block *block)
{
    for (const struct rh_value *i = block->first; i; i = i->next)
        if (rh_gates_is_boundary(i))
            return true;
    return false;
}

/* Nothing can stand before a landing pad. */
static bool has_room(const struct rh_block *block)
{
    const struct rh_value *i = block->first;
    while (i->op == RH_OP_PHI)
        i = i->next;
    return i->op != RH_OP_LANDINGPAD;
}

/* --- loops --- */

static bool is_local_intrinsic(const struct rh_value *call)
{
    return call->op == RH_OP_CALL && call->intrinsic;
}

static bool block_only_waits(const struct rh_loop *loop, const struct rh_block *block)
{
    for (struct rh_value *i = block->first; i; i = i->next) {
        if (i->op == RH_OP_STORE || is_local_intrinsic(i))
            return false;
        if (i->op != RH_OP_LOAD)
            continue;
        const struct rh_value *p = rh_ir_pointer(i);
        if (p->kind == RH_VALUE_INST && rh_cfg_loop_contains(loop, p->block))
            return false;
    }
    return true;
}

/* A loop that, outside its own loops, stores nothing and has each load go to the same place every
 * time round. A thread may stay in it for ever. */
static bool only_waits(const struct rh_loop *loop)
{
    for (uint32_t b = 0; b < loop->block_count; b++)
        if (rh_cfg_loop_of(loop->cfg, loop->blocks[b]) == loop &&
            !block_only_waits(loop, loop->blocks[b]))
            return false;
    return true;
}

bool rh_gates_is_closed(const struct rh_loop *loop)
{
    if (!loop->innermost)
        return false;
    for (uint32_t b = 0; b < loop->block_count; b++)
        if (has_boundary(loop->blocks[b]))
            return false;
    return true;
}

bool rh_gates_is_tight(const struct rh_loop *loop)
{
    return rh_gates_is_closed(loop) && !only_waits(loop);
}

/* A single key is as cheap as a gate, unless it stands in a tight loop. */
static bool wants_twin(const struct planner *p, bool always)
{
    if (p->key_count != 1 || always)
        return p->key_count > 0;
    const struct rh_loop *loop = rh_cfg_loop_of(p->cfg, p->keyed[0]);
    return loop && rh_gates_is_tight(loop);
}

static void add_gate(struct planner *p, struct rh_block *block)
{
    if (p->taken[block->id])
        return;
    p->taken[block->id] = true;
    p->out[p->count++] = block;
}

/* The block of the parent that alone leads into a loop, or NULL. */
static struct rh_block *way_in(const struct rh_loop *loop)
{
    struct rh_block *found = NULL;
    for (uint32_t i = 0; i < loop->header->pred_count; i++) {
        struct rh_block *pred = loop->header->preds[i];
        if (rh_cfg_loop_contains(loop, pred))
            continue;
        if (found || rh_cfg_loop_of(loop->cfg, pred) != loop->parent)
            return NULL;
        found = pred;
    }
    return found;
}

/* Whether each round of the loop passes the block. */
static bool is_in_each_round(const struct rh_loop *loop, const struct rh_block *block)
{
    for (uint32_t i = 0; i < loop->latch_count; i++)
        if (rh_cfg_dominates(loop->cfg, block, loop->latches[i]))
            return true;
    return false;
}

/* The blocks of a loop that keep it from ending soon; false if its header should do for all. */
enum { MOST_STOPS = 4 }; /* beyond, some are likely passed in each round */

struct stops {
    struct rh_block *blocks[MOST_STOPS];
    uint32_t count;
};

static bool add_stop(struct stops *s, const struct rh_loop *loop, struct rh_block *block)
{
    if (!block || s->count == MOST_STOPS || !has_room(block) || is_in_each_round(loop, block))
        return false;
    s->blocks[s->count++] = block;
    return true;
}

static bool find_stops(const struct rh_loop *loop, struct stops *s)
{
    const struct rh_cfg *cfg = loop->cfg;
    s->count = 0;
    for (uint32_t b = 0; b < loop->block_count; b++) {
        struct rh_block *block = loop->blocks[b];
        if (rh_cfg_loop_of(cfg, block) == loop && has_boundary(block) && !add_stop(s, loop, block))
            return false;
    }
    for (uint32_t l = loop->id + 1; l < cfg->loop_count; l++) {
        const struct rh_loop *inner = &cfg->loops[l];
        if (inner->parent == loop && rh_gates_is_tight(inner) && !add_stop(s, loop, way_in(inner)))
            return false;
    }
    return true;
}

static void gate_loop(struct planner *p, const struct rh_loop *loop)
{
    struct stops stops;
    if (!only_waits(loop) && find_stops(loop, &stops)) {
        for (uint32_t i = 0; i < stops.count; i++)
            add_gate(p, stops.blocks[i]);
    } else if (has_room(loop->header)) {
        p->covered[loop->id] = true;
        add_gate(p, loop->header);
    }
}

/* Marks the blocks from which a key can be reached. */
static void find_leading(const struct planner *p, bool *leads)
{
    const struct rh_cfg *cfg = p->cfg;
    for (size_t i = 0; i < p->key_count; i++)
        leads[p->keyed[i]->id] = true;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = cfg->rpo_count; i-- > 0;) {
            const struct rh_block *b = cfg->rpo[i];
            for (uint32_t s = 0; s < b->succ_count && !leads[b->id]; s++)
                changed |= leads[b->id] = leads[b->succs[s]->id];
        }
    }
}

/* A run may have been long in a loop without keys: it passes a gate before it comes to one. */
static void gate_exits(struct planner *p)
{
    bool *leads = rh_calloc(p->cfg->fn->block_count, sizeof *leads);
    find_leading(p, leads);
    for (uint32_t l = 0; l < p->cfg->loop_count; l++) {
        const struct rh_loop *loop = &p->cfg->loops[l];
        bool is_within = loop->parent && !p->holds_keys[loop->parent->id];
        if (p->holds_keys[l] || is_within || rh_gates_is_tight(loop))
            continue;
        for (uint32_t e = 0; e < loop->exit_count; e++)
            if (leads[loop->exits[e]->id] && has_room(loop->exits[e]))
                add_gate(p, loop->exits[e]);
    }
    free(leads);
}

/* A cycle with several ways in is no loop by its form; a run may stay in it as long. */
static void gate_odd_cycles(struct planner *p, uint32_t block_count)
{
    const struct rh_cfg *cfg = p->cfg;
    uint32_t *order = rh_calloc(block_count, sizeof *order);
    for (uint32_t i = 0; i < cfg->rpo_count; i++)
        order[cfg->rpo[i]->id] = i;
    for (uint32_t i = 0; i < cfg->rpo_count; i++) {
        struct rh_block *from = cfg->rpo[i];
        for (uint32_t s = 0; s < from->succ_count; s++) {
            struct rh_block *to = from->succs[s];
            if (order[to->id] <= i && !rh_cfg_dominates(cfg, to, from) && has_room(to))
                add_gate(p, to);
        }
    }
    free(order);
}

/* --- the first gate --- */

/* Whether a key is behind no gate yet. */
static bool is_open(const struct planner *p, size_t key)
{
    for (const struct rh_loop *l = rh_cfg_loop_of(p->cfg, p->keyed[key]); l; l = l->parent)
        if (p->covered[l->id])
            return false;
    return true;
}

static const struct rh_loop *outermost_loop(const struct planner *p, const struct rh_block *block)
{
    const struct rh_loop *loop = rh_cfg_loop_of(p->cfg, block);
    while (loop && loop->parent)
        loop = loop->parent;
    return loop;
}

/* The last block before all open keys, outside of loops, in which a gate can stand; NULL if there
 * are none. */
static struct rh_block *block_before_keys(const struct planner *p)
{
    struct rh_block *at = NULL;
    for (size_t i = 0; i < p->key_count; i++) {
        if (!is_open(p, i))
            continue;
        if (!at)
            at = p->keyed[i];
        while (!rh_cfg_dominates(p->cfg, at, p->keyed[i]))
            at = rh_cfg_idom(p->cfg, at);
    }
    while (at && (outermost_loop(p, at) || !has_room(at))) {
        const struct rh_loop *loop = outermost_loop(p, at);
        at = rh_cfg_idom(p->cfg, loop ? loop->header : at);
    }
    return at;
}

/* `always`: at the entry, where a sampler decides on the call. */
static void plan(struct planner *p, bool always)
{
    const struct rh_cfg *cfg = p->cfg;
    for (size_t i = 0; i < p->key_count; i++)
        for (const struct rh_loop *l = rh_cfg_loop_of(cfg, p->keyed[i]); l; l = l->parent)
            p->holds_keys[l->id] = true;
    for (uint32_t l = 0; l < cfg->loop_count; l++)
        if (p->holds_keys[l] && !rh_gates_is_tight(&cfg->loops[l]))
            gate_loop(p, &cfg->loops[l]);
    gate_exits(p);
    if (rh_cfg_irreducible(cfg))
        gate_odd_cycles(p, cfg->fn->block_count);
    struct rh_block *first = always ? cfg->fn->blocks[0] : block_before_keys(p);
    if (first && has_room(first))
        add_gate(p, first);
}

uint32_t rh_gates_plan(const struct rh_cfg *cfg, struct rh_block *const *keyed, size_t count,
                       bool always, struct rh_block **out)
{
    struct planner p = {
        .cfg = cfg,
        .keyed = keyed,
        .key_count = count,
        .holds_keys = rh_calloc(cfg->loop_count + 1, sizeof(bool)),
        .covered = rh_calloc(cfg->loop_count + 1, sizeof(bool)),
        .taken = rh_calloc(cfg->fn->block_count, sizeof(bool)),
        .out = out,
    };
    if (wants_twin(&p, always))
        plan(&p, always);
    free(p.holds_keys);
    free(p.covered);
    free(p.taken);
    return p.count;
}
