/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accesses in as few instructions as possible: those whose check in instrumented code has failed,
 * as they are the thread's first there in its present epoch, or others came since; and sweeps,
 * which are many accesses at once.
 *
 * The detector makes a thread ready when an access of it went the long way; from then on its plain
 * accesses come here. What needs more than to change the four words of a granule is refused and
 * goes the long way: races, origins that have no number yet, pages and chunks that were never
 * touched.
 */
#ifndef RH_RUNTIME_FASTTRACK_QUICK_H
#define RH_RUNTIME_FASTTRACK_QUICK_H

#include "fasttrack/track.h"

/* The calling thread's accesses come here from now on; `epoch_word` is their epoch. */
RT_HIDDEN void rt_quick_ready(struct rt_thread *self, struct rt_clocks *clocks,
                              uint64_t epoch_word);

/* Something has happened that may order threads. The epoch goes on if the thread has given nothing
 * away: whoever learns of its accesses before learns of those that follow, too. */
RT_HIDDEN void rt_quick_sync(const struct rt_thread *self);
/* The thread ends: its struct may soon be another's. */
RT_HIDDEN void rt_quick_end(void);

/* The locks that the thread holds, as a number; counted again only after rt_quick_sync. */
RT_HIDDEN uint64_t rt_quick_locks(const struct rt_thread *self);

/* The image's check (racehive/image.h). False: it must go the long way. */
RT_HIDDEN bool rt_quick_check(struct rh_image *image, uintptr_t address, uint64_t key,
                              uint64_t shape, uintptr_t stack);

/* Accesses of `size` bytes at *at, *at + stride and so on, up to before `end`, that have all the
 * same cell but for its bytes. False: *at is the address of the first that is refused, wholly or in
 * part. */
RT_HIDDEN bool rt_quick_sweep(const struct rt_clocks *clocks, uintptr_t *at, uintptr_t end,
                              uint64_t stride, uint64_t size, uint64_t cell);

/* What tells the stacks and locks of one site apart. Two ways to a site that leave the same stack
 * pointer are taken for the same, and the first is shown. */
static inline uint64_t rt_quick_context(uintptr_t stack, uint64_t locks)
{
    return stack + locks;
}

#endif
