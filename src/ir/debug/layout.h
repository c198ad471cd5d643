/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What debug information says about the memory behind a pointer: the type of the variables that
 * hold it, as a tree of structs and arrays with their offsets.
 *
 * Memory from malloc has no type of its own in the module, and the optimiser takes the types out of
 * address computations; what remains is that the result is called `struct node *n` in the source.
 * A union is one part without members, because a pointer to one member may be used as another.
 */
#ifndef RH_IR_DEBUG_LAYOUT_H
#define RH_IR_DEBUG_LAYOUT_H

#include "ir/ir.h"

struct rh_layouts;

/* Walks the module's debug information once. */
struct rh_layouts *rh_layouts_read(struct rh_module *m);
void rh_layouts_free(struct rh_layouts *l);
/* The type that the value is declared to point to; NULL if no variable holds it, if it says nothing
 * (void *, char *), or if variables disagree. Belongs to the layouts. */
const struct rh_type *rh_layout_behind(struct rh_layouts *l, const struct rh_value *pointer);
/*
 * The struct or class that the value is declared to point to, by the variables that hold it and the
 * member that it is loaded from, or, for what a call gives back, stored in; NULL if nothing says
 * so, or if they disagree. If it is also called a pointer to anything (void *), it must get its
 * declaration in the block where it is made: elsewhere that may be for some of its values only.
 * Types of one name and size are one.
 */
const struct rh_type *rh_layout_declared(struct rh_layouts *l, const struct rh_value *pointer);

#endif
