/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs of functions that ran at the same time in two threads, and in how many calls each was seen.
 *
 * How it works: each thread has a map of its own from the numbers of two functions to a count, so
 * that threads do not wait for one another. A pair that a thread meets for the first time is looked
 * up by the fingerprints of its functions in the pairs of the control page: there the controller
 * has entered what earlier runs have seen often (racehive/control.h), and there a new one is
 * entered at once, so that it is known even if the program is killed. The counts are added to the
 * page when a thread or the process ends.
 */
#ifndef RH_RUNTIME_SAMPLING_PAIRS_H
#define RH_RUNTIME_SAMPLING_PAIRS_H

#include "racehive/control.h"
#include "rt.h"

struct rt_pair {
    uint64_t functions; /* two numbers, the smaller one above; 0: free */
    uint32_t row;       /* in the control page; RT_PAIR_NO_ROW: there was no room */
    uint32_t count;     /* calls in which it was seen, those of earlier runs too */
    uint32_t untold;    /* of these, what the control page does not have yet */
};
#define RT_PAIR_NO_ROW UINT32_MAX

struct rt_pair_map {
    struct rt_pair at[1 << 12];
};

/* Prepares to look up what the controller has entered. */
RT_HIDDEN bool rt_pairs_start(struct rh_pairs *page);
/* Gives a function its fingerprint; those without are not carried to later runs. */
RT_HIDDEN void rt_pairs_name(uint32_t function, uint64_t fingerprint);
/* The pair in a thread's map, made with the count of earlier runs if it is new there. NULL if there
 * is no room: counted. */
RT_HIDDEN struct rt_pair *rt_pairs_find(struct rt_pair_map *map, uint32_t a, uint32_t b);
RT_HIDDEN void rt_pairs_add(struct rt_pair *pair, uint32_t calls);
/* Adds what is untold to the control page, or forgets it. */
RT_HIDDEN void rt_pairs_tell(struct rt_pair_map *map);
RT_HIDDEN void rt_pairs_forget_untold(struct rt_pair_map *map);

#endif
