/*
 * The candidates of a program one by one, best first, from the groups in its sidecar.
 *
 *     struct rh_candidates *candidates;
 *     struct rh_candidate candidate;
 *     status = rh_candidates_open(sidecar, NULL, &candidates);
 *     while (status == RH_OK && rh_candidates_next(candidates, &candidate))
 *         show(&candidate);
 *
 * A group of two classes of some thousand sites stands for millions of candidates: they are made
 * while walking and never held. Memory is that of the sites and groups. Every candidate comes once,
 * by falling score, then by group, a group's partners by number, and two classes by place.
 */
#ifndef RH_STORE_CANDIDATES_H
#define RH_STORE_CANDIDATES_H

#include "store/alike.h"

/*
 * A candidate. Its id is rh_hash of the two fingerprints, the smaller added first, so that it
 * survives rebuilds that touch neither site. `first` comes not after `second` by
 * rh_sidecar_compare_places. All belongs to the sidecar and the walk.
 */
struct rh_candidate {
    uint64_t id;
    uint32_t score; /* see store/alike.h */
    const struct rh_sidecar_site *first, *second;
    const struct rh_sidecar_class *first_class, *second_class;
    const struct rh_sidecar_group *group;
};

/* The id of the candidate of two sites, in either order. */
uint64_t rh_candidate_id(const struct rh_sidecar_site *a, const struct rh_sidecar_site *b);

/* The id of what a site has with code that is no site, or unknown: no candidate, but an entry of
 * its own in the store of runs. */
uint64_t rh_candidate_uninstrumented(const struct rh_sidecar_site *site);

/* Candidates of which at least one site is wanted. */
struct rh_candidates_filter {
    bool (*wants)(const void *context, const struct rh_sidecar_site *site);
    const void *context;
};

/* How much there is. Pairs that cannot conflict (two reads, two atomics) do not count. */
struct rh_candidates_totals {
    uint64_t candidates;
    uint64_t wanted; /* candidates that the filter leaves */
    uint64_t sites;  /* in candidates */
    uint64_t groups; /* with candidates */
};

struct rh_candidates;

/* No filter, NULL, wants all. The sidecar must stay open. */
enum rh_status rh_candidates_open(struct rh_sidecar *sidecar,
                                  const struct rh_candidates_filter *filter,
                                  struct rh_candidates **candidates);
void rh_candidates_close(struct rh_candidates *candidates);

/* Starts the walk again with another filter. */
void rh_candidates_restart(struct rh_candidates *candidates,
                           const struct rh_candidates_filter *filter);

/* Stores the next candidate; false at the end. */
bool rh_candidates_next(struct rh_candidates *candidates, struct rh_candidate *candidate);

/* Counted from the sizes of the classes, not by walking. */
void rh_candidates_count(const struct rh_candidates *candidates,
                         struct rh_candidates_totals *totals);

#endif
