/* SPDX-License-Identifier: Apache-2.0 */
/* From the tally of a candidate to its verdict: how far one against a race holds, and whether
 * crashes and hangs are the race's. */
#include "store/verdict.h"

#include <math.h>

static const struct ground {
    enum rh_verdict verdict;
    const char *words;
} grounds[RH_GROUND_COUNT] = {
#define GROUND_ROW(id, of, text) [RH_GROUND_##id] = {RH_VERDICT_##of, text},
    RH_GROUNDS(GROUND_ROW)
#undef GROUND_ROW
};

static const char *const outcome_names[RH_OUTCOME_COUNT] = {
#define OUTCOME_NAME(id, name) [RH_OUTCOME_##id] = name,
    RH_OUTCOMES(OUTCOME_NAME)
#undef OUTCOME_NAME
};

static const char *const verdict_names[] = {
    [RH_VERDICT_UNKNOWN] = "unknown",
    [RH_VERDICT_TRUE_RACE] = "true-race",
    [RH_VERDICT_LIKELY_FALSE_POSITIVE] = "likely-false-positive",
};

static bool has_race(const struct rh_tally *tally)
{
    return tally->outcomes[RH_OUTCOME_RACE] || tally->raced[0] || tally->raced[1];
}

/* Counted together: if the sites ran apart in some runs and in one thread in others, they still met
 * in none of them. */
static uint64_t count_unmet(const struct rh_tally *tally)
{
    return tally->apart + tally->one_thread;
}

static bool is_tried(const struct rh_tally *tally)
{
    for (int i = 0; i < RH_OUTCOME_COUNT; i++)
        if (tally->outcomes[i])
            return true;
    return false;
}

/* --- against a race --- */

/* The outcomes of runs exclude each other; `exhausted` is a part of the timeouts, and only a run
 * that validates pauses. */
uint64_t rh_verdict_against(const struct rh_tally *tally)
{
    return tally->ordered + tally->exhausted;
}

uint64_t rh_verdict_enough(void)
{
    return (uint64_t)ceil(log(1 - RH_VERDICT_CONFIDENCE) / log1p(-RH_VERDICT_RARE));
}

double rh_verdict_bound(const struct rh_tally *tally)
{
    uint64_t against = rh_verdict_against(tally);
    if (against == 0 || has_race(tally) || tally->suspected)
        return 1;
    /* 1 - (1 - confidence)^(1/k), in a form that keeps its digits when k is large. */
    return -expm1(log(1 - RH_VERDICT_CONFIDENCE) / (double)against);
}

/* --- what a race causes --- */

static uint64_t subtract(uint64_t from, uint64_t part)
{
    return from > part ? from - part : 0;
}

struct rh_ends rh_verdict_without(const struct rh_tally *tally, int order)
{
    const struct rh_ends *with = &tally->with[order], *all = &tally->all;
    return (struct rh_ends){
        .runs = subtract(all->runs, with->runs),
        .crashes = subtract(all->crashes, with->crashes),
        .hangs = subtract(all->hangs, with->hangs),
    };
}

/* The logarithm of how many ways there are to choose k of n. */
static double log_choose(double n, double k)
{
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

/*
 * Whether failures are so much more frequent in one group of runs than in the other that chance
 * explains it with a probability of at most `limit`: the upper tail of the hypergeometric
 * distribution. Where the failures are more frequent, each term of the tail is smaller than the one
 * before, so what is left has a geometric series as its bound and few terms are needed.
 */
static bool fails_more(double failed, double runs, double other_failed, double other_runs,
                       double limit)
{
    if (failed > runs || other_failed > other_runs || other_runs < 1 ||
        failed * other_runs <= other_failed * runs)
        return false;
    enum { MOST_TERMS = 1 << 16 };
    double failures = failed + other_failed, others = other_failed, tail = 0;
    double term = exp(log_choose(runs, failed) + log_choose(other_runs, others) -
                      log_choose(runs + other_runs, failures));
    for (int i = 0; i < MOST_TERMS; i++) {
        tail += term;
        double ratio = (runs - failed) * others / ((failed + 1) * (other_runs - others + 1));
        if (tail > limit || ratio >= 1)
            return false;
        if (tail + term * ratio / (1 - ratio) <= limit)
            return true;
        term *= ratio;
        failed++;
        others--;
    }
    return false;
}

static bool is_blamed(uint64_t failed, uint64_t runs, uint64_t other_failed, uint64_t other_runs)
{
    return failed >= RH_VERDICT_FAILURES &&
           fails_more((double)failed, (double)runs, (double)other_failed, (double)other_runs,
                      RH_VERDICT_CHANCE / 2);
}

int rh_verdict_crash_order(const struct rh_tally *tally)
{
    for (int order = 0; order < 2 && has_race(tally); order++) {
        struct rh_ends with = tally->with[order], without = rh_verdict_without(tally, order);
        if (is_blamed(with.crashes, with.runs, without.crashes, without.runs))
            return order;
    }
    return -1;
}

int rh_verdict_hang_order(const struct rh_tally *tally)
{
    for (int order = 0; order < 2 && has_race(tally); order++) {
        struct rh_ends with = tally->with[order], without = rh_verdict_without(tally, order);
        if (is_blamed(with.hangs, with.runs, without.hangs, without.runs))
            return order;
    }
    return -1;
}

/* --- the verdict --- */

/* A crash or hang is the race's only if there is a race: an order that was enforced between
 * synchronised accesses may break a program, too. */
static enum rh_ground ground_of_race(const struct rh_tally *tally)
{
    if (rh_verdict_hang_order(tally) >= 0)
        return RH_GROUND_HANG;
    if (rh_verdict_crash_order(tally) >= 0)
        return RH_GROUND_CRASH;
    return tally->raced[0] && tally->raced[1] ? RH_GROUND_BOTH_ORDERS : RH_GROUND_SINGLE_ORDER;
}

enum rh_ground rh_verdict_ground(const struct rh_tally *tally)
{
    if (has_race(tally))
        return ground_of_race(tally);
    if (tally->suspected)
        return RH_GROUND_SUSPECTED;
    bool is_enough = rh_verdict_bound(tally) <= RH_VERDICT_RARE;
    if (tally->outcomes[RH_OUTCOME_NO_RACE])
        return is_enough ? RH_GROUND_SYNCHRONISED : RH_GROUND_FEW_ORDERED;
    if (tally->exhausted)
        return is_enough ? RH_GROUND_EXHAUSTED : RH_GROUND_FEW_EXHAUSTED;
    /* One meeting refutes that they never meet, whatever the other runs say. */
    if (!tally->met && count_unmet(tally) >= RH_VERDICT_NAMED_APART)
        return tally->apart ? RH_GROUND_APART : RH_GROUND_ONE_THREAD;
    return is_tried(tally) ? RH_GROUND_NOT_SEEN : RH_GROUND_NOT_TRIED;
}

enum rh_verdict rh_verdict_of(enum rh_ground ground)
{
    return grounds[ground].verdict;
}

const char *rh_verdict_name(enum rh_verdict verdict)
{
    return verdict_names[verdict];
}

const char *rh_ground_words(enum rh_ground ground)
{
    return grounds[ground].words;
}

const char *rh_outcome_name(enum rh_outcome outcome)
{
    return outcome_names[outcome];
}
