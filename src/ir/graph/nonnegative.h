/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which numbers are never below zero, by how they are made: an index that is not lets a pointer
 * move towards the beginning of its array.
 *
 * How it works: the operations that a value comes from are followed back a few steps. Around a loop
 * the answer is assumed, which is right if every other way into the loop gives it. A sum that the
 * compiler knows not to wrap counts as one of numbers in the range of an address.
 */
#ifndef RH_IR_GRAPH_NONNEGATIVE_H
#define RH_IR_GRAPH_NONNEGATIVE_H

#include "ir/ir.h"

/* False if it may be, and if too little is known. */
bool rh_nonnegative_holds(const struct rh_value *v);

#endif
