/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which candidates a run is asked about: the hive's assignment of tasks to runs.
 *
 * How it works: candidates enter the pool best first, up to the number that is worked on at a time.
 * A run gets one task that validates a candidate (or as many as are asked for). Beside it, the run
 * *screens* some others: it only watches whether their sites run and meet, which costs next to
 * nothing and shows which are worth a run of their own.
 *
 * Validation rotates over three queues: candidates whose sites have met (most of the turns), those
 * whose sites may still meet, and true races. Within a queue the fewest attempts come first, then
 * the better score, then chance. What scouts saw meet without a common lock, or runs of another
 * build or detector, enters the pool wherever it stands in the rank, and has more attempts than
 * others; what they saw unordered has most.
 *
 * If a site runs, that is recorded for every candidate that contains it. Screening first looks for
 * sites that run, and then goes through the candidates of which both sites do. So a program with
 * far more candidates than runs has its runs ask about code that runs.
 *
 * The attempts at one candidate differ: the first is made without a pause, the next ones steer to
 * one order and the other in turn, at an execution of the site chosen at random. Each pause that
 * times out makes the next one longer. A true race is tried a few more times, to see what comes of
 * it, and leaves the pool. All others stay, and are tried again as long as there are runs.
 *
 * A simulated user (an endpoint) keeps one candidate until it has an outcome or has timed out at
 * the longest pause, and then gets the next.
 */
#ifndef RH_HIVE_POOL_H
#define RH_HIVE_POOL_H

#include "base/bitset.h"
#include "store/candidates.h"
#include "store/runs.h"

/* What a detector does with a task, and so what attempts are worth making. */
enum rh_pool_method {
    RH_POOL_VALIDATE, /* racemob: all stages */
    RH_POOL_COLLIDE,  /* racechaser: for one order and the other, by turns with long pauses */
    RH_POOL_ORDER,    /* litehb: order alone */
};

struct rh_pool_options {
    enum rh_pool_method method;
    uint32_t tasks_per_run; /* that validate */
    uint32_t screened_per_run;
    uint32_t first_pause_us, pause_step_us, longest_pause_us;
    uint32_t long_pause_us; /* of RH_POOL_COLLIDE; 0: all are of the detector's own length */
    bool steers;
    uint64_t seed;
    /* The sites that caper has seen touch escaped memory (filtered.h): candidates of two of them
     * come first, or with `only_escaped` alone. NULL: not known. Must stay as long as the pool. */
    const struct rh_bitset *escaped;
    bool only_escaped;
};

struct rh_pool;

/* The sidecar and the store must stay open. */
enum rh_status rh_pool_open(struct rh_sidecar *sidecar, struct rh_runs *runs,
                            const struct rh_pool_options *options, struct rh_pool **pool);
void rh_pool_close(struct rh_pool *pool);

/* What a run is asked. */
struct rh_assignment {
    struct rh_runs_task tasks[RH_MAX_TASKS];
    uint32_t skips[RH_MAX_TASKS];
    size_t count;
    size_t validating; /* the first ones validate */
};

/* Tasks for the next run of anyone. False if no candidate is left. */
bool rh_pool_assign(struct rh_pool *pool, struct rh_assignment *assignment);

/* What a user works on: a candidate, as a number of the pool, and the order to steer it to. */
struct rh_pool_share {
    size_t entry;
    enum rh_race_order order;
};

/* A user's own candidate, chosen at random among those that the fewest users have; the users of one
 * candidate have its two orders by turns. False if none is left. */
bool rh_pool_draw(struct rh_pool *pool, struct rh_pool_share *share);
/* Tasks for a user's attempt at a candidate: 0, 1, ... False if there is no further attempt to
 * make: it has a verdict that is definite, or the longest pause was tried. */
bool rh_pool_assign_user(struct rh_pool *pool, const struct rh_pool_share *share, uint32_t attempt,
                         struct rh_assignment *assignment);

/* A run has been completed in the store: what it was asked, and what it found beside, is looked up
 * there again. */
enum rh_status rh_pool_completed(struct rh_pool *pool, const struct rh_assignment *assignment,
                                 const struct rh_runs_task *found, size_t found_count);
/* A run came to nothing: what it was asked is free again. */
void rh_pool_abandoned(struct rh_pool *pool, const struct rh_assignment *assignment);

/* The candidate of two sites, given in any order. One of them may be RH_RUNS_UNINSTRUMENTED: then
 * it is the entry of what the other has with uninstrumented code. False if there are no such sites.
 */
bool rh_pool_name(const struct rh_pool *pool, uint32_t a, uint32_t b,
                  struct rh_runs_candidate *candidate);

struct rh_pool_counts {
    uint64_t true_races;
    uint64_t met;   /* candidates whose sites have met, true races included */
    uint64_t tried; /* candidates that a run was asked about */
    uint64_t all;   /* candidates of the program */
};
void rh_pool_count(const struct rh_pool *pool, struct rh_pool_counts *counts);

#endif
