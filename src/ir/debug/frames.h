/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The source scopes that an instruction lies in, from the innermost inlined call outwards, for the
 * files of src/ir alone.
 */
#ifndef RH_IR_DEBUG_FRAMES_H
#define RH_IR_DEBUG_FRAMES_H

#include "ir/debug/ditype.h"
#include "ir/ir.h"

#define RH_FRAMES_MAX 32

struct rh_frame {
    LLVMMetadataRef scope; /* the innermost block */
    LLVMMetadataRef inlined_at;
    bool is_library; /* a function of the C++ library, whose variables users do not know */
};

struct rh_frames {
    uint32_t count;
    struct rh_frame frames[RH_FRAMES_MAX]; /* the innermost first */
};

/* What was found out about scopes; one per module. */
struct rh_scopes {
    struct rh_ditypes *types;
    struct rh_map parents;   /* scope -> the scope around it */
    struct rh_map libraries; /* scope -> whether it is the C++ library's */
};

void rh_scopes_init(struct rh_scopes *scopes, struct rh_ditypes *types);
void rh_scopes_release(struct rh_scopes *scopes);

void rh_frames_of(struct rh_scopes *scopes, const struct rh_value *inst, struct rh_frames *out);

/* The distance from the instruction to a variable's scope: smaller is nearer, and functions of the
 * C++ library are farthest. -1 if the variable is not in scope there. */
bool rh_frames_is_library(int distance);
int rh_frames_distance(struct rh_scopes *scopes, const struct rh_frames *frames,
                       LLVMMetadataRef scope, LLVMMetadataRef inlined_at);

#endif
