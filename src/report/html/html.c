/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports as one HTML file that needs nothing else: what the text says of each race, and a table of
 * all candidates. Every text that comes from the program goes through put_text or put_collected,
 * which escape it.
 */
#include "report/groups.h"
#include "report/html/internal.h"
#include "report/phrases.h"
#include "report/renderers.h"
#include "report/source.h"
#include "report/stacks.h"
#include "report/summary.h"
#include "report/table.h"

#include <inttypes.h>

static void put_line(struct rh_html *page, const struct rh_sidecar_location *at, uint32_t line)
{
    bool is_access = line == at->line;
    size_t caret;
    if (!rh_source_line(&page->source, at->file, line, is_access ? at->column : 0, &page->text,
                        &caret))
        return;
    fprintf(page->out, "<span class=\"line%s\"><span class=\"gutter\">%6u | </span>",
            is_access ? " hit" : "", line);
    rh_html_put_collected(page);
    if (caret != RH_SOURCE_NO_CARET)
        fprintf(page->out,
                "\n<span class=\"gutter\">       | </span>%*s<span class=\"caret\">^</span>",
                (int)caret, "");
    rh_html_put(page, "\n</span>");
}

/* The line with its access marked, and a few around it. */
static void put_excerpt(struct rh_html *page, const struct rh_sidecar_location *at)
{
    if (!at || !at->file || !rh_source_has(&page->source, at->file, at->line))
        return;
    uint32_t first = at->line > RH_SOURCE_AROUND ? at->line - RH_SOURCE_AROUND : 1;
    rh_html_put(page, "<pre>");
    for (uint32_t line = first; line <= at->line + RH_SOURCE_AROUND; line++)
        put_line(page, at, line);
    rh_html_put(page, "</pre>\n");
}

static void put_stack(struct rh_html *page, const struct rh_report_side *side)
{
    struct rh_stack stack = RH_VEC_INIT;
    rh_stack_fold(side, page->full, &stack);
    rh_html_put(page, "<ol class=\"stack\" start=\"0\">\n");
    rh_vec_each (const struct rh_stack_line, it, &stack) {
        const char *function = it->frame ? it->frame->function : "\u2026";
        rh_html_put(page, "<li><code>");
        rh_html_put_text(page, function ? function : "?");
        rh_html_put(page, "</code> <span class=\"soft\">");
        if (it->frame && it->frame->file) {
            struct rh_sidecar_location at = rh_stack_location(it->frame);
            rh_html_put_path(page, &at, "at");
            rh_stack_describe_fold(it, &page->text);
        } else {
            rh_stack_describe(it, &page->locations, &page->text);
        }
        rh_html_put_collected(page);
        rh_html_put(page, "</span></li>\n");
    }
    rh_html_put(page, "</ol>\n");
    rh_vec_free(&stack);
}

static void put_side(struct rh_html *page, const struct rh_report_candidate *candidate, int side)
{
    const struct rh_own_place *place = rh_phrase_place(candidate, side);
    rh_html_put(page, side == 0 ? "<section>\n<h4>First: " : "<section>\n<h4>Then: ");
    rh_phrase_access(candidate, side, &page->text);
    rh_html_put_collected(page);
    rh_html_put(page, "</h4>\n<p>");
    rh_html_put_place(page, place->at);
    rh_html_put(page, " in <code>");
    rh_html_put_text(page, place->function);
    rh_html_put(page, "</code>");
    if (rh_phrase_site(candidate, side)->image) {
        rh_html_put(page, " of <code>");
        rh_html_put_text(page, rh_phrase_site(candidate, side)->image);
        rh_html_put(page, "</code>");
    }
    if (place->callee) {
        rh_html_put(page, ", by <code>");
        rh_html_put_text(page, place->callee);
        rh_html_put(page, "</code>");
    }
    rh_html_put(page, "</p>\n");
    if (side == 0 || !rh_phrase_is_one_place(candidate))
        put_excerpt(page, place->at);
    rh_html_put(page, "<p>By ");
    rh_phrase_thread(candidate, side, &page->text);
    rh_strbuf_add(&page->text, ", holding ");
    rh_phrase_locks(candidate, side, &page->text);
    rh_html_put_collected(page);
    rh_html_put(page, "</p>\n");
    if (candidate->finding)
        put_stack(page, &candidate->finding->sides[side]);
    rh_html_put(page, "</section>\n");
}

