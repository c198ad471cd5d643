/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of memory that were just allocated and that nobody else knows yet.
 *
 * A *source* is a value that points to such a block when it is made: the result of an allocating
 * library function, of a function that returns nothing but fresh blocks, or a parameter that is
 * given a fresh block by every caller. From there on, the block stays fresh up to the first use
 * that may let its address out. Which functions and parameters qualify is found by going round:
 * returns are assumed not to be fresh until shown, parameters to be fresh until refuted.
 */
#ifndef RH_ANALYSIS_FLOW_FRESH_H
#define RH_ANALYSIS_FLOW_FRESH_H

#include "ir/ir.h"

struct rh_fresh;

struct rh_fresh *rh_fresh_find(struct rh_module *m);
void rh_fresh_free(struct rh_fresh *f);
/* Is the block behind `pointer` fresh just before `inst` runs? */
bool rh_fresh_at(const struct rh_fresh *f, const struct rh_value *inst, struct rh_value *pointer);
/* Does every call of the function return a fresh block, or nothing? */
bool rh_fresh_returns(const struct rh_fresh *f, const struct rh_function *fn);

#endif
