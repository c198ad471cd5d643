/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the gates of a function stand: the places of its plain body that lead to its twin.
 *
 * How it works: a gate costs each run that passes it, so it should be passed seldom; but a run that
 * is under way must come to one before long, and each run must pass one before it comes to a key.
 *
 * Loops: a loop is *tight* if it is innermost and has no boundary (a call, an atomic or a volatile
 * access): it ends soon. So does each way round a larger loop that meets neither a boundary nor a
 * tight loop. Therefore a loop that holds keys and is not tight has its gates in its blocks with
 * boundaries and before its tight loops if all of them are passed over now and then, and else one
 * gate in its header. Loops that only wait for a value always have one in the header. A loop that
 * is not tight and holds no keys has gates where it is left, if keys follow.
 *
 * In the twin, a tight loop with keys has a gate of its own before it, which leads to them;
 * otherwise a copy of the loop without keys runs. A function may run for as long as its thread, and
 * stays in the twin once it is there: in tight loops even a key that is off would be felt.
 *
 * Keys that no header's gate leads to have a gate in the last block that all ways to them go
 * through.
 */
#ifndef RH_INSTRUMENT_GATES_H
#define RH_INSTRUMENT_GATES_H

#include "ir/graph/cfg.h"
#include "ir/ir.h"

/* May something happen at this instruction that orders threads, or that the block does not come
 * back from? */
bool rh_gates_is_boundary(const struct rh_value *inst);

/* Is the loop innermost and without boundaries? */
bool rh_gates_is_closed(const struct rh_loop *loop);
/* And does it more than wait? */
bool rh_gates_is_tight(const struct rh_loop *loop);

/* Plans for a function with keys in these blocks, one for each key. Fills `out`, which has room for
 * all blocks of the function, with those that get a gate, and returns how many; 0 if the function
 * needs no twin: a single key is as cheap as a gate, unless it stands in a tight loop. `always`:
 * with one key too, and at the entry: for the testing profile. */
uint32_t rh_gates_plan(const struct rh_cfg *cfg, struct rh_block *const *keyed, size_t count,
                       bool always, struct rh_block **out);

#endif
