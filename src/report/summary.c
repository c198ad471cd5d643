/* SPDX-License-Identifier: Apache-2.0 */
/* The verdicts of a program in short, and the verdict table that `racehive run` ends with. */
#include "report/summary.h"

#include "racehive/detectors.h"
#include "report/groups.h"
#include "report/phrases.h"
#include "report/table.h"

#include <inttypes.h>
#include <string.h>

enum rh_verdict rh_summary_verdict(int position)
{
    static const enum rh_verdict verdicts[RH_SUMMARY_VERDICTS] = {
        RH_VERDICT_TRUE_RACE, RH_VERDICT_LIKELY_FALSE_POSITIVE, RH_VERDICT_UNKNOWN};
    return verdicts[position];
}

bool rh_summary_shows(const struct rh_report *report, enum rh_ground ground)
{
    return rh_verdict_of(ground) == RH_VERDICT_TRUE_RACE || report->by_ground[ground] > 0;
}

uint64_t rh_summary_count(const struct rh_report *report, enum rh_verdict verdict)
{
    uint64_t count = 0;
    for (enum rh_ground i = 0; i < RH_GROUND_COUNT; i++)
        if (rh_verdict_of(i) == verdict)
            count += report->by_ground[i];
    return count;
}

void rh_summary_add_counts(const struct rh_report *report, struct rh_strbuf *out)
{
    uint64_t pairs = rh_summary_count(report, RH_VERDICT_TRUE_RACE), races = report->races;
    uint64_t likely = rh_summary_count(report, RH_VERDICT_LIKELY_FALSE_POSITIVE);
    uint64_t all = report->candidate_count;
    rh_strbuf_addf(out, "%" PRIu64 " true %s", races, rh_table_choose(races, "race", "races"));
    if (pairs != races)
        rh_strbuf_addf(out, " (%" PRIu64 " pairs of accesses)", pairs);
    rh_strbuf_addf(out, ", %" PRIu64 " likely false %s and %" PRIu64 " unknown of %" PRIu64 " %s",
                   likely, rh_table_choose(likely, "positive", "positives"),
                   rh_summary_count(report, RH_VERDICT_UNKNOWN), all,
                   rh_table_choose(all, "candidate", "candidates"));
}

void rh_summary_add_ends(const struct rh_report *report, struct rh_strbuf *out)
{
    const struct rh_runs_totals *totals = &report->totals;
    if (totals->crashed > 0)
        rh_strbuf_addf(out, "%" PRIu64 " %s crashed", totals->crashed,
                       rh_table_choose(totals->crashed, "run", "runs"));
    if (totals->hung > 0)
        rh_strbuf_addf(out, "%s%" PRIu64 " %s hung and %s ended", totals->crashed > 0 ? ", " : "",
                       totals->hung, rh_table_choose(totals->hung, "run", "runs"),
                       rh_table_choose(totals->hung, "was", "were"));
}

void rh_summary_add_suppressed(const struct rh_report *report, struct rh_strbuf *out)
{
    if (report->suppressed == 0)
        return;
    rh_strbuf_addf(
        out,
        "%" PRIu64 " %s, %" PRIu64 " of them true %s, %s hidden by suppressions "
        "(--no-suppressions shows all)",
        report->suppressed, rh_table_choose(report->suppressed, "candidate", "candidates"),
        report->suppressed_races, rh_table_choose(report->suppressed_races, "race", "races"),
        rh_table_choose(report->suppressed, "is", "are"));
}

/* Adds "--NAME=VALUE ", quoted for a shell; nothing without a value. */
static void add_option(const char *name, const char *value, struct rh_strbuf *out)
{
    if (!value)
        return;
    rh_strbuf_addf(out, "--%s=", name);
    rh_strbuf_add_quoted(out, value);
    rh_strbuf_addc(out, ' ');
}

static void add_options(const struct rh_report_command *command, struct rh_strbuf *out)
{
    add_option("detector", command->detector, out);
    add_option("store", command->store, out);
    add_option("symbols", command->symbols, out);
}

