/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows scopes outwards through blocks and inlined calls.
 */
#include "ir/debug/frames.h"

#include "ir/debug/di.h"

/* Blocks of one function that are told apart in a distance. */
#define MAX_BLOCKS 256

void rh_scopes_init(struct rh_scopes *scopes, struct rh_ditypes *types)
{
    *scopes = (struct rh_scopes){.types = types};
}

void rh_scopes_release(struct rh_scopes *scopes)
{
    rh_map_release(&scopes->parents);
    rh_map_release(&scopes->libraries);
}

static LLVMMetadataRef get_parent(struct rh_scopes *scopes, LLVMMetadataRef scope)
{
    LLVMMetadataRef parent;
    uint64_t known;

    if (rh_map_get(&scopes->parents, rh_map_key(scope), &known))
        return (LLVMMetadataRef)(uintptr_t)known;
    parent = LLVMGetMetadataKind(scope) == LLVMDISubprogramMetadataKind
                 ? NULL
                 : rh_di_get(scopes->types->context, scope, RH_DI_SCOPE);
    rh_map_put_ptr(&scopes->parents, rh_map_key(scope), parent);
    return parent;
}

static bool is_library(struct rh_scopes *scopes, LLVMMetadataRef scope)
{
    uint64_t known;

    if (!rh_map_get(&scopes->libraries, rh_map_key(scope), &known)) {
        known = rh_ditype_is_library_scope(scopes->types, scope);
        rh_map_put(&scopes->libraries, rh_map_key(scope), known);
    }
    return known;
}

static void add_frame(struct rh_scopes *scopes, struct rh_frames *out, LLVMMetadataRef scope,
                      LLVMMetadataRef inlined_at)
{
    out->frames[out->count++] = (struct rh_frame){
        .scope = scope,
        .inlined_at = inlined_at,
        .is_library = is_library(scopes, scope),
    };
}

void rh_frames_of(struct rh_scopes *scopes, const struct rh_value *inst, struct rh_frames *out)
{
    LLVMMetadataRef location = LLVMInstructionGetDebugLoc(inst->handle);

    out->count = 0;
    if (!location) {
        LLVMMetadataRef subprogram = LLVMGetSubprogram(inst->fn->handle);

        if (subprogram)
            add_frame(scopes, out, subprogram, NULL);
        return;
    }
    for (; location && out->count < RH_FRAMES_MAX; location = LLVMDILocationGetInlinedAt(location))
        add_frame(scopes, out, LLVMDILocationGetScope(location),
                  LLVMDILocationGetInlinedAt(location));
}

bool rh_frames_is_library(int distance)
{
    return distance >= RH_FRAMES_MAX * MAX_BLOCKS;
}

int rh_frames_distance(struct rh_scopes *scopes, const struct rh_frames *frames,
                       LLVMMetadataRef scope, LLVMMetadataRef inlined_at)
{
    for (uint32_t i = 0; i < frames->count; i++) {
        const struct rh_frame *f = &frames->frames[i];
        LLVMMetadataRef at = f->scope;

        if (f->inlined_at != inlined_at)
            continue;
        for (int blocks = 0; at && blocks < MAX_BLOCKS; blocks++) {
            if (at == scope)
                return (int)(i + (f->is_library ? RH_FRAMES_MAX : 0)) * MAX_BLOCKS + blocks;
            at = get_parent(scopes, at);
        }
        return -1;
    }
    return -1;
}
