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
#define ORDERED     IN_ORDER(1)
#define TIMEOUTS(n) .outcomes[RH_OUTCOME_TIMEOUT] = n
#define UNSEEN(n)   .outcomes[RH_OUTCOME_NOT_SEEN] = n
/* The runs that a likely false positive needs: 0.9^66 is the first power below 0.001. */
enum { ENOUGH = 66 };
#define IN_ORDER(n) .outcomes[RH_OUTCOME_NO_RACE] = n, .ordered = n

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
    {RH_GROUND_ONE_THREAD, RH_VERDICT_UNKNOWN, {UNSEEN(5), .one_thread = 5}},
    {RH_GROUND_APART, RH_VERDICT_UNKNOWN, {UNSEEN(1000), .apart = 1000}},
    {RH_GROUND_APART, RH_VERDICT_UNKNOWN, {UNSEEN(5), .apart = 1, .one_thread = 4}},
    {RH_GROUND_FEW_EXHAUSTED, RH_VERDICT_UNKNOWN, {TIMEOUTS(1), .exhausted = 1}},
    {RH_GROUND_FEW_EXHAUSTED,
     RH_VERDICT_UNKNOWN,
     {TIMEOUTS(1000), .exhausted = ENOUGH - 1, .apart = 900}},
    {RH_GROUND_EXHAUSTED,
     RH_VERDICT_LIKELY_FALSE_POSITIVE,
     {TIMEOUTS(ENOUGH), .exhausted = ENOUGH, .apart = 7, .crashes = 1}},
    {RH_GROUND_FEW_ORDERED, RH_VERDICT_UNKNOWN, {ORDERED, .met = 1}},
    {RH_GROUND_FEW_ORDERED,
     RH_VERDICT_UNKNOWN,
     {.outcomes[RH_OUTCOME_NO_RACE] = 1000, .ordered = ENOUGH - 1}},
    {RH_GROUND_FEW_ORDERED, RH_VERDICT_UNKNOWN, {IN_ORDER(ENOUGH - 1), UNSEEN(9), .apart = 9}},
    {RH_GROUND_SYNCHRONISED, RH_VERDICT_LIKELY_FALSE_POSITIVE, {IN_ORDER(ENOUGH), .met = ENOUGH}},
    {RH_GROUND_SYNCHRONISED,
     RH_VERDICT_LIKELY_FALSE_POSITIVE,
     {ORDERED, TIMEOUTS(ENOUGH - 1), .met = 1, .exhausted = ENOUGH - 1, .hangs = 1}},
    {RH_GROUND_SUSPECTED, RH_VERDICT_UNKNOWN, {UNSEEN(1), .suspected = 1, .met = 1}},
    {RH_GROUND_SUSPECTED,
     RH_VERDICT_UNKNOWN,
     {ORDERED, TIMEOUTS(9), .exhausted = 9, .suspected = 1, .crashes = 1}},
    {RH_GROUND_SINGLE_ORDER, RH_VERDICT_TRUE_RACE, {RACED, .raced[1] = 1}},
    {RH_GROUND_SINGLE_ORDER,
     RH_VERDICT_TRUE_RACE,
     {RACED, .outcomes[RH_OUTCOME_NO_RACE] = 1000, .raced[0] = 1, .suspected = 1}},
    {RH_GROUND_BOTH_ORDERS, RH_VERDICT_TRUE_RACE, {RACED, .raced = {1, 1}}},
    {RH_GROUND_BOTH_ORDERS,
     RH_VERDICT_TRUE_RACE,
     {RACED, .raced = {1, 1}, .crashes = 1, .with[0] = {1, 1, 0}, .all = {1000, 1, 0}}},
    {RH_GROUND_CRASH,
     RH_VERDICT_TRUE_RACE,
     {RACED, .raced = {1, 1}, .crashes = 2, .with[1] = {2, 2, 0}, .all = {10, 2, 0}}},
    {RH_GROUND_HANG,
     RH_VERDICT_TRUE_RACE,
     {RACED, .raced[0] = 1, .crashes = 2, .hangs = 3, .with[0] = {5, 2, 3}, .all = {50, 2, 3}}},
    {RH_GROUND_SUSPECTED,
     RH_VERDICT_UNKNOWN,
     {UNSEEN(9), .suspected = 9, .crashes = 9, .with[1] = {9, 9, 0}, .all = {100, 9, 0}}},
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
    enum rh_outcome outcome = bits % 512 == 0 ? RH_OUTCOME_RACE : 1 + bits / 512 % 3;
    run.outcomes[outcome] = 1;
    run.ordered = outcome == RH_OUTCOME_NO_RACE;
    bits >>= 12;
    if (outcome == RH_OUTCOME_RACE)
        run.raced[bits % 2] = 1;
    else
        run.suspected = bits % 512 == 0;
    run.exhausted = outcome == RH_OUTCOME_TIMEOUT && bits / 512 % 8 == 0;
    run.met = outcome <= RH_OUTCOME_NO_RACE || run.suspected || bits / 256 % 16 == 0;
    run.apart = !run.met && bits / 4096 % 2 == 0;
    run.one_thread = !run.met && !run.apart && bits / 8192 % 2 == 0;
    run.crashes = bits / 16384 % 16 == 0;
    run.all.runs = 1;
    run.all.crashes = run.crashes;
    for (int order = 0; order < 2; order++)
        run.with[order] = (struct rh_ends){run.raced[order], run.raced[order] * run.crashes, 0};
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
    enum { SERIES = 500, SHUFFLES = 8, MOST = 300 };
    unsigned by_verdict[3] = {0};
    for (uint64_t series = 0; series < SERIES; series++) {
        struct rh_tally runs[MOST], first = {0};
        size_t count = 1 + draw(series, 100000) % MOST;
        for (size_t i = 0; i < count; i++) {
            runs[i] = draw_run(draw(series, i));
            add_run(&first, &runs[i]);
        }
        by_verdict[rh_verdict_of(rh_verdict_ground(&first))]++;
        for (uint64_t shuffle = 0; shuffle < SHUFFLES; shuffle++) {
            struct rh_tally tally = {0};
            for (size_t left = count; left > 0; left--) {
                size_t at = draw(series, 200000 + 1000 * shuffle + left) % left;
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
    return rh_verdict_bound(&(struct rh_tally){IN_ORDER(ordered)});
}

/* From 0.001 = (1 - p)^k, solved by hand. */
static void the_bound_is_that_of_so_many_runs(void **state)
{
    (void)state;
    assert_near(bound_of(0), 1);
    assert_near(bound_of(1), 0.999);
    assert_near(bound_of(2), 1 - 0.031622776601684);
    assert_near(bound_of(3), 0.9);
    assert_near(bound_of(59), 1 - pow(0.001, 1.0 / 59));
    assert_int_equal(rh_verdict_enough(), ENOUGH);
    assert_true(bound_of(ENOUGH - 1) > 0.1 && bound_of(ENOUGH) < 0.1);
    /* 6.9 / k, where k is large. */
    double many = bound_of(1000000000000);
    assert_true(many > 6.9077e-12 && many < 6.9078e-12);
    for (uint64_t k = 1; k < 1000; k++)
        assert_true(bound_of(k + 1) < bound_of(k));
}

static void only_some_runs_speak_against_a_race(void **state)
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
        {3, {TIMEOUTS(4), .exhausted = 3, .apart = 4}},
        {4, {TIMEOUTS(4), .exhausted = 4, .apart = 1, .one_thread = 1}},
        {2, {ORDERED, TIMEOUTS(3), UNSEEN(3), .exhausted = 1, .apart = 3, .one_thread = 2}},
        {0, {UNSEEN(99), .apart = 50, .one_thread = 49}},
        {1, {RACED, ORDERED, .raced[0] = 1}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(rh_verdict_against(&rows[i].tally), rows[i].against);
}

static void a_race_or_a_suspected_one_leaves_nothing_ruled_out(void **state)
{
    (void)state;
    const struct rh_tally raced = {RACED, IN_ORDER(99), .raced[1] = 1};
    const struct rh_tally suspected = {IN_ORDER(99), .suspected = 1};
    assert_near(rh_verdict_bound(&raced), 1);
    assert_near(rh_verdict_bound(&suspected), 1);
}

/* A number from 0 to 1. */
static double draw_share(uint64_t series, uint64_t index)
{
    return (double)(draw(series, index) >> 11) / (double)(1ull << 53);
}

/* A run of a program that races with probability `p`; of the other runs, `useless` say nothing. */
static struct rh_tally simulate(double p, double useless, uint64_t trial, uint64_t index)
{
    double share = draw_share(trial, 2 * index), other = draw_share(trial, 2 * index + 1);
    if (share < p)
        return (struct rh_tally){RACED, .raced[0] = 1, .met = 1};
    if (other < useless)
        return (struct rh_tally){UNSEEN(1), .apart = 1};
    if (other < useless + (1 - useless) / 4)
        return (struct rh_tally){TIMEOUTS(1), .exhausted = 1};
    return (struct rh_tally){ORDERED, .met = 1};
}

/* Of `trials` programs, those that are called likely false after any of their first 300 runs. A
 * program that has raced is never called so again. */
static unsigned count_called(double p, double useless, unsigned trials)
{
    unsigned called = 0;
    for (uint64_t trial = 0; trial < trials; trial++) {
        struct rh_tally tally = {0};
        enum rh_verdict verdict = RH_VERDICT_UNKNOWN;
        for (uint64_t i = 0; i < 300 && verdict == RH_VERDICT_UNKNOWN; i++) {
            struct rh_tally run = simulate(p, useless, trial, i);
            add_run(&tally, &run);
            verdict = rh_verdict_of(rh_verdict_ground(&tally));
        }
        called += verdict == RH_VERDICT_LIKELY_FALSE_POSITIVE;
    }
    return called;
}

/* At 0.1 the rule is as sharp as it can be, 0.95 in 1,000, so the trials are many. */
static void races_are_hardly_ever_called_likely_false(void **state)
{
    (void)state;
    static const struct {
        double p, useless;
        unsigned trials;
    } rows[] = {{0.1, 0, 400000},   {0.1, 0.5, 100000}, {0.12, 0, 100000},
                {0.2, 0.3, 100000}, {0.5, 0, 100000},   {0.9, 0.9, 100000}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        unsigned called = count_called(rows[i].p, rows[i].useless, rows[i].trials);
        print_message("probability %g: %u of %u called likely false\n", rows[i].p, called,
                      rows[i].trials);
        assert_in_range(called, 0, rows[i].trials / 1000);
    }
}

/* And what is rarer than the rule promises to find may be. */
static void what_never_races_is_called_likely_false_in_the_end(void **state)
{
    (void)state;
    assert_int_equal(count_called(0, 0.5, 1000), 1000);
    assert_in_range(count_called(0.02, 0, 1000), 200, 330);
}

static bool blames(struct rh_ends with, struct rh_ends all)
{
    const struct rh_tally tally = {RACED, .raced[0] = 1, .with[0] = with, .all = all};
    bool crash = rh_verdict_crash_order(&tally) == 0, hang = rh_verdict_hang_order(&tally) == 0;
    assert_false(crash && hang);
    return crash || hang;
}

/* The probabilities are those of the hypergeometric distribution, by hand. */
static void blame_needs_more_failures_than_elsewhere(void **state)
{
    (void)state;
    assert_false(blames((struct rh_ends){1, 1, 0}, (struct rh_ends){1000, 1, 0}));
    assert_false(blames((struct rh_ends){9, 9, 0}, (struct rh_ends){9, 9, 0}));
    assert_false(blames((struct rh_ends){2, 2, 0}, (struct rh_ends){9, 2, 0})); /* 1 of 36 */
    assert_true(blames((struct rh_ends){2, 2, 0}, (struct rh_ends){10, 2, 0})); /* 1 of 45 */
    assert_true(blames((struct rh_ends){2, 0, 2}, (struct rh_ends){10, 0, 2}));
    assert_false(blames((struct rh_ends){50, 5, 0}, (struct rh_ends){100, 10, 0}));
    assert_false(blames((struct rh_ends){10, 5, 0}, (struct rh_ends){20, 6, 0})); /* 0.0704 */
    assert_true(blames((struct rh_ends){10, 6, 0}, (struct rh_ends){20, 6, 0}));  /* 0.0054 */
    assert_false(blames((struct rh_ends){0}, (struct rh_ends){20, 20, 20}));
    /* Fewer than elsewhere, where almost all fail. */
    assert_false(blames((struct rh_ends){10, 8, 0}, (struct rh_ends){100, 98, 0}));
    const struct rh_tally no_race = {IN_ORDER(9), .with[0] = {5, 5, 5}, .crashes = 5,
                                     .all = {100, 5, 5}};
    assert_int_equal(rh_verdict_crash_order(&no_race), -1);
    assert_int_equal(rh_verdict_hang_order(&no_race), -1);
}

/* A program that crashes now and then, whether it races or not. */
static void blame_by_chance_is_rare(void **state)
{
    (void)state;
    enum { TRIALS = 4000, RUNS = 200 };
    unsigned blamed = 0;
    for (uint64_t trial = 0; trial < TRIALS; trial++) {
        struct rh_tally tally = {RACED, .raced = {1, 1}};
        for (uint64_t i = 0; i < RUNS; i++) {
            bool crashes = draw_share(trial, 3 * i) < 0.2;
            tally.all.runs++;
            tally.all.crashes += crashes;
            for (uint64_t order = 0; order < 2; order++) {
                bool has = draw_share(trial, 3 * i + 1 + order) < 0.3;
                tally.with[order].runs += has;
                tally.with[order].crashes += has && crashes;
            }
        }
        blamed += rh_verdict_crash_order(&tally) >= 0;
    }
    print_message("%u of %u blamed by chance\n", blamed, TRIALS);
    assert_in_range(blamed, 1, TRIALS / 20);
}

/* Also what a damaged store holds comes to an end. */
static void blame_survives_any_counts(void **state)
{
    (void)state;
    static const uint64_t values[] = {0, 1, 2, 1000, 1ull << 40, INT64_MAX, UINT64_MAX};
    enum { COUNT = sizeof values / sizeof values[0] };
    for (int i = 0; i < COUNT * COUNT * COUNT * COUNT; i++) {
        uint64_t runs = values[i % COUNT], crashes = values[i / COUNT % COUNT];
        uint64_t all = values[i / COUNT / COUNT % COUNT];
        uint64_t all_crashes = values[i / COUNT / COUNT / COUNT];
        bool blamed =
            blames((struct rh_ends){runs, crashes, 0}, (struct rh_ends){all, all_crashes, 0});
        assert_false(blamed && (crashes > runs || runs >= all));
    }
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
        cmocka_unit_test(only_some_runs_speak_against_a_race),
        cmocka_unit_test(races_are_hardly_ever_called_likely_false),
        cmocka_unit_test(what_never_races_is_called_likely_false_in_the_end),
        cmocka_unit_test(blame_needs_more_failures_than_elsewhere),
        cmocka_unit_test(blame_by_chance_is_rare),
        cmocka_unit_test(blame_survives_any_counts),
        cmocka_unit_test(a_race_or_a_suspected_one_leaves_nothing_ruled_out),
        cmocka_unit_test(names_are_those_of_commands_and_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
