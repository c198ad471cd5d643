/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps what debug information says about variables right while instructions move to other blocks
 * and are copied.
 *
 * How it works: LLVM has two ways to say that from here on a variable is found in some value. As
 * calls of debug intrinsics, they are instructions and move and are copied like any other. As
 * records attached to instructions, they stay behind when an instruction is taken out of its block.
 * Up to LLVM 21 a module can be brought from one form into the other, and the first is taken while
 * rewriting; later versions only have records, but let us read and repeat them. This file is the
 * only one that knows which.
 */
#ifndef RH_IR_REWRITE_DEBUG_VARS_H
#define RH_IR_REWRITE_DEBUG_VARS_H

#include <stdbool.h>

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>

#include "base/map.h"

/* One rewriting job on a module; makes it ready for moving and copying. */
struct rh_debug_vars {
    LLVMContextRef context;
    LLVMDIBuilderRef builder;
    LLVMMetadataRef plain;   /* the empty expression */
    LLVMValueRef lost;       /* stands for a value that cannot be named */
    struct rh_map variadics; /* expression -> whether it computes from a list of values */
    LLVMDbgRecordRef fallen_first, fallen_last; /* what moved instructions left behind */
};

void rh_debug_vars_begin(struct rh_debug_vars *dv, LLVMModuleRef module);
void rh_debug_vars_end(struct rh_debug_vars *dv);

/* Moves an instruction to the end of the block that `to` writes to; its name and location stay.
 * `to` must never have stood at an instruction, or it would stamp that one's location on. */
void rh_debug_vars_move(struct rh_debug_vars *dv, LLVMBuilderRef to, LLVMValueRef inst);

/* Whether a copy of the code around it must leave this instruction out: declarations of variables
 * and labels, which hold for the whole function and are said once. */
bool rh_debug_vars_said_once(LLVMValueRef inst);

/* What stands for a value of the original at the copy. */
typedef LLVMValueRef rh_debug_vars_value(void *arg, LLVMValueRef value);

/* Repeats for `copy`, a clone of `inst`, what is said at `inst`, of the copy's values. */
void rh_debug_vars_copy(struct rh_debug_vars *dv, LLVMValueRef inst, LLVMValueRef copy,
                        rh_debug_vars_value *value_of, void *arg);

/* Brings the module into the form that is written. */
void rh_debug_vars_pack(LLVMModuleRef module);

#endif
