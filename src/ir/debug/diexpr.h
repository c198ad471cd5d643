/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a location expression of debug information does to a value, for the files of src/ir alone.
 *
 * LLVM's C interface cannot read a DIExpression; its printed form can. A module has few different
 * expressions, each of which is printed once.
 */
#ifndef RH_IR_DEBUG_DIEXPR_H
#define RH_IR_DEBUG_DIEXPR_H

#include <stdbool.h>
#include <stdint.h>

#include <llvm-c/Core.h>

#include "base/arena.h"
#include "base/map.h"

struct rh_diexpr {
    bool is_known;       /* false: it does more than the fields below can say */
    int64_t plus;        /* added to the value, which is the first thing that happens */
    bool derefs;         /* then the result is an address that is read */
    bool is_stack_value; /* the result is the variable, not where it is found */
    bool is_part;        /* it is about a part of the variable only */
    uint64_t offset;     /* where the part begins, in bytes */
    uint64_t size;       /* of the part, in bytes */
};

struct rh_diexprs {
    LLVMContextRef context;
    struct rh_arena arena;
    struct rh_map by_node; /* DIExpression -> struct rh_diexpr * */
};

void rh_diexprs_init(struct rh_diexprs *exprs, LLVMContextRef context);
void rh_diexprs_release(struct rh_diexprs *exprs);

const struct rh_diexpr *rh_diexpr_of(struct rh_diexprs *exprs, LLVMMetadataRef node);

#endif
