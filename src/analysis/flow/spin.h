/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops that wait for another thread to change a variable.
 *
 * Such a loop loads a plain variable from the same place each time round, leaves when the value
 * says so, and does nothing else that could matter (a pause, a yield or a sleep may stand in it).
 * The optimiser may have taken the load out, as the language allows; what is left is a load that
 * decides whether to enter a loop without an end.
 */
#ifndef RH_ANALYSIS_FLOW_SPIN_H
#define RH_ANALYSIS_FLOW_SPIN_H

#include "analysis/access.h"
#include "base/bitset.h"

/* Adds to `waiting` the number of each access that such a loop waits with. */
void rh_spin_find(const struct rh_accesses *accesses, struct rh_bitset *waiting);

#endif
