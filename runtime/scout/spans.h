/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The most recent long accesses: copies of structs and buffers, memset. One of them would take
 * thousands of entries in the table of recent accesses (recent.h), so it is kept here as one
 * *span*, and whoever touches some of its bytes later finds it. What it meets itself it looks up in
 * the table.
 *
 * Few are kept; the oldest makes room. As in the table, what is lost makes a race unseen, and
 * nothing is made up: a span that is being changed is not there, and those of memory that is given
 * back are forgotten.
 */
#ifndef RH_RUNTIME_SPANS_H
#define RH_RUNTIME_SPANS_H

#include "scout/recent.h"

enum { RT_SPANS = 8, RT_SPAN_LEAST = 256 }; /* bytes */

/* Keeps an access, unless its epoch is 0. */
RT_HIDDEN void rt_spans_put(uint32_t window, uintptr_t start, size_t size,
                            const struct rt_recent *access);

/* Copies the spans that the access of these bytes may race with to `others`, with its own bytes.
 * The number of them; *hints more follow, which are of earlier windows (rt_recent_visit). */
RT_HIDDEN uint32_t rt_spans_find(uint32_t window, uintptr_t start, size_t size,
                                 const struct rt_recent *access, struct rt_recent others[RT_SPANS],
                                 uint32_t *hints);

/* Forgets those that have one of these bytes. False if one stayed busy: then the window must end.
 */
RT_HIDDEN bool rt_spans_forget(uintptr_t start, size_t size);

#endif
