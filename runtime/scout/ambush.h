/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ambushes: a thread is paused before an access of the scout's own choice, while all sites are
 * watched. Another thread that touches the same bytes meanwhile collides with it: a race, whatever
 * synchronisation the program uses, seen by us or not (pause.h).
 *
 * This finds what windows alone hardly see: an access that is made now and then, by a timer or a
 * thread that cleans up, against code that runs all the time. The rare access waits for the
 * frequent one, which comes soon; if a common lock keeps the other thread away, nobody comes and
 * nothing is said.
 */
#ifndef RH_RUNTIME_AMBUSH_H
#define RH_RUNTIME_AMBUSH_H

#include "evidence/pause.h"

/* Whether the access, which is about to happen, collides with a thread that lies in ambush; if so
 * it is reported. */
RT_HIDDEN void rt_ambush_meet(struct rt_thread *self, const struct rt_access *a);

/* Pauses the calling thread before its access, for at most `us`. Refused if too many lie in ambush
 * already, if there is no other thread, or if half of the budget for pauses is spent: that half is
 * for tasks. */
RT_HIDDEN enum rt_pause_end rt_ambush(struct rt_thread *self, const struct rt_access *a,
                                      uint32_t us);

RT_HIDDEN void rt_ambush_after_fork(void);

#endif
