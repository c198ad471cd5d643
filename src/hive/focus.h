/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a run's scout shall look: wishes for sites, from what earlier runs have shown.
 *
 * How it works: a pair of sites that met without a common lock may race, and so may one that came
 * close to it, or that met so in another build or under another detector. Both its sites are in
 * focus until a race is proved. Runs in which the pair was seen
 * in order speak against a race, but do not exclude it: the more there are, the fewer runs have it
 * in focus, chosen at random, so that what is left to find gets a larger share of the windows. A
 * site that many runs have seen, and that is in no such pair, is known, and so is one that as many
 * runs have not seen. Earlier runs may have missed something, so that now and then a run takes
 * nothing for known.
 */
#ifndef RH_HIVE_FOCUS_H
#define RH_HIVE_FOCUS_H

#include "store/runs.h"

enum {
    RH_FOCUS_HALF_LIFE = 8,   /* runs in order after which every second run has a pair in focus */
    RH_FOCUS_SITE_RUNS = 16,  /* enough to know a site, */
    RH_FOCUS_THREAD_RUNS = 8, /* or so many in which more than one thread ran it */
    RH_FOCUS_ALL_ONE_IN = 4,  /* runs that take nothing for known */
};

/* The wishes for the sites of one image, enum rh_scout_wish: RH_SCOUT_USUAL until a store says
 * more. */
struct rh_focus_image {
    uint8_t *wishes;
    size_t count;
};

/* Adds what a store says of the sites of its program and of its libraries, which are given by their
 * numbers in the store, the program first. `chance`: a random number. */
enum rh_status rh_focus_wish(struct rh_runs *runs, uint64_t chance,
                             const struct rh_focus_image *images, size_t count);

#endif
