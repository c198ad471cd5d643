/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The making of a module's snapshot, for the files that share the work: snapshot.c (order, ids,
 * blocks, users), values.c (instructions and constants), types.c, locs.c and lines.c.
 *
 * Two passes: the first gives every global, function, argument, block and instruction its struct,
 * so that the second can resolve any reference. Constants are met in the second pass and wait in
 * `pending` for their operands to be read, so nesting costs no stack.
 */
#ifndef RH_IR_READ_SNAPSHOT_H
#define RH_IR_READ_SNAPSHOT_H

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>

#include "base/map.h"
#include "base/vec.h"
#include "ir/module.h"

struct rh_snapshot_values RH_VEC_BODY(struct rh_value *);

/* A use that no operand shows: an operand bundle of a call. */
struct rh_snapshot_use {
    struct rh_value *user;
    struct rh_value *value;
};
struct rh_snapshot_uses RH_VEC_BODY(struct rh_snapshot_use);

struct rh_snapshot {
    struct rh_module *m;
    LLVMTargetDataRef layout;
    unsigned returns_twice, memory, byval; /* LLVM's numbers of attributes */
    struct rh_map block_of;                /* LLVMBasicBlockRef -> struct rh_block * */
    struct rh_map loc_of;                  /* DILocation -> struct rh_loc * */
    struct rh_map scope_of;                /* DILocalScope -> what locations in it have in common */
    struct rh_map file_of;                 /* DIFile -> its path */
    struct rh_map near_of;                 /* struct rh_loc -> the same, marked as near */
    struct rh_map ignored_functions;       /* LLVMValueRef of functions, see ignored.h */
    struct rh_strmap ignored;              /* the same by name and place */
    struct rh_snapshot_values values;      /* all, by id */
    struct rh_snapshot_values pending;
    struct rh_snapshot_uses bundle_uses; /* by the user's id */
};

/* Reads the module of `m` into its tables. Cannot fail: the module was verified. */
void rh_snapshot_take(struct rh_module *m);

struct rh_type *rh_snapshot_type(struct rh_snapshot *s, LLVMTypeRef type);

/* A new struct with the next id, registered under `handle`. */
struct rh_value *rh_snapshot_add(struct rh_snapshot *s, LLVMValueRef handle,
                                 enum rh_value_kind kind);
/* The value's struct; a constant met for the first time gets one here. */
struct rh_value *rh_snapshot_value(struct rh_snapshot *s, LLVMValueRef handle);
/* Sets the operands to these, of which none is NULL. */
void rh_snapshot_set_ops(struct rh_snapshot *s, struct rh_value *v, const LLVMValueRef *handles,
                         uint32_t count);
/* Fills what the first pass left open of an instruction. */
void rh_snapshot_fill(struct rh_snapshot *s, struct rh_value *inst);
/* Reads the operands of all constants met so far and of those that they lead to. */
void rh_snapshot_fill_constants(struct rh_snapshot *s);

/* The location behind a DILocation; NULL for NULL. */
const struct rh_loc *rh_snapshot_loc(struct rh_snapshot *s, LLVMMetadataRef location);
/* Where a function with this DISubprogram is defined; NULL for NULL. */
const struct rh_loc *rh_snapshot_function_loc(struct rh_snapshot *s, LLVMMetadataRef subprogram);
/* Where a global variable is defined, as a near location in `f`; NULL if that is not known. */
const struct rh_loc *rh_snapshot_variable_loc(struct rh_snapshot *s, const struct rh_value *global,
                                              const struct rh_function *f);
/* Gives accesses and calls without a line the nearest one: see lines.c. Needs users. */
void rh_snapshot_find_lines(struct rh_snapshot *s, struct rh_function *f);

#endif
