/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which integers are never negative, judged by the operations that compute them. An index that may
 * be negative can move a pointer towards the beginning of its array.
 *
 * How it works: the operations are followed back for a few steps. Around a loop the answer is
 * assumed by induction: it holds if it holds on every entry to the loop. A sum that the compiler
 * knows not to wrap is taken for a sum of numbers within the range of an address.
 */
#ifndef RH_IR_GRAPH_NONNEGATIVE_H
#define RH_IR_GRAPH_NONNEGATIVE_H

#include "ir/ir.h"

/* Whether the value is never negative; false also if too little is known. */
bool rh_nonnegative_holds(const struct rh_value *v);

#endif
