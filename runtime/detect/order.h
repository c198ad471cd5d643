/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Happens-before on demand: who has learned of a recorded first access.
 *
 * How it works: at most 64 accesses are tracked at a time, each with a bit. A thread that knows a
 * bit has synchronised, directly or through others, with the tracked access. Threads carry a word
 * of bits, and so does every synchronisation object: a release gives the thread's bits to the
 * object, an acquire takes the object's. That is an `or` of two words, whatever the number of
 * threads. When an access comes by a thread that has not learned the bit, nothing orders the two.
 *
 * Every inaccuracy is on one side: a thread may learn too much, and a race is missed; it never
 * learns too little, and no race is invented. So the words of objects lie in a table without keys,
 * where two objects may share one; a bit that comes late, when its track has ended and the bit is
 * used again, only makes someone know what he does not; nothing is ever cleared that may still be
 * meant. While no access is tracked, synchronisation is not looked at: whoever learns of a track
 * does so by a chain that begins in the tracked thread, after it has switched events on.
 *
 * A track ends when every live thread has learned of it, when its memory is given back, when it has
 * been part of a race, or when its place is wanted for another.
 */
#ifndef RH_RUNTIME_ORDER_H
#define RH_RUNTIME_ORDER_H

#include "evidence/pause.h"
#include "evidence/witness.h"

enum { RT_TRACKS = 64, RT_TRACKS_OF_TASK = 16 };

/* Of a thread: tracked accesses as bits. */
struct rt_knowledge {
    _Atomic uint64_t known;    /* it has learned of */
    _Atomic uint64_t released; /* it knew at its last release fence */
    _Atomic uint64_t pending;  /* its next acquire fence will bring */
};

/* Tracking is allowed only while every hook that orders threads is live; to forbid it ends all
 * tracks. */
RT_HIDDEN void rt_order_allow(bool allowed);

/* There are atomics wider than eight bytes; before any of them is reached. */
RT_HIDDEN void rt_order_widen(void);

/* Begins to track an access of a task's side that is about to happen. False if it is not allowed,
 * or there is no room and this one was not chosen to replace another. */
RT_HIDDEN bool rt_order_track(struct rt_thread *self, uint32_t task, enum rt_side side,
                              const struct rt_access *a);

/* What is to be said of an access and the tracks of a task's other side that it meets, of those
 * that began before the moment `limit`. */
struct rt_order_comparison {
    uint32_t ordered; /* tracks that the thread had learned of */
    bool raced;       /* at least one that it had not: `first` is it, and its track has ended */
    struct rt_witness first;
};
RT_HIDDEN void rt_order_compare(struct rt_thread *self, uint32_t task, enum rt_side other,
                                const struct rt_access *a, uint64_t limit,
                                struct rt_order_comparison *compared);
/* Whether the task has a track of this side, by another thread, that the access overlaps. */
RT_HIDDEN bool rt_order_has(const struct rt_thread *self, uint32_t task, enum rt_side side,
                            const struct rt_access *a);

/* What a detector hands on. `before` and `after` are for atomics and fences. */
RT_HIDDEN void rt_order_sync(struct rt_thread *self, enum rt_sync what,
                             const volatile void *object);
RT_HIDDEN void rt_order_before(struct rt_thread *self, const struct rt_access *a);
RT_HIDDEN void rt_order_after(struct rt_thread *self, const struct rt_access *a);
RT_HIDDEN void rt_order_thread_begin(struct rt_thread *self);
RT_HIDDEN void rt_order_after_fork(struct rt_thread *self);
/* Memory is given back. */
RT_HIDDEN void rt_order_gone(uintptr_t start, uint64_t size);

/* Ends every track: the tasks have changed. */
RT_HIDDEN void rt_order_end_all(void);

/* Ends the tracks that every live thread has learned of, where the last that had not has ended. */
RT_HIDDEN void rt_order_collect(void);

/* Called when every live thread has learned of a track. */
extern RT_HIDDEN void (*rt_order_learned)(uint32_t task);

#endif
