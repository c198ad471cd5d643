/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accesses in loops whose addresses are known before the loop: always the same, or a constant
 * distance further each time round, so often as is known, too.
 *
 * How it works: a value changes by a constant each time round if it is a phi of the loop's header
 * that does, or made of such values by sums, products with constants and getelementptrs. How often
 * the loop runs follows from the comparison with which its last block goes on. Numbers wrap as they
 * do in the program; where a number that wraps would make a difference, LLVM must know that it does
 * not.
 *
 * Only loops are looked at that a run enters in one place and leaves in none but those that are
 * seen: the caller says that nothing in them can end it otherwise.
 */
#ifndef RH_IR_GRAPH_SWEEP_H
#define RH_IR_GRAPH_SWEEP_H

#include "ir/graph/cfg.h"
#include "ir/sweep.h"

/* Whether what the instruction does at this address is known before the innermost loop that it
 * stands in, and certainly happens if that is entered. */
bool rh_sweep_find(const struct rh_cfg *cfg, const struct rh_value *inst, struct rh_value *pointer,
                   struct rh_sweep *out);

#endif
