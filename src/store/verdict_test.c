/* SPDX-License-Identifier: Apache-2.0 */
/* Every tally to its verdict, whatever the order in which it grew; and the bound's values. */
#include "store/verdict.h"

#include "base/hash.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define RACED       .outcomes[RH_OUTCOME_RACE] = 1
#define ORDERED     .outcomes[RH_OUTCOME_NO_RACE] = 1
#define TIMEOUTS(n) .outcomes[RH_OUTCOME_TIMEOUT] = n
#define UNSEEN(n)   .outcomes[RH_OUTCOME_NOT_SEEN] = n

/* One row per way to a ground, those that must not be taken for another among them. */
static const struct way {
    enum rh_ground ground;
    enum rh_verdict verdict;
    struct rh_tally tally;
} ways[] = {
    {RH_GROUND_NOT_TRIED, RH_VERDICT_UNKNOWN, {.met = 0}},
    {RH_GROUND_NOT_SEEN, RH_VERDICT_UNKNOWN, {UNSEEN(1000)}},
    {RH_GROUND_NOT_SEEN, RH_VERDICT_UNKNOWN, {TIMEOUTS(1000)}},
    {RH_GROUND_NOT_SEEN, RH_VERDICT_UNKNOWN, {UNSEEN(4), .apart = 4}},
    {RH_GROUND_NOT_SEEN, RH_VERDICT_UNKNOWN, {UNSEEN(4), .one_thread = 4}},
    {RH_GROUND_NOT_SEEN, RH_VERDICT_UNKNOWN, {UNSEEN(10), .apart = 9, .met = 1}},
    {RH_GROUND_NOT_SEEN, RH_VERDICT_UNKNOWN, {UNSEEN(1), .met = 1, .crashes = 1, .hangs = 1}},
    {RH_GROUND_ONE_THREAD, RH_VERDICT_LIKELY_FALSE_POSITIVE, {UNSEEN(5), .one_thread = 5}},
    {RH_GROUND_APART, RH_VERDICT_LIKELY_FALSE_POSITIVE, {UNSEEN(5), .apart = 5}},
    {RH_GROUND_APART, RH_VERDICT_LIKELY_FALSE_POSITIVE, {UNSEEN(5), .apart = 1, .one_thread = 4}},
    {RH_GROUND_EXHAUSTED, RH_VERDICT_LIKELY_FALSE_POSITIVE, {TIMEOUTS(1), .exhausted = 1}},
    {RH_GROUND_EXHAUSTED,
     RH_VERDICT_LIKELY_FALSE_POSITIVE,
     {TIMEOUTS(7), .exhausted = 1, .apart = 7, .crashes = 1}},
    {RH_GROUND_SYNCHRONISED, RH_VERDICT_LIKELY_FALSE_POSITIVE, {ORDERED, .met = 1}},
    {RH_GROUND_SYNCHRONISED,
     RH_VERDICT_LIKELY_FALSE_POSITIVE,
     {ORDERED, TIMEOUTS(1), .met = 1, .exhausted = 1, .hangs = 1}},
    {RH_GROUND_SUSPECTED, RH_VERDICT_UNKNOWN, {UNSEEN(1), .suspected = 1, .met = 1}},
    {RH_GROUND_SUSPECTED,
     RH_VERDICT_UNKNOWN,
     {ORDERED, TIMEOUTS(9), .exhausted = 9, .suspected = 1, .crashes = 1}},
    {RH_GROUND_SINGLE_ORDER, RH_VERDICT_TRUE_RACE, {RACED, .raced[1] = 1}},
    {RH_GROUND_SINGLE_ORDER,
     RH_VERDICT_TRUE_RACE,
     {RACED, .outcomes[RH_OUTCOME_NO_RACE] = 1000, .raced[0] = 1, .suspected = 1}},
    {RH_GROUND_BOTH_ORDERS, RH_VERDICT_TRUE_RACE, {RACED, .raced = {1, 1}}},
    {RH_GROUND_CRASH, RH_VERDICT_TRUE_RACE, {RACED, .raced = {1, 1}, .crashes = 1}},
    {RH_GROUND_HANG, RH_VERDICT_TRUE_RACE, {RACED, .raced[0] = 1, .crashes = 1, .hangs = 1}},
};

