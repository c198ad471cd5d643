/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The candidates that may race as far as runs of the detector caper have seen: those both sites of
 * which touched memory that several threads can reach. Every pair that raced in one of these runs
 * is among them.
 */
#ifndef RH_HIVE_FILTERED_H
#define RH_HIVE_FILTERED_H

#include "hive/pool.h"
#include "store/candidates.h"
#include "store/runs.h"

/* The sites of the program, by number, that touched such memory: added to the set. */
enum rh_status rh_filtered_sites(struct rh_runs *runs, struct rh_bitset *sites);

/* The same from caper's store of a build: at `path`, or where it usually is if that is NULL or
 * "caper". *found is false if there is none. */
enum rh_status rh_filtered_load(const char *build_id, const char *path, struct rh_bitset *sites,
                                bool *found);

/* Lets a pool begin with what caper has kept of the build, or with nothing else if `from` says so
 * (`path` above). `escaped` gets the sites and must stay as long as the pool. Only what was asked
 * for must be there. */
enum rh_status rh_filtered_choose(const char *build_id, const char *from, struct rh_bitset *escaped,
                                  struct rh_pool_options *pool);

static inline bool rh_filtered_keeps(const struct rh_bitset *sites, const struct rh_candidate *c)
{
    return rh_bitset_test(sites, c->first->number) && rh_bitset_test(sites, c->second->number);
}

/* Marks these sites, of `count`, as RH_SCOUT_KNOWN: a run need not ask them again. */
enum rh_status rh_filtered_spare(struct rh_runs *runs, uint8_t *wishes, uint32_t count);

/* How many candidates it keeps. Walks all that have such a site, and restarts the walk. */
uint64_t rh_filtered_count(struct rh_candidates *candidates, const struct rh_bitset *sites);

#endif
