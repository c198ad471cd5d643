/* SPDX-License-Identifier: Apache-2.0 */
/* Reports as text for people: each true race with source, stacks, proof and what to try. */
#include "base/hash.h"
#include "report/phrases.h"
#include "report/renderers.h"
#include "report/source.h"
#include "report/summary.h"
#include "report/table.h"

#include <inttypes.h>
#include <string.h>

/* Where to print, and what is needed on the way. */
struct printer {
    FILE *out;
    bool coloured;
    struct rh_locations locations;
    struct rh_source source;
    struct rh_strbuf text; /* empty between uses */
};

static void print(struct printer *p, const char *text, enum rh_colour colour)
{
    rh_table_print_text(text, colour, p->out, p->coloured);
}

/* Prints what was collected, and empties it. */
static void flush(struct printer *p, enum rh_colour colour)
{
    print(p, rh_strbuf_text(&p->text), colour);
    rh_strbuf_reset(&p->text);
}

static void print_excerpt(struct printer *p, const struct rh_sidecar_location *at)
{
    size_t caret;
    char number[16];
    if (!at || !rh_source_line(&p->source, at->file, at->line, at->column, &p->text, &caret))
        return;
    snprintf(number, sizeof number, "%6u | ", at->line);
    print(p, number, RH_COLOUR_DIM);
    flush(p, RH_COLOUR_NONE);
    if (caret != RH_SOURCE_NO_CARET) {
        fputc('\n', p->out);
        print(p, "       | ", RH_COLOUR_DIM);
        fprintf(p->out, "%*s", (int)caret, "");
        print(p, "^", RH_COLOUR_RED);
    }
    fputc('\n', p->out);
}

/* "bank.c:41:7: first: write of 8 bytes to account->balance, in deposit, by T2, holding no lock" */
static void print_side_head(struct printer *p, const struct rh_report_candidate *candidate,
                            int side)
{
    const struct rh_sidecar_site *site = rh_phrase_site(candidate, side);
    rh_locations_add(&p->locations, site->location, &p->text);
    rh_strbuf_add(&p->text, ": ");
    flush(p, RH_COLOUR_BOLD);
    print(p, side == 0 ? "first: " : "then: ", RH_COLOUR_CYAN);
    rh_phrase_access(site, &p->text);
    rh_strbuf_addf(&p->text, " in %s", rh_phrase_function(site));
    flush(p, RH_COLOUR_NONE);
    fputc('\n', p->out);
}

static void print_stack(struct printer *p, const struct rh_report_side *side)
{
    static const struct rh_table_column columns[3] = {{0}};
    struct rh_table table;
    rh_table_init(&table, columns, sizeof columns / sizeof columns[0]);
    rh_vec_each (const struct rh_symbols_frame, it, &side->frames) {
        rh_table_addf(&table, RH_COLOUR_DIM, "       #%td", it - side->frames.data);
        rh_table_add(&table, it->function ? it->function : "?", RH_COLOUR_NONE);
        rh_phrase_location(it, &p->locations, &p->text);
        rh_strbuf_add(&p->text, it->inlined ? ", inlined" : "");
        rh_table_add(&table, rh_strbuf_text(&p->text), RH_COLOUR_NONE);
        rh_strbuf_reset(&p->text);
    }
    rh_table_print(&table, p->out, p->coloured);
    rh_table_release(&table);
}

static void print_side(struct printer *p, const struct rh_report_candidate *candidate, int side)
{
    print_side_head(p, candidate, side);
    print_excerpt(p, rh_phrase_site(candidate, side)->location);
    rh_strbuf_add(&p->text, "       by ");
    rh_phrase_thread(candidate, side, &p->text);
    rh_strbuf_add(&p->text, ", holding ");
    rh_phrase_locks(candidate, side, &p->text);
    flush(p, RH_COLOUR_NONE);
    fputc('\n', p->out);
    print_stack(p, &candidate->finding->sides[side]);
}

/* Prints "  NAME: what was collected", if anything was. */
static void print_fact(struct printer *p, const char *name)
{
    if (p->text.len == 0)
        return;
    fprintf(p->out, "  ");
    print(p, name, RH_COLOUR_BOLD);
    fprintf(p->out, ": ");
    flush(p, RH_COLOUR_NONE);
    fputc('\n', p->out);
}