/* A name and what was collected, if anything was. */
static void put_fact(struct rh_html *page, const char *name)
{
    if (page->text.len == 0)
        return;
    fprintf(page->out, "<dt>%s</dt><dd>", name);
    rh_html_put_collected(page);
    rh_html_put(page, "</dd>\n");
}

static void put_facts(struct rh_html *page, const struct rh_report_candidate *candidate)
{
    struct rh_phrase_list advice = RH_VEC_INIT;
    rh_html_put(page, "<dl>\n");
    rh_phrase_memory(candidate, &page->text);
    put_fact(page, "Memory");
    rh_phrase_guards(candidate, &page->text);
    put_fact(page, "Order");
    if (candidate->finding)
        rh_phrase_proof(candidate, &page->text);
    put_fact(page, candidate->verdict == RH_VERDICT_TRUE_RACE ? "Proof" : "Seen");
    rh_phrase_runs(candidate, &page->text);
    put_fact(page, "Runs");
    rh_phrase_consequence(candidate, &page->text);
    put_fact(page, "Consequence");
    rh_phrase_advise(candidate, &page->locations, &advice);
    rh_vec_each (char *, it, &advice) {
        rh_strbuf_add(&page->text, *it);
        put_fact(page, "Try");
    }
    rh_phrase_list_release(&advice);
    rh_html_put(page, "</dl>\n");
}

/* The other races of the same two lines, each a target of its own for links. */
static void put_same(struct rh_html *page, const struct rh_report *report,
                     const struct rh_report_candidate *candidate)
{
    for (const struct rh_report_candidate *it = candidate; (it = rh_group_next(report, it));) {
        rh_html_put(page, "<p id=\"c");
        rh_html_put_id(page, it->id);
        rh_html_put(page, "\">Variant: ");
        rh_phrase_title(it, &page->text);
        rh_strbuf_addf(&page->text, " (%s)", rh_ground_words(it->ground));
        rh_html_put_collected(page);
        rh_html_put(page, " <span class=\"id\">");
        rh_html_put_id(page, it->id);
        rh_html_put(page, "</span></p>\n");
    }
}

static void put_race(struct rh_html *page, const struct rh_report *report,
                     const struct rh_report_candidate *candidate)
{
    bool is_true = candidate->verdict == RH_VERDICT_TRUE_RACE;
    fprintf(page->out, "<article class=\"%s\" data-score=\"%u\" data-runs=\"%" PRIu64 "\" id=\"c",
            is_true ? "true-race" : "open", candidate->score,
            candidate->tally.outcomes[RH_OUTCOME_RACE]);
    rh_html_put_id(page, candidate->id);
    rh_html_put(page, "\">\n<h3>");
    rh_phrase_title(candidate, &page->text);
    rh_html_put_collected(page);
    rh_html_put(page, " <span class=\"id\">");
    rh_html_put_id(page, candidate->id);
    rh_html_put(page, "</span></h3>\n<div class=\"sides\">\n");
    put_side(page, candidate, 0);
    put_side(page, candidate, 1);
    rh_html_put(page, "</div>\n");
    put_facts(page, candidate);
    if (is_true)
        put_same(page, report, candidate);
    rh_html_put(page, "</article>\n");
}

/* Works on races and on the table alike; shown only where scripts run. */
static void put_filter(struct rh_html *page)
{
    rh_html_put(page,
                "<div class=\"filter\" hidden><input id=\"words\" type=\"search\" "
                "placeholder=\"Words to look for\" aria-label=\"Words to look for\">"
                "<select id=\"verdict\" aria-label=\"Verdict\"><option value=\"\">all verdicts"
                "</option>");
    for (int i = 0; i < RH_SUMMARY_VERDICTS; i++)
        fprintf(page->out, "<option value=\"%s\">%s</option>",
                rh_verdict_name(rh_summary_verdict(i)), rh_phrase_verdict(rh_summary_verdict(i)));
    rh_html_put(page, "</select><select id=\"order\" aria-label=\"Order of the races\">"
                      "<option value=\"score\">races by score</option>"
                      "<option value=\"runs\">races by runs that raced</option>"
                      "<option value=\"place\">races by place</option></select></div>\n");
}

