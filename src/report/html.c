/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports as one HTML file that needs nothing else: what the text says of each race, and a table of
 * all candidates. Every text that comes from the program goes through put_text or put_collected,
 * which escape it.
 */
#include "base/hash.h"
#include "report/groups.h"
#include "report/html_page.h"
#include "report/phrases.h"
#include "report/renderers.h"
#include "report/source.h"
#include "report/stacks.h"
#include "report/summary.h"

#include <inttypes.h>

struct page {
    FILE *out;
    bool full;
    struct rh_locations locations;
    struct rh_source source;
    struct rh_strbuf text;    /* collected, not yet escaped; empty between uses */
    struct rh_strbuf escaped; /* the same */
};

static void put(struct page *page, const char *html)
{
    fputs(html, page->out);
}

static void put_text(struct page *page, const char *text)
{
    rh_strbuf_add_html(&page->escaped, text);
    put(page, rh_strbuf_text(&page->escaped));
    rh_strbuf_reset(&page->escaped);
}

static void put_number(struct page *page, uint64_t number)
{
    fprintf(page->out, "%" PRIu64, number);
}

/* Puts what was collected, and empties it. */
static void put_collected(struct page *page)
{
    put_text(page, rh_strbuf_text(&page->text));
    rh_strbuf_reset(&page->text);
}

static void put_id(struct page *page, uint64_t id)
{
    char text[RH_HASH_HEX_SIZE];
    rh_hash_format(id, text);
    put_text(page, text);
}

static void put_excerpt(struct page *page, const struct rh_sidecar_location *at)
{
    size_t caret;
    if (!at || !rh_source_line(&page->source, at->file, at->line, at->column, &page->text, &caret))
        return;
    fprintf(page->out, "<pre><span class=\"gutter\">%6u | </span>", at->line);
    put_collected(page);
    if (caret != RH_SOURCE_NO_CARET)
        fprintf(page->out,
                "\n<span class=\"gutter\">       | </span>%*s<span class=\"caret\">^</span>",
                (int)caret, "");
    put(page, "</pre>\n");
}

static void put_stack(struct page *page, const struct rh_report_side *side)
{
    struct rh_stack stack = RH_VEC_INIT;
    rh_stack_fold(side, page->full, &stack);
    put(page, "<ol class=\"stack\" start=\"0\">\n");
    rh_vec_each (const struct rh_stack_line, it, &stack) {
        const char *function = it->frame ? it->frame->function : "\u2026";
        put(page, "<li><code>");
        put_text(page, function ? function : "?");
        put(page, "</code> <span class=\"soft\">");
        rh_stack_describe(it, &page->locations, &page->text);
        put_collected(page);
        put(page, "</span></li>\n");
    }
    put(page, "</ol>\n");
    rh_vec_free(&stack);
}

static void put_side(struct page *page, const struct rh_report_candidate *candidate, int side)
{
    const struct rh_own_place *place = rh_phrase_place(candidate, side);
    put(page, side == 0 ? "<section>\n<h4>First: " : "<section>\n<h4>Then: ");
    rh_phrase_access(candidate, side, &page->text);
    put_collected(page);
    put(page, "</h4>\n<p><code class=\"place\">");
    rh_locations_add(&page->locations, place->at, &page->text);
    put_collected(page);
    put(page, "</code> in <code>");
    put_text(page, place->function);
    put(page, "</code>");
    if (place->callee) {
        put(page, ", by <code>");
        put_text(page, place->callee);
        put(page, "</code>");
    }
    put(page, "</p>\n");
    put_excerpt(page, place->at);
    put(page, "<p>By ");
    rh_phrase_thread(candidate, side, &page->text);
    rh_strbuf_add(&page->text, ", holding ");
    rh_phrase_locks(candidate, side, &page->text);
    put_collected(page);
    put(page, "</p>\n");
    if (candidate->finding)
        put_stack(page, &candidate->finding->sides[side]);
    put(page, "</section>\n");
}

/* A name and what was collected, if anything was. */
static void put_fact(struct page *page, const char *name)
{
    if (page->text.len == 0)
        return;
    fprintf(page->out, "<dt>%s</dt><dd>", name);
    put_collected(page);
    put(page, "</dd>\n");
}