void rh_summary_add_command(const struct rh_report *report, const char *option,
                            struct rh_strbuf *out)
{
    const char *path = report->library ? report->library : report->path;
    rh_strbuf_add(out, "racehive report ");
    if (option)
        rh_strbuf_addf(out, "%s ", option);
    add_options(&report->command, out);
    rh_strbuf_add_quoted(out, path ? path : report->program);
}

static bool has_tasks(const char *detector)
{
    for (size_t i = 0; detector && i < RH_DETECTOR_COUNT; i++)
        if (strcmp(rh_detectors[i].name, detector) == 0)
            return rh_detectors[i].work >= RH_WORK_VALIDATE;
    return true;
}

void rh_summary_add_next(const struct rh_report *report, struct rh_strbuf *out)
{
    if (report->races > 0 || report->by_ground[RH_GROUND_NOT_TRIED] == 0)
        return;
    if (has_tasks(report->detector))
        rh_strbuf_add(out, "Not tried: no run has had these candidates as a task. Those come first "
                           "whose sites have met, so try more runs, ");
    else
        rh_strbuf_addf(out, "Not tried: %s has no tasks, it finds what happens. Try more runs, ",
                       report->detector);
    rh_strbuf_add(out, "and inputs that reach other code: racehive run --runs=64 ");
    add_options(&report->command, out);
    add_option("image", report->library, out);
    rh_strbuf_add_quoted(out, report->path ? report->path : report->program);
    for (const char *const *it = report->command.arguments; it && *it; it++) {
        rh_strbuf_addc(out, ' ');
        rh_strbuf_add_quoted(out, *it);
    }
}

void rh_summary_add_rule(struct rh_strbuf *out)
{
    rh_strbuf_addf(out,
                   "A likely false positive has at least %" PRIu64
                   " runs that speak against a race: it races in at most %g %% of such runs, with "
                   "confidence %g.",
                   rh_verdict_enough(), RH_VERDICT_RARE * 100, RH_VERDICT_CONFIDENCE);
}

static bool has_rule(const struct rh_report *report)
{
    return rh_summary_count(report, RH_VERDICT_LIKELY_FALSE_POSITIVE) > 0 ||
           report->by_ground[RH_GROUND_FEW_ORDERED] > 0 ||
           report->by_ground[RH_GROUND_FEW_EXHAUSTED] > 0;
}

static void add_rows(const struct rh_report *report, enum rh_verdict verdict,
                     struct rh_table *table)
{
    const char *name = rh_phrase_verdict(verdict);
    for (enum rh_ground i = 0; i < RH_GROUND_COUNT; i++) {
        if (rh_verdict_of(i) != verdict || !rh_summary_shows(report, i))
            continue;
        bool is_found = verdict == RH_VERDICT_TRUE_RACE && report->by_ground[i] > 0;
        enum rh_colour colour = is_found ? RH_COLOUR_RED : RH_COLOUR_NONE;
        rh_table_add(table, name, RH_COLOUR_BOLD);
        rh_table_add(table, rh_ground_words(i), colour);
        rh_table_addf(table, colour, "%" PRIu64, report->by_ground[i]);
        name = "";
    }
}

/* Prints what was collected as a line, if anything was, and empties it. */
static void put_line(struct rh_strbuf *text, FILE *out)
{
    if (text->len > 0)
        fprintf(out, "%s\n", rh_strbuf_text(text));
    rh_strbuf_reset(text);
}

void rh_summary_print_table(const struct rh_report *report, FILE *out, bool coloured)
{
    static const struct rh_table_column columns[] = {
        {.title = "VERDICT"}, {.title = "GROUND"}, {.title = "CANDIDATES", .right = true}};
    struct rh_table table;
    rh_table_init(&table, columns, sizeof columns / sizeof columns[0]);
    for (int i = 0; i < RH_SUMMARY_VERDICTS; i++)
        add_rows(report, rh_summary_verdict(i), &table);
    rh_table_add(&table, "all", RH_COLOUR_BOLD);
    rh_table_add(&table, "", RH_COLOUR_NONE);
    rh_table_addf(&table, RH_COLOUR_BOLD, "%" PRIu64, report->candidate_count);
    fputc('\n', out);
    rh_table_print(&table, out, coloured);
    rh_table_release(&table);
    struct rh_strbuf text = RH_STRBUF_INIT;
    if (has_rule(report))
        rh_summary_add_rule(&text);
    put_line(&text, out);
    rh_summary_add_next(report, &text);
    put_line(&text, out);
    rh_strbuf_release(&text);
}

