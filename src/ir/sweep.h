/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An access in a loop whose addresses are known before the loop: graph/sweep.h finds it, and
 * rewrite/rewrite.h puts assembly before the loop for it.
 */
#ifndef RH_IR_SWEEP_H
#define RH_IR_SWEEP_H

#include "ir/ir.h"

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

/* LLVM's numbers of comparisons of integers. */
enum rh_predicate {
    RH_PREDICATE_NE = 33,
    RH_PREDICATE_UGT = 34,
    RH_PREDICATE_ULT = 36,
    RH_PREDICATE_SGT = 38,
    RH_PREDICATE_SLT = 40,
};

#endif
