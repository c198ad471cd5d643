/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The candidates of a program one by one, best first: the one place where candidates are assembled.
 *
 * They are made of classes of sites and of groups of classes. Commands and the hive read these from
 * the program's sidecar (rh_candidates_open); the link step, which has just found them, hands them
 * over in memory (rh_candidates_assemble). Two sites whose kinds cannot conflict are no candidate
 * (racehive/access.h); scores are made as candidate/score.h says.
 *
 *     struct rh_candidates *candidates;
 *     struct rh_candidate candidate;
 *     status = rh_candidates_open(sidecar, NULL, &candidates);
 *     while (status == RH_OK && rh_candidates_next(candidates, &candidate))
 *         show(&candidate);
 *
 * A group of two classes of some thousand sites stands for millions of candidates: they are made
 * while walking and never held. Memory is that of the sites and groups. Every candidate comes once,
 * by falling score, then by group, a group's partners by number, and two classes by location.
 */
#ifndef RH_STORE_CANDIDATES_H
#define RH_STORE_CANDIDATES_H

#include "base/strbuf.h"
#include "store/sidecar_analysis.h"

/*
 * A candidate. Its id is rh_hash of the two fingerprints, the smaller added first, so that it
 * survives rebuilds that touch neither site. `first` comes not after `second` by
 * rh_sidecar_compare_locations. All belongs to the sidecar and the walk.
 */
struct rh_candidate {
    uint64_t id;
    uint32_t score; /* see candidate/score.h */
    const struct rh_sidecar_site *first, *second;
    const struct rh_sidecar_class *first_class, *second_class;
    const struct rh_sidecar_group *group;
};

/* The id of the candidate of two sites, in either order. */
uint64_t rh_candidate_id(const struct rh_sidecar_site *a, const struct rh_sidecar_site *b);

/* The id of a candidate between two images, in either order. An image is known by its file's name,
 * "" for the program, so that the id survives rebuilds of either. It is never one of
 * rh_candidate_id's: what two images have of one header has the same fingerprints in both. */
struct rh_candidate_side {
    const char *image;
    const struct rh_sidecar_site *site;
};
uint64_t rh_candidate_id_between(struct rh_candidate_side a, struct rh_candidate_side b);

/* The id of what a site has with code that is no site, or unknown: no candidate, but an entry of
 * its own in the store of runs. */
uint64_t rh_candidate_uninstrumented(const struct rh_sidecar_site *site);

/* Does the score of such a candidate of the group count that both sites name the same member? */
bool rh_candidate_names_same_member(const struct rh_sidecar_group *group,
                                    const struct rh_sidecar_site *first,
                                    const struct rh_sidecar_site *second);
/* Why it remains and what its score is made of. */
void rh_candidate_explain(const struct rh_sidecar_group *group, const struct rh_sidecar_site *first,
                          const struct rh_sidecar_site *second, struct rh_strbuf *out);

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

/* What candidates are assembled from. All must stay as long as the candidates. */
struct rh_candidates_parts {
    const struct rh_sidecar_site *sites; /* by number */
    const struct rh_sidecar_class *classes;
    size_t class_count;
    const struct rh_candidates_member {
        uint32_t site, class_number;
    } * members;
    size_t member_count;
    const struct rh_sidecar_group *groups; /* with their partners */
    size_t group_count;
};
struct rh_candidates *rh_candidates_assemble(const struct rh_candidates_parts *parts);

void rh_candidates_close(struct rh_candidates *candidates);

/* Starts the walk again with another filter. */
void rh_candidates_restart(struct rh_candidates *candidates,
                           const struct rh_candidates_filter *filter);

/* Stores the next candidate; false at the end. */
bool rh_candidates_next(struct rh_candidates *candidates, struct rh_candidate *candidate);

/* The candidate of two sites, given in any order, whatever the filter wants. False if the analysis
 * has left no candidate of them: then the group is NULL and the score 0. A site that is in no class
 * has one without names. */
bool rh_candidates_find(struct rh_candidates *candidates, const struct rh_sidecar_site *a,
                        const struct rh_sidecar_site *b, struct rh_candidate *candidate);

/* Counted from the sizes of the classes, not by walking. */
void rh_candidates_count(const struct rh_candidates *candidates,
                         struct rh_candidates_totals *totals);

#endif
