/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scout: watches many sites at once within what the run's tasks leave of the budget. It learns
 * which sites run, which pairs of them meet, with and without a common lock, and proves those races
 * that happen before its eyes.
 *
 * How it works: there are *windows*. While one is open, all synchronisation is followed with vector
 * clocks (clocks.h), and every visit of a watched site is compared with the recent accesses of the
 * same bytes by other threads (recent.h): such a pair has met, and if nothing orders the two, it is
 * a race. Then the access takes its own place among the recent ones. Everything that is compared is
 * of the same window: nothing is remembered from one to the next. A window opens only when every
 * hook that orders threads is live, and counts for nobody who came before: so a thread that finds a
 * recent access has been seen to synchronise, or not to, ever since that access. Whatever is lost,
 * to the size of tables, to sampling, to the end of a window, makes a race unseen; none is made up.
 *
 * The first window opens before the first thread is created, because much of what goes wrong does
 * so when threads begin. It and each later one have a slice of the budget, and close when they have
 * used it; the next opens when enough has been earned again, or around a rare access that is made
 * to wait for others (ambush.h).
 *
 * Where the process may synchronise unseen (opaque.h), what is unordered is only suspected.
 */
#ifndef RH_RUNTIME_SCOUT_H
#define RH_RUNTIME_SCOUT_H

#include "racehive/control.h"
#include "scout/clocks.h"
#include "scout/recent.h"

/* An atomic that may acquire, between its two hooks, and what it met. `window` 0: there is none. */
struct rt_scout_atomic {
    uint32_t window, site, count;
    struct rt_recent access;
    struct {
        uintptr_t granule;
        struct rt_recent earlier;
    } met[2 * RT_RECENT_CELLS];
};

/* A thread's share. */
struct rt_scout {
    struct rt_clocks clocks;
    struct rt_scout_atomic atomic;
    uint32_t call_window; /* in which it came to a call that is yet to touch its memory, or 0 */
    uint16_t last_rare;   /* when it last came to a rare access, by rt_scout_sites_now, */
    uint16_t rare_waits;  /* and was paused there so often */
};

/* `offset`: where a thread's share lies in the state that its detector keeps of it. */
RT_HIDDEN bool rt_scout_start(size_t offset);

/* What a detector hands on; all do nothing while no window is open. */
RT_HIDDEN void rt_scout_access(struct rt_thread *self, const struct rt_access *a);
RT_HIDDEN void rt_scout_after(struct rt_thread *self, const struct rt_access *a);
RT_HIDDEN void rt_scout_sync(struct rt_thread *self, enum rt_sync what,
                             const volatile void *object);
/* What a call touches, whose site was handed on before. */
RT_HIDDEN void rt_scout_use(struct rt_thread *self, const struct rt_access *a);
/* `a`: the access that gives the block back, with its whole size; NULL if it is at no site. */
RT_HIDDEN void rt_scout_gone(struct rt_thread *self, const struct rt_access *a, uintptr_t start,
                             size_t size);
RT_HIDDEN void rt_scout_thread_begin(struct rt_thread *self);
RT_HIDDEN void rt_scout_after_fork(void);
/* An image has been loaded, before its code runs. */
RT_HIDDEN void rt_scout_image(struct rt_image *image);
/* It is about to be unloaded. */
RT_HIDDEN void rt_scout_image_gone(struct rt_image *image);

/* Before a thread is created, in its creator. */
RT_HIDDEN void rt_scout_creating(void);
/* A pair that was found unordered in a process that may synchronise unseen, each once. By the
 * runtime's own thread. */
RT_HIDDEN bool rt_scout_next_suspect(struct rh_site_name *first, struct rh_site_name *second,
                                     bool *is_second_rarer);
/* Opens and closes windows; by the runtime's own thread, now and then. */
RT_HIDDEN void rt_scout_tick(void);

#endif
