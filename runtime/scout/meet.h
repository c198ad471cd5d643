/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two accesses of common bytes by two threads, one of them writing: their sites have *met*. Counted
 * in the shared memory of the run (racehive/control.h), each pair of sites once, with how often it
 * met with and without a common lock, ordered and unordered; what is unordered is reported.
 */
#ifndef RH_RUNTIME_MEET_H
#define RH_RUNTIME_MEET_H

#include "scout/clocks.h"
#include "scout/recent.h"

/* What a meeting brought. */
enum rt_met {
    RT_MET_KNOWN,     /* nothing that was not known of the pair */
    RT_MET_NEWS,      /* a new pair, or one without a common lock */
    RT_MET_RACE,      /* unordered */
    RT_MET_FIRST_RACE /* for the first time */
};

/* An access of the calling thread, with the form that it has in tables. */
struct rt_comer {
    struct rt_thread *self;
    const struct rt_clocks *clocks;
    const struct rt_access *access;
    const struct rt_recent *later;
    uintptr_t granule;
};
/* It meets an earlier one of the same granule. `shares_a_lock`: both threads held a common lock, or
 * it is not known what they held. */
RT_HIDDEN enum rt_met rt_meet(const struct rt_comer *m, const struct rt_recent *earlier,
                              bool shares_a_lock);

/* Both touched common bytes, but in different windows: they may meet in another. */
RT_HIDDEN void rt_meet_hint(uint32_t first, uint32_t second);

/* The two sites collided. True if this is one of the first times, and worth a report. */
RT_HIDDEN bool rt_meet_collided(uint32_t first, uint32_t second);

/* Counts a meeting of two sites (rh_site_word) whose order nobody has looked at. */
RT_HIDDEN void rt_meet_unjudged(uint32_t first, uint32_t second, bool shares_a_lock);

#endif
