/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of an HTML report. A row is all candidates of two lines with one verdict: an optimised
 * program has many copies of a line, and whoever reads wants to see it once.
 */
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "report/html/internal.h"
#include "report/phrases.h"
#include "report/summary.h"

#include <inttypes.h>
#include <string.h>

struct row {
    const struct rh_report_candidate *best; /* the first in the list */
    size_t pairs;
    uint64_t outcomes[RH_OUTCOME_COUNT];
};

struct rows RH_VEC_BODY(struct row);

void rh_html_put(struct rh_html *page, const char *html)
{
    fputs(html, page->out);
}

void rh_html_put_text(struct rh_html *page, const char *text)
{
    rh_strbuf_add_html(&page->escaped, text);
    rh_html_put(page, rh_strbuf_text(&page->escaped));
    rh_strbuf_reset(&page->escaped);
}

void rh_html_put_collected(struct rh_html *page)
{
    rh_html_put_text(page, rh_strbuf_text(&page->text));
    rh_strbuf_reset(&page->text);
}

void rh_html_put_id(struct rh_html *page, uint64_t id)
{
    char text[RH_HASH_HEX_SIZE];
    rh_hash_format(id, text);
    rh_html_put_text(page, text);
}

void rh_html_put_place(struct rh_html *page, const struct rh_sidecar_location *at)
{
    rh_html_put_path(page, at, "place");
}

void rh_html_put_path(struct rh_html *page, const struct rh_sidecar_location *at, const char *style)
{
    static const char near[] = "near ";
    rh_locations_add(&page->locations, at, &page->text);
    char *text = rh_strbuf_detach(&page->text);
    const char *path = text, *slash;
    if (strncmp(path, near, strlen(near)) == 0) {
        rh_html_put(page, "near ");
        path += strlen(near);
    }
    slash = strrchr(path, '/');
    if (slash) {
        char *folder = rh_strndup(path, (size_t)(slash - path) + 1);
        rh_html_put(page, "<code class=\"folder\">");
        rh_html_put_text(page, folder);
        rh_html_put(page, "</code>");
        free(folder);
        path = slash + 1;
    }
    fprintf(page->out, "<code class=\"%s\">", style);
    rh_html_put_text(page, path);
    rh_html_put(page, "</code>");
    free(text);
}

/* --- rows --- */

static void add_line(const struct rh_own_place *place, const struct rh_sidecar_site *site,
                     struct rh_strbuf *out)
{
    if (place->at && place->at->file && place->at->line > 0)
        rh_strbuf_addf(out, "\n%s:%u", place->at->file, place->at->line);
    else
        rh_strbuf_addf(out, "\n%u", site->number);
}

static void add_to_rows(struct rows *rows, struct rh_strmap *known,
                        const struct rh_report_candidate *candidate)
{
    struct rh_strbuf key = RH_STRBUF_INIT;
    rh_strbuf_addf(&key, "%d", (int)candidate->ground);
    add_line(&candidate->places[0], candidate->first, &key);
    add_line(&candidate->places[1], candidate->second, &key);
    /* Positions plus 1, because NULL means that there is none. */
    uintptr_t at = (uintptr_t)rh_strmap_get(known, rh_strbuf_text(&key));
    if (at == 0) {
        rh_vec_push(rows, (struct row){.best = candidate});
        at = rows->len;
        rh_strmap_put(known, rh_strbuf_text(&key), (void *)at);
    }
    struct row *row = &rows->data[at - 1];
    row->pairs++;
    for (enum rh_outcome i = 0; i < RH_OUTCOME_COUNT; i++)
        row->outcomes[i] += candidate->tally.outcomes[i];
    rh_strbuf_release(&key);
}

/* --- cells --- */

static bool has_article(const struct rh_report_candidate *candidate)
{
    return candidate->verdict == RH_VERDICT_TRUE_RACE || candidate->ground == RH_GROUND_SUSPECTED;
}

static void put_cell_site(struct rh_html *page, const struct rh_report_candidate *candidate,
                          int which)
{
    const struct rh_sidecar_site *site = which == 0 ? candidate->first : candidate->second;
    fprintf(page->out, "<td data-label=\"%s\">", which == 0 ? "First" : "Second");
    rh_html_put_place(page, candidate->places[which].at);
    rh_html_put(page, "<br><span class=\"soft\">");
    rh_strbuf_addf(&page->text, "%s in %s", rh_sidecar_access_name(site->access),
                   candidate->places[which].function);
    if (site->image)
        rh_strbuf_addf(&page->text, " of %s", site->image);
    rh_html_put_collected(page);
    rh_html_put(page, "</span></td>");
}

