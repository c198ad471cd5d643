/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pausing a thread before an access, and meeting a paused one: collisions.
 *
 * How it works: a paused thread publishes its access in a slot of a small table and waits. It
 * performs no acquire meanwhile, not even in a signal handler, since signals are blocked. Another
 * thread that makes a conflicting access performs none between its hook and that access. So nothing
 * orders the two, whatever synchronisation the program uses, seen by us or not: they collide. The
 * second thread takes the slot over, and with it the witness. In the hook after an atomic only a
 * pause that began before the atomic counts: its thread has acquired nothing since then, but one
 * that paused later may have acquired from the atomic. The paused thread goes on a little later, so
 * that its own access comes second. While no thread is paused, a hook reads one counter.
 */
#ifndef RH_RUNTIME_PAUSE_H
#define RH_RUNTIME_PAUSE_H

#include "evidence/witness.h"

/*
 * A moment: how many tracks (detect/order.h) and pauses have begun; each takes the next number as
 * it begins. Threads run between the hook before an atomic and the hook after it. Whoever acquires
 * from the atomic and then begins a track or a pause takes no smaller number than the moment read
 * before the atomic. So only what has a smaller one was there before the atomic, and is not ordered
 * behind it.
 */
#define RT_ANY_MOMENT UINT64_MAX
extern RT_HIDDEN _Atomic uint64_t rt_moment;

/* Which of a candidate's two sites an access is at. */
enum rt_side { RT_SIDE_FIRST, RT_SIDE_SECOND };

/* Pauses that belong to no task: the scout's (scout/ambush.h). Their sides are reads and writes. */
enum { RT_PAUSE_AMBUSH = RH_MAX_TASKS };

enum rt_pause_end {
    RT_PAUSE_REFUSED,   /* the budget does not allow it, or no slot is free */
    RT_PAUSE_TIMED_OUT, /* no thread collided */
    RT_PAUSE_MET,       /* a thread collided, and has reported it */
};

/* Pauses the calling thread before its access, which is of this side of a task, for at most `us`.
 */
RT_HIDDEN enum rt_pause_end rt_pause(struct rt_thread *self, uint32_t task, enum rt_side side,
                                     const struct rt_access *a, uint32_t us);

struct rt_meeting {
    struct rt_witness paused;
    uint32_t paused_us;
};

/* Whether another thread is paused, since before the moment `limit`, before an access of this side
 * of the task that conflicts; it is let go. */
RT_HIDDEN bool rt_pause_meet(const struct rt_thread *self, uint32_t task, enum rt_side paused,
                             const struct rt_access *a, uint64_t limit, struct rt_meeting *meeting);

/* The next thread in ambush, from slot *at on, whose access conflicts. It stays where it is, so
 * that others can collide with it, too: what proves the race is that both were before their
 * accesses at the moment of this call. Start with *at = 0. */
RT_HIDDEN bool rt_pause_meet_ambush(const struct rt_thread *self, const struct rt_access *a,
                                    bool writes, uint32_t *at, struct rt_meeting *meeting);

/* Ends all pauses of tasks; in a child after fork, forgets those of threads that are not there. */
RT_HIDDEN void rt_pause_release_tasks(void);
RT_HIDDEN void rt_pause_after_fork(void);

#endif
