/* SPDX-License-Identifier: Apache-2.0 */
/* From a finding as the runtime recorded it, places and numbers, to one in words. */
#include "report/evidence.h"

#include <string.h>

/* Images whose frames call main, or the first function of a thread: of no interest to a reader. */
static const char *const start_images[] = {"libc.so", "libc-", "libpthread", "ld-linux", "ld.so"};

static const struct rh_image_name *get_image(const struct rh_runs_finding *finding,
                                             const struct rh_place *place)
{
    if (place->image >= RH_MAX_IMAGES)
        return NULL;
    const struct rh_image_name *image = &finding->images[place->image];
    return image->ready ? image : NULL;
}

/* The sidecar's own words for the site: what the compiler meant, exact where debug information of
 * optimised code may have moved on. */
static void add_site(struct rh_symbols *symbols, const struct rh_sidecar_site *site,
                     struct rh_symbols_frames *frames)
{
    for (const struct rh_sidecar_location *at = site->location; at; at = at->inlined_at) {
        const char *name = rh_symbols_demangle(symbols, at->linkage ? at->linkage : "");
        rh_vec_push(frames, (struct rh_symbols_frame){
                                .function = strncmp(name, "_Z", 2) == 0 || !*name ||
                                                    strcmp(name, at->linkage) == 0
                                                ? at->function
                                                : name,
                                .linkage = at->linkage,
                                .file = at->file,
                                .line = at->line,
                                .column = at->column,
                                .inlined = at->inlined_at != NULL,
                                .is_near = at->is_near,
                            });
    }
}

static bool is_start_code(const struct rh_symbols_frame *frame)
{
    if (frame->function && strcmp(frame->function, "_start") == 0)
        return true;
    if (!frame->image)
        return false;
    for (size_t i = 0; i < sizeof start_images / sizeof start_images[0]; i++)
        if (strncmp(frame->image, start_images[i], strlen(start_images[i])) == 0)
            return true;
    return false;
}

/* Cuts what is outside main, or outside the first function of a thread. */
static void cut_start_code(struct rh_symbols_frames *frames)
{
    for (size_t i = 0; i < frames->len; i++) {
        const struct rh_symbols_frame *frame = &frames->data[i];
        if (frame->function && strcmp(frame->function, "main") == 0)
            frames->len = i + 1;
    }
    while (frames->len > 1 && is_start_code(&rh_vec_last(frames)))
        frames->len--;
}

static void add_frames(struct rh_symbols *symbols, const struct rh_runs_finding *finding,
                       const struct rh_finding_side *from, struct rh_report_side *side)
{
    uint32_t count = from->frame_count < RH_MAX_FRAMES ? from->frame_count : RH_MAX_FRAMES;
    add_site(symbols, side->site, &side->frames);
    for (uint32_t i = side->frames.len > 0; i < count; i++) {
        const struct rh_image_name *image = get_image(finding, &from->frames[i]);
        if (image)
            rh_symbols_add_frames(symbols, image, from->frames[i].offset, &side->frames);
        else
            rh_vec_push(&side->frames, (struct rh_symbols_frame){0});
    }
    if (side->frames.len == 0)
        rh_vec_push(&side->frames,
                    (struct rh_symbols_frame){.function = side->site->function->name});
    /* A stack that is not complete does not end in start code. */
    if (count < RH_MAX_FRAMES)
        cut_start_code(&side->frames);
}

static void add_locks(struct rh_symbols *symbols, const struct rh_runs_finding *finding,
                      const struct rh_finding_side *from, struct rh_report_side *side)
{
    for (uint32_t i = 0; i < from->lock_count && i < RH_MAX_LOCKS; i++) {
        const struct rh_place *place = &from->locks[i];
        const struct rh_image_name *image = get_image(finding, place);
        struct rh_report_lock lock = {.tag = place->tag};
        if (image)
            lock.name = rh_symbols_variable(symbols, image, place->offset);
        rh_vec_push(&side->locks, lock);
    }
}

static const char *describe_block(struct rh_arena *arena, struct rh_symbols *symbols,
                                  const struct rh_runs_finding *finding)
{
    const struct rh_image_name *image;
    const char *name = NULL;
    switch (finding->finding.block) {
    case RH_BLOCK_GLOBAL:
        if ((image = get_image(finding, &finding->finding.data)))
            name = rh_symbols_variable(symbols, image, finding->finding.data.offset);
        return name ? rh_arena_printf(arena, "global %s", name) : "global memory";
    case RH_BLOCK_STACK:
        return rh_arena_printf(arena, "the stack of thread %u", finding->finding.block_thread);
    default:
        return "heap";
    }
}

struct rh_report_finding *rh_evidence_describe(struct rh_arena *arena, struct rh_symbols *symbols,
                                               const struct rh_report_candidate *candidate,
                                               const struct rh_runs_finding *finding)
{
    struct rh_report_finding *out = rh_arena_new(arena, struct rh_report_finding);
    bool is_primary = finding->order == RH_ORDER_PRIMARY;
    out->order = is_primary ? RH_ORDER_PRIMARY : RH_ORDER_ALTERNATE;
    out->proof = (enum rh_proof)finding->finding.proof;
    out->proved = finding->proved;
    out->pause_us = finding->finding.pause_us;
    out->block = describe_block(arena, symbols, finding);
    for (int i = 0; i < 2; i++) {
        const struct rh_finding_side *from = &finding->finding.sides[i];
        struct rh_report_side *side = &out->sides[i];
        side->thread = from->thread;
        side->parent = from->parent;
        side->site = is_primary == (i == 0) ? candidate->first : candidate->second;
        add_frames(symbols, finding, from, side);
        add_locks(symbols, finding, from, side);
    }
    return out;
}

const struct rh_sidecar_site *
rh_evidence_uninstrumented(struct rh_arena *arena, const struct rh_report_candidate *candidate)
{
    const struct rh_symbols_frame *frame = &candidate->finding->sides[0].frames.data[0];
    if (!frame->function)
        return candidate->second;
    struct rh_sidecar_site *site = rh_arena_new(arena, struct rh_sidecar_site);
    struct rh_sidecar_function *function = rh_arena_new(arena, struct rh_sidecar_function);
    *site = *candidate->second;
    *function = (struct rh_sidecar_function){.name = frame->function};
    site->function = function;
    if (frame->file) {
        struct rh_sidecar_location *at = rh_arena_new(arena, struct rh_sidecar_location);
        *at = (struct rh_sidecar_location){.file = frame->file,
                                           .line = frame->line,
                                           .column = frame->column,
                                           .function = frame->function,
                                           .is_near = frame->is_near};
        site->location = at;
    }
    return site;
}

void rh_evidence_release(struct rh_report_finding *finding)
{
    for (int i = 0; i < 2; i++) {
        rh_vec_free(&finding->sides[i].frames);
        rh_vec_free(&finding->sides[i].locks);
    }
}
