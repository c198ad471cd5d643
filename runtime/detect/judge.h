/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What detectors conclude from an access: it meets a paused thread, or it is compared with
 * tracked accesses. Findings and counts go to the shared memory of the run.
 */
#ifndef RH_RUNTIME_JUDGE_H
#define RH_RUNTIME_JUDGE_H

#include "plan.h"

/* Of a thread: its last access that is known only inside the call that makes it: the block that
 * free gives back, and what a system call moves. */
struct rt_open_access {
    struct rh_image *image;
    uint32_t site;
    uint32_t when; /* rt_thread's `metered` */
    uintptr_t address;
};

/* Of a thread: the atomic that it is in, between its two hooks, and the moment before it. */
struct rt_entered {
    struct rh_image *image; /* NULL: none */
    uint32_t site;
    uint64_t moment;
};

/* A thread that is paused before the other side's access: a collision. */
RT_HIDDEN void rt_judge_meeting(struct rt_thread *self, const struct rt_visit *v);

/* Tracked accesses of the other side: ordered, or a race. */
RT_HIDDEN void rt_judge_order(struct rt_thread *self, const struct rt_visit *v);

/* The whole stage of order before an access: what it meets and what it is compared with, and it is
 * tracked itself. An atomic that acquires is ordered behind what it acquires from: it is compared
 * by rt_judge_after when it has. `pause` runs between comparing and tracking; NULL if nothing does.
 */
RT_HIDDEN void rt_judge_before(struct rt_thread *self, const struct rt_visit *v,
                               void (*pause)(struct rt_thread *, const struct rt_visit *));

/* After an atomic that may acquire: what was there when it was entered is judged. Who came later
 * may have acquired from it, and has judged for himself. Nothing is judged of an atomic whose hook
 * before did not run, or in which a signal handler entered another. */
RT_HIDDEN void rt_judge_after(struct rt_thread *self, const struct rt_visit *v);
/* The last step of the hook after an atomic. */
RT_HIDDEN void rt_judge_leave(struct rt_thread *self);

/* Of a masked access nobody knows which bytes it touches, and of a library call whether it touches
 * any. */
static inline bool rt_judge_knows_bytes(const struct rt_access *a)
{
    return !(a->flags & RH_SITE_PARTIAL);
}

/* Counts the execution and notes whom it meets. */
RT_HIDDEN void rt_judge_note(struct rt_thread *self, const struct rt_visit *v);

/* What an access or its end mean for the order of threads; all detectors that follow it call these
 * last, and first. */
RT_HIDDEN void rt_judge_release(struct rt_thread *self, const struct rt_access *a);

/* Remembers an access whose end is known only inside the call that makes it; when its block is
 * given back, it is the access that does so, whole. False if the block is given back at no site. */
RT_HIDDEN void rt_judge_open(struct rt_thread *self, const struct rt_access *a);
RT_HIDDEN bool rt_judge_close(struct rt_thread *self, uintptr_t start, size_t size,
                              struct rt_access *a);
/* The same for the memory that a system call moves: it is the access of the site that called. */
RT_HIDDEN bool rt_judge_close_use(struct rt_thread *self, const struct rt_use *use,
                                  struct rt_access *a);

#endif
