/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accesses in loops whose addresses are known before the loop: always the same, or a constant
 * distance further each time round, so often as is known, too.
 *
 * How it works: a value changes by a constant each time round if it is a phi of the loop's header
 * that does, or made of such values by sums, products with constants and getelementptrs. How often
 * the loop runs follows from the comparison with which its last block goes on. Numbers wrap as they
 * do in the program; where a number that wraps would make a difference, LLVM must know that it does
 * not.
 *
 * Only loops are looked at that a run enters in one place and leaves in none but those that are
 * seen: the caller says that nothing in them can end it otherwise.
 */
#ifndef RH_IR_GRAPH_SWEEP_H
#define RH_IR_GRAPH_SWEEP_H

#include "base/arena.h"
#include "ir/graph/cfg.h"

/* How often a loop runs: once, and once more each time that `left`, which changes by `step` each
 * time round, compares so with `right`, which does not change. */
struct rh_sweep_count {
    struct rh_value *left, *right;
    int64_t step;
    uint8_t predicate; /* LLVM's number; holds: the loop goes on */
};

struct rh_sweep {
    struct rh_block *before; /* ends by going into the loop */
    struct rh_block *header;
    uint32_t block_count;
    struct rh_block **blocks; /* of the loop */
    int64_t stride;           /* 0: the address is always the same, and `count` is not set */
    struct rh_sweep_count count;
};

/* Whether what the instruction does at this address is known before the innermost loop that it
 * stands in, and certainly happens if that is entered. */
bool rh_sweep_find(const struct rh_cfg *cfg, const struct rh_value *inst, struct rh_value *pointer,
                   struct rh_sweep *out);

/* LLVM's numbers of comparisons of integers. */
enum rh_predicate {
    RH_PREDICATE_NE = 33,
    RH_PREDICATE_UGT = 34,
    RH_PREDICATE_ULT = 36,
    RH_PREDICATE_SGT = 38,
    RH_PREDICATE_SLT = 40,
};

#endif
