/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From outcomes of runs to the verdict on a candidate. The embedded and the central hive share this
 * rule: equal tallies give equal verdicts.
 *
 * How it works: a tally only grows, and the verdict is a function of the tally alone. So the order
 * in which outcomes arrive does not matter, nor how often a verdict is asked for.
 *
 *   unknown --race--> true race                              definite: nothing leads away from it
 *   unknown --enough runs against a race--> likely false positive
 *   likely false positive --race--> true race
 *   likely false positive --unordered without proof--> unknown
 *
 * Likely false positive. A run speaks against a race if it was to validate the candidate and saw
 * the accesses meet in order, or a pause of the longest length timed out. A run that only watched
 * the candidate does not count: where an accident orders a race, such as a lock that is taken in
 * between, it would be ordered in all of them. A racy program has runs that do count, too, so one
 * of them says next to nothing. Suppose that each such run would have shown the race with
 * probability p. Then n of them show none with probability (1 - p)^n. The verdict needs so many
 * that this is at most 1 - RH_VERDICT_CONFIDENCE for every p from RH_VERDICT_RARE on: 66 runs for
 * 0.999 and 0.1. One race ever seen is final, so asking after every run does not make a wrong
 * verdict more probable.
 *
 * What it does not say: that there is no race. The runs may be alike, with inputs or schedules
 * that never show it, and a race that shows in fewer than one of ten such runs may be missed. Sites
 * that never met say even less, since they may meet with another input: that stays unknown.
 *
 * Causes crash, causes hang. Runs that had the race in one order, or in which that order was
 * enforced, are compared with all other runs of the same build: at least RH_VERDICT_FAILURES of the
 * first crashed (or hung), and Fisher's exact test, one-sided, gives a probability of at most
 * RH_VERDICT_CHANCE that so many of the crashes fall to them by chance. This is asked of each
 * order, so each gets half of that probability. The orders are kept apart because many races do
 * harm in one of them only. Runs that raced unnoticed are among the others, which makes the claim
 * rarer, never bolder. The probability holds for one candidate and one look: among many candidates
 * of a program that crashes anyway, or if one asks after every run, a few more are blamed by
 * chance. The counts are shown for that reason.
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

/* Runs, and how many of them crashed and hung. */
struct rh_ends {
    uint64_t runs, crashes, hangs;
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
    uint64_t ordered;    /* of the no-races, those that validated it and never had to leave it */
    uint64_t met;        /* two threads touched the same bytes at the two sites */
    /* Only of timeouts and not-seens in which no key was off for some time, see RH_SEEN_FLAGS. */
    uint64_t apart;          /* both sites ran, in different threads, but never met */
    uint64_t one_thread;     /* both sites ran, but in one thread only */
    uint64_t exhausted;      /* timeouts at the longest pause */
    uint64_t crashes, hangs; /* after a race or an enforced order of this candidate */
    struct rh_ends with[2];  /* with a race of this order, or with this order enforced */
    struct rh_ends all;      /* every run of the store, whether it was asked about it or not */
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
    X(FEW_ORDERED, UNKNOWN, "synchronised in too few runs")                                        \
    X(FEW_EXHAUSTED, UNKNOWN, "timed out in too few runs")                                         \
    X(APART, UNKNOWN, "not aliasing")                                                              \
    X(ONE_THREAD, UNKNOWN, "single thread")                                                        \
    X(NOT_SEEN, UNKNOWN, "not seen")                                                               \
    X(NOT_TRIED, UNKNOWN, "not tried")

enum rh_ground {
#define RH_GROUND_ENUM(id, verdict, words) RH_GROUND_##id,
    RH_GROUNDS(RH_GROUND_ENUM)
#undef RH_GROUND_ENUM
        RH_GROUND_COUNT
};

/* The confidence of a likely false positive and of every bound; the probability per run from which
 * on a race is not missed with that confidence; and the probability of a wrong blame. */
#define RH_VERDICT_CONFIDENCE 0.999
#define RH_VERDICT_RARE       0.1
#define RH_VERDICT_CHANCE     0.05

enum {
    RH_VERDICT_FAILURES = 2,    /* crashes or hangs with the race, at least, to blame it */
    RH_VERDICT_NAMED_APART = 5, /* runs without a meeting that are named as the ground */
};

enum rh_ground rh_verdict_ground(const struct rh_tally *tally);
enum rh_verdict rh_verdict_of(enum rh_ground ground);

const char *rh_verdict_name(enum rh_verdict verdict); /* true-race, ... */
const char *rh_ground_words(enum rh_ground ground);
const char *rh_outcome_name(enum rh_outcome outcome);

/* Runs that speak against a race: they were to validate it, and saw the accesses ordered or had a
 * pause of the longest length time out. */
uint64_t rh_verdict_against(const struct rh_tally *tally);

/* How many of them a likely false positive needs. */
uint64_t rh_verdict_enough(void);

/*
 * An upper bound, with RH_VERDICT_CONFIDENCE, on the probability that such a run has the race: if
 * it were higher, so many runs without a race would be less probable than 1 minus the confidence.
 * 1, which rules out nothing, if there are no such runs, or if some run had a race or may have had
 * one. A likely false positive is one whose bound is at most RH_VERDICT_RARE.
 */
double rh_verdict_bound(const struct rh_tally *tally);

/* The other runs: those without a race of this order, as far as is known. */
struct rh_ends rh_verdict_without(const struct rh_tally *tally, int order);

/* The order to blame for crashes and for hangs, or -1. Only a race can be blamed. */
int rh_verdict_crash_order(const struct rh_tally *tally);
int rh_verdict_hang_order(const struct rh_tally *tally);

#endif