static void add_side(const struct rh_report_candidate *candidate, int which,
                     const struct rh_locations *locations, struct rh_strbuf *out)
{
    const struct rh_sidecar_site *site = which == 0 ? candidate->first : candidate->second;
    rh_locations_add(locations, candidate->places[which].at, out);
    if (site->image)
        rh_strbuf_addf(out, " (%s)", site->image);
    rh_strbuf_addf(out, " %s", rh_sidecar_access_name(site->access));
}

void rh_summary_print_line(const struct rh_report_candidate *candidate,
                           const struct rh_locations *locations, FILE *out, bool coloured)
{
    struct rh_strbuf text = RH_STRBUF_INIT;
    const char *expression = candidate->places[candidate->places[0].expression ? 0 : 1].expression;
    if (!expression)
        expression = candidate->object;
    rh_strbuf_add(&text, "  ");
    add_side(candidate, 0, locations, &text);
    if (candidate->first == candidate->second)
        rh_strbuf_add(&text, ", in two threads,");
    else
        rh_strbuf_add(&text, " and ");
    if (candidate->first != candidate->second)
        add_side(candidate, 1, locations, &text);
    rh_strbuf_addf(&text, " of %s (%s)", expression ? expression : "the same memory",
                   rh_ground_words(candidate->ground));
    rh_table_print_text(rh_strbuf_text(&text), RH_COLOUR_NONE, out, coloured);
    fputc('\n', out);
    rh_strbuf_release(&text);
}

/* One line for each race, in as many as fit a screen. */
static void print_true_races(const struct rh_report *report, const struct rh_locations *locations,
                             FILE *out, bool coloured)
{
    uint64_t shown = 0;
    if (report->races > 0)
        fputs("\nTrue races:\n", out);
    rh_vec_each (const struct rh_report_candidate, it, &report->candidates) {
        if (!rh_group_leads(report, it))
            continue;
        if (report->limit > 0 && shown == report->limit)
            break;
        rh_summary_print_line(it, locations, out, coloured);
        shown++;
    }
    if (shown < report->races)
        fprintf(out, "  \u2026 and %" PRIu64 " more\n", report->races - shown);
}

void rh_report_print_summary(const struct rh_report *report, FILE *out, bool coloured)
{
    struct rh_locations locations;
    struct rh_strbuf counts = RH_STRBUF_INIT;
    rh_locations_init(&locations);
    rh_summary_add_counts(report, &counts);
    rh_table_print_text(report->program, RH_COLOUR_BOLD, out, coloured);
    fprintf(out, ": %s, after %" PRIu64 " %s\n", rh_strbuf_text(&counts), report->totals.runs,
            rh_table_choose(report->totals.runs, "run", "runs"));
    rh_summary_print_table(report, out, coloured);
    rh_strbuf_reset(&counts);
    rh_summary_add_ends(report, &counts);
    if (counts.len > 0)
        fprintf(out, "\n%s\n", rh_strbuf_text(&counts));
    rh_strbuf_reset(&counts);
    rh_summary_add_suppressed(report, &counts);
    if (counts.len > 0)
        fprintf(out, "\n%s\n", rh_strbuf_text(&counts));
    print_true_races(report, &locations, out, coloured);
    rh_strbuf_reset(&counts);
    rh_summary_add_command(report, NULL, &counts);
    fprintf(out, "\nProofs and stacks: %s (--format=html for a browser)\n",
            rh_strbuf_text(&counts));
    rh_strbuf_release(&counts);
    rh_locations_release(&locations);
}
