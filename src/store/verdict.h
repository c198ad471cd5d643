/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From outcomes of runs to the verdict on a candidate. The embedded and the central hive share this
 * rule: equal tallies give equal verdicts.
 *
 * How it works: a tally only grows, and the verdict is a function of the tally alone. So the order
 * in which outcomes arrive does not matter, nor how often a verdict is asked for.
 *
 *   unknown --race--> true race                              definite: nothing leads away from it
 *   unknown --no-race, timeout at the longest pause,
 *             or enough runs that never met--> likely false positive
 *   likely false positive --race--> true race
 *   likely false positive --unordered without proof; or the sites meet, and the only ground was
 *                           that they never had--> unknown
 *
 * A likely false positive is never more than likely: its bound says how often a run could still
 * race without having been noticed so far.
 */
#ifndef RH_STORE_VERDICT_H
#define RH_STORE_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

/* What one run says of one candidate: enum suffix, name in commands and JSON. */
#define RH_OUTCOMES(X)                                                                             \
    X(RACE, "race")         /* with proof */                                                       \
    X(NO_RACE, "no_race")   /* the accesses came, ordered by synchronisation */                    \
    X(TIMEOUT, "timeout")   /* a pause ended without the other access */                           \
    X(NOT_SEEN, "not_seen") /* the accesses did not come, or did not meet */

enum rh_outcome {
#define RH_OUTCOME_ENUM(id, name) RH_OUTCOME_##id,
    RH_OUTCOMES(RH_OUTCOME_ENUM)
#undef RH_OUTCOME_ENUM
        RH_OUTCOME_COUNT
};

/*
 * What all runs together say of one candidate. Each member counts runs. A run that had several
 * tasks of the candidate counts once in each member; its outcome is the first of theirs in the
 * table above.
 */
struct rh_tally {
    uint64_t outcomes[RH_OUTCOME_COUNT];
    uint64_t raced[2];   /* with a race of this order (enum rh_race_order) */
    uint64_t collisions; /* with a race proved by a collision */
    uint64_t suspected;  /* unordered, but no proof: some synchronisation is not seen there */
    uint64_t met;        /* two threads touched the same bytes at the two sites */
    /* Only of timeouts and not-seens in which no key was off for some time, see RH_SEEN_FLAGS. */
    uint64_t apart;          /* both sites ran, in different threads, but never met */
    uint64_t one_thread;     /* both sites ran, but in one thread only */
    uint64_t exhausted;      /* timeouts at the longest pause */
    uint64_t crashes, hangs; /* after a race or an enforced order of this candidate */
};

enum rh_verdict { RH_VERDICT_UNKNOWN, RH_VERDICT_TRUE_RACE, RH_VERDICT_LIKELY_FALSE_POSITIVE };

/* Why, as the rows of a summary: enum suffix, verdict, words. The first that holds is the one. */
#define RH_GROUNDS(X)                                                                              \
    X(HANG, TRUE_RACE, "causes hang")                                                              \
    X(CRASH, TRUE_RACE, "causes crash")                                                            \
    X(BOTH_ORDERS, TRUE_RACE, "both orders")                                                       \
    X(SINGLE_ORDER, TRUE_RACE, "single order")                                                     \
    X(SUSPECTED, UNKNOWN, "unordered, not proved")                                                 \
    X(SYNCHRONISED, LIKELY_FALSE_POSITIVE, "synchronised")                                         \
    X(EXHAUSTED, LIKELY_FALSE_POSITIVE, "longest pause timed out")                                 \
    X(APART, LIKELY_FALSE_POSITIVE, "not aliasing")                                                \
    X(ONE_THREAD, LIKELY_FALSE_POSITIVE, "single thread")                                          \
    X(NOT_SEEN, UNKNOWN, "not seen")                                                               \
    X(NOT_TRIED, UNKNOWN, "not tried")

enum rh_ground {
#define RH_GROUND_ENUM(id, verdict, words) RH_GROUND_##id,
    RH_GROUNDS(RH_GROUND_ENUM)
#undef RH_GROUND_ENUM
        RH_GROUND_COUNT
};

/* Runs in which the sites did not meet that make a likely false positive, if they never did. */
enum { RH_VERDICT_ENOUGH_APART = 5 };

enum rh_ground rh_verdict_ground(const struct rh_tally *tally);
enum rh_verdict rh_verdict_of(enum rh_ground ground);

const char *rh_verdict_name(enum rh_verdict verdict); /* true-race, ... */
const char *rh_ground_words(enum rh_ground ground);
const char *rh_outcome_name(enum rh_outcome outcome);

/*
 * Runs that are evidence against a race: they had a fair chance of one and did not have it. They
 * saw the accesses ordered, or a pause of the longest length timed out, or both sites ran without
 * meeting. A run in which a site did not run says nothing. A tally does not tell how many runs had
 * both a timeout at the longest pause and no meeting; the two are taken to overlap as much as
 * possible, so that no run counts twice.
 */
uint64_t rh_verdict_against(const struct rh_tally *tally);

/*
 * An upper bound, with 95 % confidence, on the probability that a run has the race: if it were
 * higher, so many runs without a race would occur in less than 5 % of cases. 1, which rules out
 * nothing, if there are no such runs, or if some run had a race or may have had one.
 */
double rh_verdict_bound(const struct rh_tally *tally);

#endif
