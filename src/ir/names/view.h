/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The struct that the compiler itself says an access goes through, for the files of src/ir alone.
 *
 * Optimised code says so for alias analysis (TBAA): "8 bytes into a struct item"; unoptimised code
 * by the type that a getelementptr walks through. That is independent of what variables are
 * declared as, so it shows casts (`((struct item *)arg)->next`) and guards against naming a member
 * of the wrong struct.
 */
#ifndef RH_IR_NAMES_VIEW_H
#define RH_IR_NAMES_VIEW_H

#include "ir/module.h"
#include "ir/names/place.h"

/* What was found out; one per module. */
struct rh_views {
    LLVMContextRef context;
    unsigned tbaa_kind;
    struct rh_arena arena;
    struct rh_map by_tag;  /* TBAA access tag -> struct rh_view * */
    struct rh_map by_type; /* type id -> the name of a struct, as views have it */
};

void rh_views_init(struct rh_views *views, struct rh_module *m);
void rh_views_release(struct rh_views *views);

/* The view of an access through `ptr + offset`; RH_VIEW_NONE if nothing is said. */
struct rh_view rh_view_of(struct rh_views *views, const struct rh_value *inst,
                          const struct rh_value *ptr, int64_t offset);

#endif