static void every_tally_has_its_verdict(void **state)
{
    (void)state;
    bool reached[RH_GROUND_COUNT] = {0};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        enum rh_ground ground = rh_verdict_ground(&ways[i].tally);
        if (ground != ways[i].ground)
            fail_msg("row %zu is \"%s\", not \"%s\"", i, rh_ground_words(ground),
                     rh_ground_words(ways[i].ground));
        assert_int_equal(rh_verdict_of(ground), ways[i].verdict);
        reached[ground] = true;
    }
    for (int i = 0; i < RH_GROUND_COUNT; i++)
        assert_true(reached[i]);
}

/* What a run adds to a tally; the members do not contradict each other. */
static struct rh_tally draw_run(uint64_t bits)
{
    struct rh_tally run = {0};
    enum rh_outcome outcome = bits % 64 == 0 ? RH_OUTCOME_RACE : 1 + bits / 64 % 3;
    run.outcomes[outcome] = 1;
    bits >>= 12;
    if (outcome == RH_OUTCOME_RACE)
        run.raced[bits % 2] = 1;
    else
        run.suspected = bits % 32 == 0;
    run.exhausted = outcome == RH_OUTCOME_TIMEOUT && bits / 32 % 8 == 0;
    run.met = outcome <= RH_OUTCOME_NO_RACE || run.suspected || bits / 256 % 16 == 0;
    run.apart = !run.met && bits / 4096 % 2 == 0;
    run.one_thread = !run.met && !run.apart && bits / 8192 % 2 == 0;
    run.crashes = bits / 16384 % 16 == 0;
    return run;
}

/* A tally is nothing but counters. */
static void add_run(struct rh_tally *tally, const struct rh_tally *run)
{
    enum { WORDS = sizeof *tally / sizeof(uint64_t) };
    uint64_t sum[WORDS], more[WORDS];
    memcpy(sum, tally, sizeof sum);
    memcpy(more, run, sizeof more);
    for (int i = 0; i < WORDS; i++)
        sum[i] += more[i];
    memcpy(tally, sum, sizeof sum);
}

static uint64_t draw(uint64_t series, uint64_t index)
{
    struct rh_hash hash;
    rh_hash_init(&hash);
    rh_hash_add_u64(&hash, series);
    rh_hash_add_u64(&hash, index);
    return rh_hash_finish(&hash);
}

static void the_order_of_outcomes_does_not_matter(void **state)
{
    (void)state;
    enum { SERIES = 500, SHUFFLES = 8, MOST = 24 };
    unsigned by_verdict[3] = {0};
    for (uint64_t series = 0; series < SERIES; series++) {
        struct rh_tally runs[MOST], first = {0};
        size_t count = 1 + draw(series, 1000) % MOST;
        for (size_t i = 0; i < count; i++) {
            runs[i] = draw_run(draw(series, i));
            add_run(&first, &runs[i]);
        }
        by_verdict[rh_verdict_of(rh_verdict_ground(&first))]++;
        for (uint64_t shuffle = 0; shuffle < SHUFFLES; shuffle++) {
            struct rh_tally tally = {0};
            for (size_t left = count; left > 0; left--) {
                size_t at = draw(series, 2000 + 100 * shuffle + left) % left;
                struct rh_tally run = runs[at];
                runs[at] = runs[left - 1];
                runs[left - 1] = run;
                add_run(&tally, &run);
            }
            assert_int_equal(rh_verdict_ground(&tally), rh_verdict_ground(&first));
            assert_true(rh_verdict_bound(&tally) == rh_verdict_bound(&first));
        }
    }
    for (int i = 0; i < 3; i++)
        assert_in_range(by_verdict[i], SERIES / 50, SERIES);
}

static void nothing_leads_away_from_a_true_race(void **state)
{
    (void)state;
    for (uint64_t series = 0; series < 200; series++) {
        struct rh_tally tally = {0};
        bool raced = false;
        for (uint64_t i = 0; i < 100; i++) {
            struct rh_tally run = draw_run(draw(series, i));
            raced = raced || run.outcomes[RH_OUTCOME_RACE];
            add_run(&tally, &run);
            bool is_true = rh_verdict_of(rh_verdict_ground(&tally)) == RH_VERDICT_TRUE_RACE;
            assert_int_equal(is_true, raced);
        }
    }
}

