/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks as people read them: the program's own frames, with those of libraries folded.
 *
 * The innermost frames of a library become a note at the line that called it; those between two of
 * the program's become the same; those around the outermost, which started the thread, are counted.
 */
#ifndef RH_REPORT_STACKS_H
#define RH_REPORT_STACKS_H

#include "report/locations.h"
#include "report/report.h"

struct rh_stack_line {
    const struct rh_symbols_frame *frame;  /* NULL: only folded ones */
    const struct rh_symbols_frame *callee; /* the outermost of those folded; NULL if none are */
    size_t folded;
};

struct rh_stack RH_VEC_BODY(struct rh_stack_line);

/* With `full`, or if no frame is the program's own, no frame is folded. */
void rh_stack_fold(const struct rh_report_side *side, bool full, struct rh_stack *stack);

/* "shared.cc:15:17, calling std::swap (3 frames)", or "3 frames of libraries, from
 * libstdc++.so.6". */
void rh_stack_describe(const struct rh_stack_line *line, const struct rh_locations *locations,
                       struct rh_strbuf *out);

/* The second half of it alone: ", inlined, calling std::swap (3 frames)". */
void rh_stack_describe_fold(const struct rh_stack_line *line, struct rh_strbuf *out);

/* Where a frame is, as sites have it. */
struct rh_sidecar_location rh_stack_location(const struct rh_symbols_frame *frame);

#endif
