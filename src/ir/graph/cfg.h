/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control flow of one function: dominators and natural loops, computed on demand
 * over the snapshot of ir.h and owned by the caller.
 */
#ifndef RH_IR_GRAPH_CFG_H
#define RH_IR_GRAPH_CFG_H

#include "ir/ir.h"

struct rh_cfg;

struct rh_loop {
    uint32_t id; /* outer loops before the loops they hold */
    const struct rh_cfg *cfg;
    struct rh_block *header;
    struct rh_loop *parent; /* NULL for outermost */
    uint32_t depth;         /* 1 for outermost */
    bool innermost;
    uint32_t block_count;
    struct rh_block **blocks; /* header first */
    uint32_t latch_count;
    struct rh_block **latches;
    struct rh_block *preheader; /* the single outside predecessor that only goes to the header, or
                                   NULL; an unreachable predecessor counts */
    uint32_t exit_count;
    struct rh_block **exits; /* blocks outside, reached from inside; without duplicates */
};

struct rh_cfg {
    struct rh_function *fn;
    struct rh_block **rpo; /* reachable blocks in reverse post-order */
    uint32_t rpo_count;
    uint32_t loop_count;
    struct rh_loop *loops;
    struct rh_cfg_impl *impl;
};

/* Unreachable blocks take part in nothing: they dominate and are dominated by none. Loops are
 * natural loops (back edges to a dominator); an irreducible cycle is no loop and sets
 * `rh_cfg_irreducible`. */
struct rh_cfg *rh_cfg_build(struct rh_function *fn);
void rh_cfg_free(struct rh_cfg *cfg);

bool rh_cfg_reachable(const struct rh_cfg *cfg, const struct rh_block *b);
/* NULL for the entry. */
struct rh_block *rh_cfg_idom(const struct rh_cfg *cfg, const struct rh_block *b);
/* A block dominates itself. */
bool rh_cfg_dominates(const struct rh_cfg *cfg, const struct rh_block *a, const struct rh_block *b);
/* Instruction a executes before b on every path to b. */
bool rh_cfg_inst_dominates(const struct rh_cfg *cfg, const struct rh_value *a,
                           const struct rh_value *b);
struct rh_loop *rh_cfg_loop_of(const struct rh_cfg *cfg, const struct rh_block *b); /* innermost */
bool rh_cfg_loop_contains(const struct rh_loop *loop, const struct rh_block *b);
bool rh_cfg_irreducible(const struct rh_cfg *cfg);

#endif