static void assert_near(double value, double expected)
{
    if (fabs(value - expected) > 1e-12)
        fail_msg("%.15f is not %.15f", value, expected);
}

static double bound_of(uint64_t ordered)
{
    return rh_verdict_bound(&(struct rh_tally){.outcomes[RH_OUTCOME_NO_RACE] = ordered});
}

/* From 0.05 = (1 - p)^k, solved by hand. */
static void the_bound_is_that_of_so_many_runs(void **state)
{
    (void)state;
    assert_near(bound_of(0), 1);
    assert_near(bound_of(1), 0.95);
    assert_near(bound_of(2), 1 - 0.223606797749979);
    assert_near(bound_of(4), 1 - 0.472870804501588);
    assert_near(bound_of(59), 1 - pow(0.05, 1.0 / 59));
    assert_true(bound_of(58) > 0.05 && bound_of(59) < 0.05);
    /* "The rule of three", where k is large. */
    double many = bound_of(1000000000000);
    assert_true(many > 2.9957e-12 && many < 2.9958e-12);
    for (uint64_t k = 1; k < 1000; k++)
        assert_true(bound_of(k + 1) < bound_of(k));
}

static void no_run_speaks_twice_against_a_race(void **state)
{
    (void)state;
    static const struct {
        uint64_t against;
        struct rh_tally tally;
    } rows[] = {
        {0, {.met = 0}},
        {0, {UNSEEN(9), TIMEOUTS(9), .met = 9}},
        {1, {ORDERED, .met = 1}},
        {3, {TIMEOUTS(4), .exhausted = 3}},
        {4, {TIMEOUTS(4), .exhausted = 3, .apart = 4}},
        {4, {TIMEOUTS(4), .exhausted = 4, .apart = 1, .one_thread = 1}},
        {6, {ORDERED, TIMEOUTS(3), UNSEEN(3), .exhausted = 1, .apart = 3, .one_thread = 2}},
        {1, {RACED, ORDERED, .raced[0] = 1}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(rh_verdict_against(&rows[i].tally), rows[i].against);
}

static void a_race_or_a_suspected_one_leaves_nothing_ruled_out(void **state)
{
    (void)state;
    const struct rh_tally raced = {RACED, .outcomes[RH_OUTCOME_NO_RACE] = 99, .raced[1] = 1};
    const struct rh_tally suspected = {.outcomes[RH_OUTCOME_NO_RACE] = 99, .suspected = 1};
    assert_near(rh_verdict_bound(&raced), 1);
    assert_near(rh_verdict_bound(&suspected), 1);
}

static void names_are_those_of_commands_and_json(void **state)
{
    (void)state;
    assert_string_equal(rh_verdict_name(RH_VERDICT_UNKNOWN), "unknown");
    assert_string_equal(rh_verdict_name(RH_VERDICT_TRUE_RACE), "true-race");
    assert_string_equal(rh_verdict_name(RH_VERDICT_LIKELY_FALSE_POSITIVE), "likely-false-positive");
    assert_string_equal(rh_outcome_name(RH_OUTCOME_NO_RACE), "no_race");
    assert_string_equal(rh_outcome_name(RH_OUTCOME_NOT_SEEN), "not_seen");
    assert_string_equal(rh_ground_words(RH_GROUND_APART), "not aliasing");
    assert_string_equal(rh_ground_words(RH_GROUND_NOT_TRIED), "not tried");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_tally_has_its_verdict),
        cmocka_unit_test(the_order_of_outcomes_does_not_matter),
        cmocka_unit_test(nothing_leads_away_from_a_true_race),
        cmocka_unit_test(the_bound_is_that_of_so_many_runs),
        cmocka_unit_test(no_run_speaks_twice_against_a_race),
        cmocka_unit_test(a_race_or_a_suspected_one_leaves_nothing_ruled_out),
        cmocka_unit_test(names_are_those_of_commands_and_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
