/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which memory more than one thread can reach, and when: the escape analysis.
 *
 * How it works. An object is *shared* when it is a global, memory of a library's or the outside's,
 * given to a thread that is started, known to the outside, or reachable by pointers from one that
 * is; anything else stays with the thread that has it, however often the code that made it runs.
 * Within shared memory, a block that was just allocated is *fresh* until its address is stored,
 * returned or passed to something that may keep it: its accesses up to there cannot race. Freshness
 * follows the pointer into functions that are only ever called with fresh blocks (a function that
 * fills in a new node), and out of functions that return nothing but fresh ones.
 */
#ifndef RH_ANALYSIS_PAIRS_ESCAPE_H
#define RH_ANALYSIS_PAIRS_ESCAPE_H

#include "analysis/access.h"
#include "analysis/pointsto/pointsto.h"

struct rh_escape;

struct rh_escape *rh_escape_find(struct rh_module *m, const struct rh_pointsto *p);
void rh_escape_free(struct rh_escape *s);
bool rh_escape_is_shared(const struct rh_escape *s, uint32_t object);
struct rh_fresh;
const struct rh_fresh *rh_escape_fresh(const struct rh_escape *s);
/* Is what `pointer` points to, where `inst` uses it, a block nobody else knows yet? */
bool rh_escape_is_fresh(const struct rh_escape *s, const struct rh_value *inst,
                        struct rh_value *pointer);

#endif
