/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The struct that the compiler itself says an access goes through, for the files of src/ir alone.
 *
 * Optimised code says so for alias analysis (TBAA): "8 bytes into a struct item"; unoptimised code
 * by the type that a getelementptr walks through. This does not depend on how variables are
 * declared, so it shows casts (`((struct item *)arg)->next`) and guards against naming a member
 * of the wrong struct.
 */
#ifndef RH_IR_NAMES_STRUCT_HINT_H
#define RH_IR_NAMES_STRUCT_HINT_H

#include "ir/module.h"
#include "ir/names/member_path.h"

/* What was found out; one per module. */
struct rh_struct_hints {
    LLVMContextRef context;
    unsigned tbaa_kind;
    struct rh_arena arena;
    struct rh_map by_tag;  /* TBAA access tag -> struct rh_struct_hint * */
    struct rh_map by_type; /* type id -> the name of a struct, as hints have it */
};

void rh_struct_hints_init(struct rh_struct_hints *hints, struct rh_module *m);
void rh_struct_hints_release(struct rh_struct_hints *hints);

/* The hint of an access through `ptr + offset`; RH_HINT_NONE if nothing is said. */
struct rh_struct_hint rh_struct_hint_of(struct rh_struct_hints *hints, const struct rh_value *inst,
                                        const struct rh_value *ptr, int64_t offset);

#endif