static void put_facts(struct page *page, const struct rh_report_candidate *candidate)
{
    struct rh_phrase_list advice = RH_VEC_INIT;
    put(page, "<dl>\n");
    rh_phrase_memory(candidate, &page->text);
    put_fact(page, "Memory");
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
    put(page, "</dl>\n");
}

/* The other races of the same two lines, each a target of its own for links. */
static void put_same(struct page *page, const struct rh_report *report,
                     const struct rh_report_candidate *candidate)
{
    for (const struct rh_report_candidate *it = candidate; (it = rh_group_next(report, it));) {
        put(page, "<p id=\"c");
        put_id(page, it->id);
        put(page, "\">Variant: ");
        rh_phrase_title(it, &page->text);
        rh_strbuf_addf(&page->text, " (%s)", rh_ground_words(it->ground));
        put_collected(page);
        put(page, " <span class=\"id\">");
        put_id(page, it->id);
        put(page, "</span></p>\n");
    }
}

static void put_race(struct page *page, const struct rh_report *report,
                     const struct rh_report_candidate *candidate)
{
    bool is_true = candidate->verdict == RH_VERDICT_TRUE_RACE;
    put(page, is_true ? "<article id=\"c" : "<article class=\"open\" id=\"c");
    put_id(page, candidate->id);
    put(page, "\">\n<h3>");
    rh_phrase_title(candidate, &page->text);
    put_collected(page);
    put(page, " <span class=\"id\">");
    put_id(page, candidate->id);
    put(page, "</span></h3>\n<div class=\"sides\">\n");
    put_side(page, candidate, 0);
    put_side(page, candidate, 1);
    put(page, "</div>\n");
    put_facts(page, candidate);
    if (is_true)
        put_same(page, report, candidate);
    put(page, "</article>\n");
}

static bool has_article(const struct rh_report_candidate *candidate)
{
    return candidate->verdict == RH_VERDICT_TRUE_RACE || candidate->ground == RH_GROUND_SUSPECTED;
}

static void put_races(struct page *page, const struct rh_report *report)
{
    put(page, "<h2>True races</h2>\n");
    if (rh_summary_count(report, RH_VERDICT_TRUE_RACE) == 0)
        put(page, "<p>None was found.</p>\n");
    rh_vec_each (const struct rh_report_candidate, it, &report->candidates)
        if (rh_group_leads(report, it))
            put_race(page, report, it);
    if (report->by_ground[RH_GROUND_SUSPECTED] == 0)
        return;
    put(page, "<h2>Unordered, but not proved</h2>\n<p>");
    rh_phrase_opaque(report->totals.opaque, &page->text);
    if (page->text.len > 0)
        put(page, "The process holds ");
    put_collected(page);
    put(page, "</p>\n");
    rh_vec_each (const struct rh_report_candidate, it, &report->candidates)
        if (it->ground == RH_GROUND_SUSPECTED)
            put_race(page, report, it);
}