static void put_cell_id(struct rh_html *page, const struct rh_report_candidate *candidate)
{
    bool is_link = has_article(candidate);
    rh_html_put(page, "<td data-label=\"Id\" class=\"id\">");
    if (is_link) {
        rh_html_put(page, "<a href=\"#c");
        rh_html_put_id(page, candidate->id);
        rh_html_put(page, "\">");
    }
    rh_html_put_id(page, candidate->id);
    rh_html_put(page, is_link ? "</a></td></tr>\n" : "</td></tr>\n");
}

/* How the columns of outcomes are headed. */
static const char *const outcome_titles[RH_OUTCOME_COUNT] = {
    [RH_OUTCOME_RACE] = "Race",
    [RH_OUTCOME_NO_RACE] = "No race",
    [RH_OUTCOME_TIMEOUT] = "Timeout",
    [RH_OUTCOME_NOT_SEEN] = "Not seen",
};

static void put_row(struct rh_html *page, const struct row *row)
{
    const struct rh_report_candidate *candidate = row->best;
    const char *expression = candidate->places[candidate->places[0].expression ? 0 : 1].expression;
    fprintf(page->out,
            "<tr class=\"%s\"><td data-label=\"Verdict\" class=\"verdict\">%s</td>"
            "<td data-label=\"Ground\">%s</td><td data-label=\"Score\" class=\"n\">%u</td>"
            "<td data-label=\"Pairs\" class=\"n\">%zu</td>",
            rh_verdict_name(candidate->verdict), rh_phrase_verdict(candidate->verdict),
            rh_ground_words(candidate->ground), candidate->score, row->pairs);
    put_cell_site(page, candidate, 0);
    put_cell_site(page, candidate, 1);
    rh_html_put(page, "<td data-label=\"Expression\"><code>");
    rh_html_put_text(page, expression ? expression : "-");
    rh_html_put(page, "</code></td>");
    for (enum rh_outcome i = 0; i < RH_OUTCOME_COUNT; i++)
        fprintf(page->out, "<td data-label=\"%s\" class=\"n\">%" PRIu64 "</td>", outcome_titles[i],
                row->outcomes[i]);
    rh_html_put(page, "<td data-label=\"Bound\" class=\"n\">");
    rh_phrase_bound(candidate, &page->text);
    rh_html_put_collected(page);
    rh_html_put(page, "</td>");
    put_cell_id(page, candidate);
}

static void put_titles(struct rh_html *page)
{
    rh_html_put(page, "<div class=\"wide\"><table id=\"candidates\">\n<thead><tr><th>Verdict</th>"
                      "<th>Ground</th><th class=\"n\">Score</th><th class=\"n\">Pairs</th>"
                      "<th>First</th><th>Second</th><th>Expression</th>");
    for (enum rh_outcome i = 0; i < RH_OUTCOME_COUNT; i++)
        fprintf(page->out, "<th class=\"n\">%s</th>", outcome_titles[i]);
    rh_html_put(page, "<th class=\"n\">Bound</th><th>Id</th></tr></thead>\n<tbody>\n");
}

static void put_preface(struct rh_html *page, const struct rh_report *report)
{
    rh_html_put(page, "<h2>Candidates</h2>\n<p>A row is all candidates of two lines.");
    if (report->candidates.len < report->candidate_count)
        fprintf(page->out, " %zu of %" PRIu64 " candidates are listed.", report->candidates.len,
                report->candidate_count);
    rh_html_put(page,
                "</p>\n<p class=\"soft\">The bound is how often a run could still race without "
                "having been noticed so far, with confidence ");
    fprintf(page->out, "%g. ", RH_VERDICT_CONFIDENCE);
    rh_summary_add_rule(&page->text);
    rh_html_put_collected(page);
    rh_html_put(page, "</p>\n");
}

void rh_html_put_candidates(struct rh_html *page, const struct rh_report *report)
{
    struct rows rows = RH_VEC_INIT;
    struct rh_strmap known = {0};
    rh_vec_each (const struct rh_report_candidate, it, &report->candidates)
        add_to_rows(&rows, &known, it);
    put_preface(page, report);
    put_titles(page);
    rh_vec_each (const struct row, it, &rows)
        put_row(page, it);
    rh_html_put(page, "</tbody>\n</table></div>\n");
    rh_strmap_release(&known);
    rh_vec_free(&rows);
}
