/* SPDX-License-Identifier: Apache-2.0 */
/* From the tally of a candidate to its verdict, and to how far a verdict against a race holds. */
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

/* A crash or hang is the race's only if there is a race: an order that was enforced between
 * synchronised accesses may break a program, too. */
static enum rh_ground ground_of_race(const struct rh_tally *tally)
{
    if (tally->hangs)
        return RH_GROUND_HANG;
    if (tally->crashes)
        return RH_GROUND_CRASH;
    return tally->raced[0] && tally->raced[1] ? RH_GROUND_BOTH_ORDERS : RH_GROUND_SINGLE_ORDER;
}

enum rh_ground rh_verdict_ground(const struct rh_tally *tally)
{
    if (has_race(tally))
        return ground_of_race(tally);
    if (tally->suspected)
        return RH_GROUND_SUSPECTED;
    if (tally->outcomes[RH_OUTCOME_NO_RACE])
        return RH_GROUND_SYNCHRONISED;
    if (tally->exhausted)
        return RH_GROUND_EXHAUSTED;
    /* One meeting refutes that they never meet, whatever the other runs say. */
    if (!tally->met && count_unmet(tally) >= RH_VERDICT_ENOUGH_APART)
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

/* The outcomes of runs exclude each other, `exhausted` is a part of the timeouts and the unmet runs
 * are a part of timeouts and not-seens: only these two can share runs. */
uint64_t rh_verdict_against(const struct rh_tally *tally)
{
    uint64_t unmet = count_unmet(tally);
    uint64_t without_result = tally->exhausted > unmet ? tally->exhausted : unmet;
    return tally->outcomes[RH_OUTCOME_NO_RACE] + without_result;
}

double rh_verdict_bound(const struct rh_tally *tally)
{
    uint64_t against = rh_verdict_against(tally);
    if (against == 0 || has_race(tally) || tally->suspected)
        return 1;
    /* 1 - 0.05^(1/k), in a form that keeps its digits when k is large. */
    return -expm1(log(0.05) / (double)against);
}