static void put_races(struct rh_html *page, const struct rh_report *report)
{
    rh_html_put(page, "<h2>True races</h2>\n");
    if (report->races == 0)
        rh_html_put(page, "<p>None was found.</p>\n");
    rh_html_put(page, "<div id=\"races\">\n");
    rh_vec_each (const struct rh_report_candidate, it, &report->candidates)
        if (rh_group_leads(report, it))
            put_race(page, report, it);
    rh_html_put(page, "</div>\n");
    if (report->by_ground[RH_GROUND_SUSPECTED] == 0)
        return;
    rh_html_put(page, "<h2>Unordered, but not proved</h2>\n<p>");
    rh_phrase_opaque(report->totals.opaque, &page->text);
    if (page->text.len > 0)
        rh_html_put(page, "The process holds ");
    rh_html_put_collected(page);
    rh_html_put(page, "</p>\n");
    rh_vec_each (const struct rh_report_candidate, it, &report->candidates)
        if (it->ground == RH_GROUND_SUSPECTED)
            put_race(page, report, it);
}

static void put_grounds(struct rh_html *page, const struct rh_report *report)
{
    rh_html_put(page, "<h2>Verdicts</h2>\n<table>\n<thead><tr><th>Verdict</th><th>Ground</th>"
                      "<th class=\"n\">Candidates</th></tr></thead>\n<tbody>\n");
    for (int i = 0; i < RH_SUMMARY_VERDICTS; i++) {
        enum rh_verdict verdict = rh_summary_verdict(i);
        for (enum rh_ground ground = 0; ground < RH_GROUND_COUNT; ground++) {
            if (rh_verdict_of(ground) != verdict || !rh_summary_shows(report, ground))
                continue;
            fprintf(page->out, "<tr class=\"%s\"><td class=\"verdict\">%s</td><td>%s</td>",
                    rh_verdict_name(verdict), rh_phrase_verdict(verdict), rh_ground_words(ground));
            fprintf(page->out, "<td class=\"n\">%" PRIu64 "</td></tr>\n",
                    report->by_ground[ground]);
        }
    }
    rh_html_put(page, "</tbody>\n</table>\n");
}

static void put_head(struct rh_html *page, const struct rh_report *report)
{
    rh_html_put(page,
                "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>");
    rh_strbuf_addf(&page->text, "Races in %s", report->program);
    rh_html_put_collected(page);
    rh_html_put(page, "</title>\n<style>\n");
    rh_html_put(page, rh_html_style);
    rh_html_put(page, "</style>\n</head>\n<body>\n<header>\n<h1>");
    rh_strbuf_addf(&page->text, "Races in %s", report->program);
    rh_html_put_collected(page);
    rh_html_put(page, "</h1>\n<p>");
    rh_summary_add_counts(report, &page->text);
    rh_html_put_collected(page);
    rh_html_put(page, "</p>\n<p class=\"soft\">");
    rh_summary_add_suppressed(report, &page->text);
    if (page->text.len > 0)
        rh_strbuf_add(&page->text, ". ");
    rh_strbuf_addf(&page->text, "%" PRIu64 " %s with %s, %" PRIu64 " crashed, %" PRIu64 " hung; ",
                   report->totals.runs, rh_table_choose(report->totals.runs, "run", "runs"),
                   report->detector, report->totals.crashed, report->totals.hung);
    rh_strbuf_addf(&page->text, "build id %s; racehive %s", report->build_id, RH_VERSION);
    rh_html_put_collected(page);
    rh_html_put(page, "</p>\n</header>\n<main>\n");
}

enum rh_status rh_render_html(const struct rh_report *report, FILE *out)
{
    struct rh_html page = {.out = out, .full = report->full};
    rh_locations_init(&page.locations);
    rh_source_init(&page.source);
    put_head(&page, report);
    put_grounds(&page, report);
    put_filter(&page);
    put_races(&page, report);
    rh_html_put_candidates(&page, report);
    rh_html_put(&page, "</main>\n<script>\n");
    rh_html_put(&page, rh_html_script);
    rh_html_put(&page, "</script>\n</body>\n</html>\n");
    rh_source_release(&page.source);
    rh_locations_release(&page.locations);
    rh_strbuf_release(&page.text);
    rh_strbuf_release(&page.escaped);
    return ferror(out) ? rh_fail_errno(RH_ERR_IO, "cannot write the report") : RH_OK;
}
