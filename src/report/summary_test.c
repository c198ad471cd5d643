/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict table that a series of runs ends with. */
#include "report/summary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct rh_sidecar_function function = {.name = "work"};
static const struct rh_sidecar_location at = {"/x/a.c", 3, 7, "work", NULL, NULL, false};
static const struct rh_sidecar_site named = {
    .access = RH_ACCESS_WRITE, .function = &function, .location = &at, .expression = "n\033[1m"};
static const struct rh_sidecar_site unnamed = {.access = RH_ACCESS_READ, .function = &function};

static char *print(const struct rh_report *report, bool coloured)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    rh_report_print_summary(report, out, coloured);
    fclose(out);
    return text;
}

static void every_verdict_has_its_rows(void **state)
{
    (void)state;
    struct rh_report report = {.program = "prog",
                               .path = "./my prog",
                               .totals = {.runs = 64},
                               .candidate_count = 12,
                               .races = 2,
                               .by_ground = {[RH_GROUND_CRASH] = 1,
                                             [RH_GROUND_SINGLE_ORDER] = 1,
                                             [RH_GROUND_SYNCHRONISED] = 3,
                                             [RH_GROUND_NOT_TRIED] = 7}};
    const struct rh_own_place place = {.at = named.location, .expression = named.expression};
    rh_vec_push(&report.candidates, (struct rh_report_candidate){.first = &named,
                                                                 .second = &unnamed,
                                                                 .places = {place},
                                                                 .verdict = RH_VERDICT_TRUE_RACE,
                                                                 .ground = RH_GROUND_CRASH});
    rh_vec_push(&report.candidates, (struct rh_report_candidate){.first = &unnamed,
                                                                 .second = &unnamed,
                                                                 .leader = 1,
                                                                 .verdict = RH_VERDICT_TRUE_RACE,
                                                                 .ground = RH_GROUND_SINGLE_ORDER});
    rh_vec_push(&report.candidates,
                (struct rh_report_candidate){.first = &named,
                                             .second = &named,
                                             .verdict = RH_VERDICT_LIKELY_FALSE_POSITIVE,
                                             .ground = RH_GROUND_SYNCHRONISED});
    char *text = print(&report, false);
    assert_string_equal(
        text, "prog: 2 true races, 3 likely false positives and 7 unknown of 12 candidates, after "
              "64 runs\n"
              "\n"
              "VERDICT                GROUND        CANDIDATES\n"
              "true race              causes hang            0\n"
              "                       causes crash           1\n"
              "                       both orders            0\n"
              "                       single order           1\n"
              "likely false positive  synchronised           3\n"
              "unknown                not tried              7\n"
              "all                                          12\n"
              "A likely false positive has at least 66 runs that speak against a race: it races "
              "in at most 10 % of such runs, with confidence 0.999.\n"
              "\n"
              "True races:\n"
              "  /x/a.c:3:7 write and ? read of n?[1m (causes crash)\n"
              "  ? read, in two threads, of the same memory (single order)\n"
              "\n"
              "Proofs and stacks: racehive report './my prog' (--format=html for a browser)\n");
    free(text);
    rh_vec_free(&report.candidates);
}

static void no_race_is_said_too(void **state)
{
    (void)state;
    struct rh_report report = {
        .program = "prog", .totals = {.runs = 1, .hung = 1}, .candidate_count = 1};
    report.by_ground[RH_GROUND_SYNCHRONISED] = 1;
    char *text = print(&report, true);
    assert_non_null(strstr(text, "0 true races, 1 likely false positive and 0 unknown of 1 "
                                 "candidate, after 1 run\n"));
    assert_null(strstr(text, "True races:"));
    assert_non_null(strstr(text, "\n1 run hung and was ended\n"));
    assert_null(strstr(text, "\033[1;31m"));
    assert_non_null(strstr(text, "racehive report prog"));
    free(text);
}

static void what_to_do_where_nothing_was_found(void **state)
{
    (void)state;
    static const char *const arguments[] = {"-n", "two words", NULL};
    static const struct {
        const char *detector, *said;
    } cases[] = {
        {"racechaser", "Not tried: no run has had these candidates as a task. Those come first "
                       "whose sites have met, so try more runs, and inputs that reach other code: "
                       "racehive run --runs=64 --detector=racechaser --store='my store' ./prog -n "
                       "'two words'\n"},
        {"fasttrack", "Not tried: fasttrack has no tasks, it finds what happens. Try more runs, "
                      "and inputs that reach other code: racehive run --runs=64 "
                      "--detector=fasttrack --store='my store' ./prog -n 'two words'\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rh_report report = {.program = "prog",
                                   .path = "./prog",
                                   .detector = cases[i].detector,
                                   .candidate_count = 4,
                                   .command = {.detector = cases[i].detector,
                                               .store = "my store",
                                               .arguments = arguments}};
        report.by_ground[RH_GROUND_NOT_TRIED] = 3;
        report.by_ground[RH_GROUND_NOT_SEEN] = 1;
        char *text = print(&report, false);
        assert_non_null(strstr(text, cases[i].said));
        free(text);
        report.by_ground[RH_GROUND_NOT_TRIED] = 0;
        text = print(&report, false);
        assert_null(strstr(text, "Not tried"));
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_verdict_has_its_rows),
        cmocka_unit_test(no_race_is_said_too),
        cmocka_unit_test(what_to_do_where_nothing_was_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