static void put_grounds(struct page *page, const struct rh_report *report)
{
    put(page, "<h2>Verdicts</h2>\n<table>\n<thead><tr><th>Verdict</th><th>Ground</th>"
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
    put(page, "</tbody>\n</table>\n");
}

static void put_cell_site(struct page *page, const struct rh_sidecar_site *site,
                          const struct rh_own_place *place)
{
    put(page, "<td><code>");
    rh_locations_add(&page->locations, place->at, &page->text);
    put_collected(page);
    put(page, "</code><br><span class=\"soft\">");
    rh_strbuf_addf(&page->text, "%s in %s", rh_sidecar_access_name(site->access), place->function);
    put_collected(page);
    put(page, "</span></td>");
}

static void put_row(struct page *page, const struct rh_report_candidate *candidate)
{
    const char *expression = candidate->places[candidate->places[0].expression ? 0 : 1].expression;
    fprintf(page->out,
            "<tr class=\"%s\"><td class=\"verdict\">%s</td><td>%s</td><td class=\"n\">%u</td>",
            rh_verdict_name(candidate->verdict), rh_phrase_verdict(candidate->verdict),
            rh_ground_words(candidate->ground), candidate->score);
    put_cell_site(page, candidate->first, &candidate->places[0]);
    put_cell_site(page, candidate->second, &candidate->places[1]);
    put(page, "<td><code>");
    put_text(page, expression ? expression : "-");
    put(page, "</code></td>");
    for (enum rh_outcome i = 0; i < RH_OUTCOME_COUNT; i++) {
        put(page, "<td class=\"n\">");
        put_number(page, candidate->tally.outcomes[i]);
        put(page, "</td>");
    }
    put(page, "<td class=\"n\">");
    rh_phrase_bound(candidate, &page->text);
    put_collected(page);
    put(page,
        has_article(candidate) ? "</td><td class=\"id\"><a href=\"#c" : "</td><td class=\"id\">");
    if (has_article(candidate)) {
        put_id(page, candidate->id);
        put(page, "\">");
    }
    put_id(page, candidate->id);
    put(page, has_article(candidate) ? "</a></td></tr>\n" : "</td></tr>\n");
}

static void put_filter(struct page *page)
{
    put(page, "<div class=\"filter\" hidden><input id=\"words\" type=\"search\" "
              "placeholder=\"Words in a row\" aria-label=\"Words in a row\">"
              "<select id=\"verdict\" aria-label=\"Verdict\"><option value=\"\">all verdicts"
              "</option>");
    for (int i = 0; i < RH_SUMMARY_VERDICTS; i++)
        fprintf(page->out, "<option value=\"%s\">%s</option>",
                rh_verdict_name(rh_summary_verdict(i)), rh_phrase_verdict(rh_summary_verdict(i)));
    put(page, "</select></div>\n");
}

static void put_candidates(struct page *page, const struct rh_report *report)
{
    put(page, "<h2>Candidates</h2>\n");
    if (report->candidates.len < report->candidate_count)
        fprintf(page->out, "<p>%zu of %" PRIu64 " are listed.</p>\n", report->candidates.len,
                report->candidate_count);
    put(page, "<p class=\"soft\">The bound is how often a run could still race without having been "
              "noticed so far, with confidence ");
    fprintf(page->out, "%g. ", RH_VERDICT_CONFIDENCE);
    rh_summary_add_rule(&page->text);
    put_collected(page);
    put(page, "</p>\n");
    put_filter(page);
    put(page, "<div class=\"wide\"><table id=\"candidates\">\n<thead><tr><th>Verdict</th>"
              "<th>Ground</th><th class=\"n\">Score</th><th>First</th><th>Second</th>"
              "<th>Expression</th><th class=\"n\">Race</th><th class=\"n\">No race</th>"
              "<th class=\"n\">Timeout</th><th class=\"n\">Not seen</th><th class=\"n\">Bound</th>"
              "<th>Id</th></tr></thead>\n<tbody>\n");
    rh_vec_each (const struct rh_report_candidate, it, &report->candidates)
        put_row(page, it);
    put(page, "</tbody>\n</table></div>\n");
}

static void put_head(struct page *page, const struct rh_report *report)
{
    put(page, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
              "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>");
    rh_strbuf_addf(&page->text, "Races in %s", report->program);
    put_collected(page);
    put(page, "</title>\n<style>\n");
    put(page, rh_html_style);
    put(page, "</style>\n</head>\n<body>\n<header>\n<h1>");
    rh_strbuf_addf(&page->text, "Races in %s", report->program);
    put_collected(page);
    put(page, "</h1>\n<p>");
    rh_summary_add_counts(report, &page->text);
    put_collected(page);
    put(page, "</p>\n<p class=\"soft\">");
    rh_strbuf_addf(&page->text, "%" PRIu64 " runs with %s, %" PRIu64 " crashed, %" PRIu64 " hung; ",
                   report->totals.runs, report->detector, report->totals.crashed,
                   report->totals.hung);
    rh_strbuf_addf(&page->text, "build id %s; racehive %s", report->build_id, RH_VERSION);
    put_collected(page);
    put(page, "</p>\n</header>\n<main>\n");
}

enum rh_status rh_render_html(const struct rh_report *report, FILE *out)
{
    struct page page = {.out = out, .full = report->full};
    rh_locations_init(&page.locations);
    rh_source_init(&page.source);
    put_head(&page, report);
    put_grounds(&page, report);
    put_races(&page, report);
    put_candidates(&page, report);
    put(&page, "</main>\n<script>\n");
    put(&page, rh_html_script);
    put(&page, "</script>\n</body>\n</html>\n");
    rh_source_release(&page.source);
    rh_locations_release(&page.locations);
    rh_strbuf_release(&page.text);
    rh_strbuf_release(&page.escaped);
    return ferror(out) ? rh_fail_errno(RH_ERR_IO, "cannot write the report") : RH_OK;
}