static void print_facts(struct printer *p, const struct rh_report_candidate *candidate)
{
    struct rh_phrase_list advice = RH_VEC_INIT;
    rh_phrase_memory(candidate, &p->text);
    print_fact(p, "memory");
    rh_phrase_proof(candidate, &p->text);
    print_fact(p, "proof");
    rh_phrase_runs(candidate, &p->text);
    print_fact(p, "runs");
    rh_phrase_consequence(candidate, &p->text);
    print_fact(p, "consequence");
    rh_phrase_advise(candidate, &p->locations, &advice);
    rh_vec_each (char *, it, &advice) {
        rh_strbuf_add(&p->text, *it);
        print_fact(p, "try");
    }
    rh_phrase_list_release(&advice);
}

static void print_race(struct printer *p, const struct rh_report_candidate *candidate,
                       uint64_t position, uint64_t count)
{
    char id[RH_HASH_HEX_SIZE];
    rh_hash_format(candidate->id, id);
    fputc('\n', p->out);
    rh_strbuf_addf(&p->text, "true race %" PRIu64 " of %" PRIu64 ": ", position, count);
    flush(p, RH_COLOUR_RED);
    rh_phrase_title(candidate, &p->text);
    flush(p, RH_COLOUR_BOLD);
    fputs("  ", p->out);
    print(p, id, RH_COLOUR_DIM);
    fputc('\n', p->out);
    if (!candidate->finding) {
        print_side_head(p, candidate, 0);
        print_side_head(p, candidate, 1);
        return;
    }
    print_side(p, candidate, 0);
    print_side(p, candidate, 1);
    print_facts(p, candidate);
}

/* Prints a race and, in a line each, the others of the same two lines; counts them all. */
static void print_lines(struct printer *p, const struct rh_report *report,
                        const struct rh_report_candidate *race, uint64_t *position, uint64_t count)
{
    const struct rh_report_candidate *it = race;
    print_race(p, race, ++*position, count);
    while ((it = rh_phrase_next_same(report, race, it))) {
        char id[RH_HASH_HEX_SIZE];
        rh_hash_format(it->id, id);
        rh_phrase_title(it, &p->text);
        rh_strbuf_addf(&p->text, " (true race %" PRIu64 " of %" PRIu64 ", %s)  %s", ++*position,
                       count, rh_ground_words(it->ground), id);
        print_fact(p, "the same lines");
    }
}

/* Suspected races get a line each: a person may see what a detector cannot prove. */
static void print_suspected(struct printer *p, const struct rh_report *report)
{
    if (report->by_ground[RH_GROUND_SUSPECTED] == 0)
        return;
    fputs("\nUnordered, but not proved", p->out);
    rh_phrase_opaque(report->totals.opaque, &p->text);
    if (p->text.len > 0)
        fputs(", because the process holds ", p->out);
    flush(p, RH_COLOUR_NONE);
    fputs(":\n", p->out);
    rh_vec_each (const struct rh_report_candidate, it, &report->candidates)
        if (it->ground == RH_GROUND_SUSPECTED)
            rh_summary_print_line(it, &p->locations, p->out, p->coloured);
}

static void print_head(struct printer *p, const struct rh_report *report)
{
    print(p, report->program, RH_COLOUR_BOLD);
    rh_summary_add_counts(report, &p->text);
    fputs(": ", p->out);
    flush(p, RH_COLOUR_NONE);
    fprintf(p->out, "\n%" PRIu64 " %s with %s, build id %s\n", report->totals.runs,
            rh_table_choose(report->totals.runs, "run", "runs"), report->detector,
            report->build_id);
    rh_phrase_losses(report->totals.losses, &p->text);
    if (p->text.len > 0) {
        flush(p, RH_COLOUR_NONE);
        fputs("\n", p->out);
    }
}

enum rh_status rh_render_text(const struct rh_report *report, FILE *out, bool coloured)
{
    struct printer p = {.out = out, .coloured = coloured, .text = RH_STRBUF_INIT};
    uint64_t count = rh_summary_count(report, RH_VERDICT_TRUE_RACE), position = 0;
    rh_locations_init(&p.locations);
    rh_source_init(&p.source);
    print_head(&p, report);
    rh_vec_each (const struct rh_report_candidate, it, &report->candidates)
        if (it->verdict == RH_VERDICT_TRUE_RACE && !rh_phrase_is_repeated(report, it))
            print_lines(&p, report, it, &position, count);
    print_suspected(&p, report);
    rh_summary_print_table(report, out, coloured);
    rh_source_release(&p.source);
    rh_locations_release(&p.locations);
    rh_strbuf_release(&p.text);
    return ferror(out) ? rh_fail_errno(RH_ERR_IO, "cannot write the report") : RH_OK;
}
