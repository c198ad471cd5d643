/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which locks were held at both of two accesses that met. It only chooses where to look: for a
 * proof, locks count by the order that they make.
 *
 * How it works: locks are bits by hash. The list of a thread is known from its first event in a
 * window on; before that it may hold any. Whoever is ordered behind such an access has learned of
 * it from what that thread did next, and by then it is known which locks it had *carried* into the
 * window: those that it gave back without having taken them.
 */
#ifndef RH_RUNTIME_HELD_H
#define RH_RUNTIME_HELD_H

#include "scout/recent.h"

/* What a thread holds, for rt_recent's `locks`. */
RT_HIDDEN uint32_t rt_held_by(const struct rt_thread *self);
RT_HIDDEN bool rt_held_in_common(const struct rt_recent *later, const struct rt_recent *earlier);
/* An event, before the lock that it gives back is taken from the thread's list. */
RT_HIDDEN void rt_held_event(const struct rt_thread *self, enum rt_sync what,
                             const volatile void *object);
/* A window begins. */
RT_HIDDEN void rt_held_forget(void);

#endif
