/* SPDX-License-Identifier: Apache-2.0 */
/* How the candidates of a program lie in memory, for their making and their walk: see candidates.h.
 */
#ifndef RH_STORE_CANDIDATES_INTERNAL_H
#define RH_STORE_CANDIDATES_INTERNAL_H

#include "base/map.h"
#include "base/packed.h"
#include "base/vec.h"
#include "store/candidates.h"

/* A site in its class. */
struct member {
    const struct rh_sidecar_site *site;
    uint32_t class_number;
    uint32_t name; /* number of the member it names; 0 if none */
    bool wanted;
};

/* Sites by what they do to memory; fences do nothing to it. */
struct tally {
    uint64_t sites, reads, atomics, atomic_reads;
};

struct class
{
    struct rh_sidecar_class row;
    size_t first; /* of its sites in `members` */
    uint32_t count;
    size_t first_wanted; /* of its places in `wanted` */
    uint32_t wanted_count;
    struct tally all, unwanted;
    bool grouped; /* in a group that has candidates */
};

/* Some members of a class, as places in it; without places, all of them. */
struct selection {
    const uint32_t *places;
    uint32_t count;
};

struct portion {
    size_t group;
    uint32_t score;
    bool is_part; /* of a group that is walked twice: those that are `alike`, or the others */
    bool alike;
};

struct rh_candidates {
    RH_VEC(struct member) members;
    RH_VEC(uint32_t) by_name; /* places in their class, class by class, by name and rising */
    RH_VEC(struct class) classes;
    RH_VEC(struct rh_sidecar_group) groups;
    RH_VEC(struct portion) portions; /* best first */
    RH_VEC(uint32_t) wanted;         /* places in their class, class by class, rising */
    /* For looking up a pair; made when that is asked for first. */
    bool is_indexed;
    struct rh_map class_of;   /* number of a site -> its class */
    struct rh_map last_group; /* class -> position of the last group that it is first of, plus 1 */
    RH_VEC(size_t) before;    /* by group: the same class's group before it, plus 1, or 0 */
    /* Where the walk is: the next pair to look at. */
    size_t portion;
    struct rh_packed_walk partners;
    uint32_t partner;
    struct selection rows, columns;
    uint32_t row, column;
};

/* Counts a site in its tally. */
void rh_candidates_tally(struct tally *tally, enum rh_access_kind access);
/* How many pairs of sites of the two tallies conflict. */
uint64_t rh_candidates_count_pairs(const struct tally *a, const struct tally *b);
/* All candidates of two classes, or those of which no site is wanted. */
uint64_t rh_candidates_count_classes(const struct rh_candidates *c, uint32_t a, uint32_t b,
                                     bool unwanted);

#endif
