/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of a twin, for twin.c, which copies a function's body, and twin_join.c, which lets the
 * copies of values meet their originals.
 */
#ifndef RH_IR_REWRITE_TWIN_H
#define RH_IR_REWRITE_TWIN_H

#include <llvm-c/Core.h>

#include "base/map.h"
#include "base/vec.h"
#include "ir/module.h"

/* A way into the twin in the middle of the function. */
struct rh_twin_gate {
    LLVMBasicBlockRef edge; /* what the gate jumps to; leads to `into` */
    LLVMBasicBlockRef into; /* the copy of the gated block */
};

struct rh_twin_block {
    LLVMBasicBlockRef plain, copy;
};

struct rh_twin {
    struct rh_module *module;
    LLVMValueRef function;
    RH_VEC(struct rh_twin_block) blocks; /* what a gate leads to, in the order of the plain body */
    RH_VEC(struct rh_twin_gate) gates;   /* those behind the entry */
    struct rh_map copies;                /* instructions and blocks -> their copies */
};

/* The values of the plain body as the twin sees them at the entry of a block. */
struct rh_twin_values {
    const struct rh_twin *twin;
    struct rh_map numbers; /* values that have several copies -> their number */
    struct rh_map joined;  /* number of a value and of a block -> what it is there */
    struct rh_map blocks;  /* blocks of the twin -> their number */
};

/* Lets every use in the twin see the original's value if the run came through a gate behind its
 * definition, and the copy's if it did not. */
void rh_twin_join(const struct rh_twin *twin, struct rh_twin_values *values);
/* What stands for a value of the plain body in a block of the twin: the value itself if it has no
 * copy. */
LLVMValueRef rh_twin_value_in(const struct rh_twin_values *values, LLVMBasicBlockRef block,
                              LLVMValueRef value);
void rh_twin_values_release(struct rh_twin_values *values);

#endif
