/* SPDX-License-Identifier: Apache-2.0 */
/* Folds the frames of libraries: see stacks.h. */
#include "report/stacks.h"
#include "report/phrases.h"
#include "report/places.h"
#include "report/table.h"

static bool has_own(const struct rh_report_side *side)
{
    rh_vec_each (const struct rh_symbols_frame, it, &side->frames)
        if (!rh_place_is_library(it))
            return true;
    return false;
}

void rh_stack_fold(const struct rh_report_side *side, bool full, struct rh_stack *stack)
{
    struct rh_stack_line line = {0};
    bool folds = !full && has_own(side);
    rh_vec_each (const struct rh_symbols_frame, it, &side->frames) {
        if (folds && rh_place_is_library(it)) {
            line.callee = it;
            line.folded++;
            continue;
        }
        line.frame = it;
        rh_vec_push(stack, line);
        line = (struct rh_stack_line){0};
    }
    if (line.folded > 0)
        rh_vec_push(stack, line);
}

struct rh_sidecar_location rh_stack_location(const struct rh_symbols_frame *frame)
{
    return (struct rh_sidecar_location){.file = frame->file,
                                        .line = frame->line,
                                        .column = frame->column,
                                        .is_near = frame->is_near};
}

void rh_stack_describe_fold(const struct rh_stack_line *line, struct rh_strbuf *out)
{
    rh_strbuf_add(out, line->frame->inlined ? ", inlined" : "");
    if (line->folded == 0)
        return;
    rh_strbuf_addf(out, ", calling %s",
                   line->callee->function ? line->callee->function : line->callee->image);
    if (line->folded > 1)
        rh_strbuf_addf(out, " (%zu frames)", line->folded);
}

void rh_stack_describe(const struct rh_stack_line *line, const struct rh_locations *locations,
                       struct rh_strbuf *out)
{
    const char *frames = rh_table_choose(line->folded, "frame", "frames");
    if (!line->frame) {
        const char *image = line->callee->image;
        rh_strbuf_addf(out, "%zu %s of libraries", line->folded, frames);
        if (image)
            rh_strbuf_addf(out, ", from %s", image);
        return;
    }
    rh_phrase_location(line->frame, locations, out);
    rh_stack_describe_fold(line, out);
}
