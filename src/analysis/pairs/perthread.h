/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that each thread of a class has for itself: `pthread_create(&t[i], 0, work, &args[i])`.
 *
 * How it works: when a call that starts threads gives every one of them another part of memory as
 * argument (element i of an array in a loop over i, or a block allocated for it), then what a
 * thread does to its part meets no other thread of the class. Nor does it meet what the creator
 * does to the element of the round it is in, before it starts that round's thread (filling in the
 * argument) or after it has joined it (adding up results). Only accesses that certainly stay in the
 * part count: at a constant place from the argument, in the function the thread begins with.
 */
#ifndef RH_ANALYSIS_PAIRS_PERTHREAD_H
#define RH_ANALYSIS_PAIRS_PERTHREAD_H

#include "analysis/access.h"
#include "analysis/flow/flow.h"
#include "analysis/flow/fresh.h"
#include "analysis/pointsto/pointsto.h"

struct rh_perthread;

struct rh_perthread *rh_perthread_find(const struct rh_pointsto *p, const struct rh_flow *flow,
                                       const struct rh_fresh *fresh);
void rh_perthread_free(struct rh_perthread *o);
/* Does it matter for this access where exactly in its function it stands? */
bool rh_perthread_knows(const struct rh_perthread *o, const struct rh_access *a);
/* Do the two accesses, in these instances, always touch different parts or happen in order, because
 * one of them (or each) is a thread's access to its own part? */
bool rh_perthread_apart(const struct rh_perthread *o, uint32_t a_instance,
                        const struct rh_access *a, uint32_t b_instance, const struct rh_access *b);

#endif
