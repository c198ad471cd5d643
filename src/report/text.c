/* SPDX-License-Identifier: Apache-2.0 */
/* Reports as text for people: each true race with source, stacks, proof and what to try. */
#include "base/hash.h"
#include "report/groups.h"
#include "report/phrases.h"
#include "report/renderers.h"
#include "report/source.h"
#include "report/stacks.h"
#include "report/summary.h"
#include "report/table.h"

#include <inttypes.h>
#include <string.h>

/* Where to print, and what is needed on the way. */
struct printer {
    FILE *out;
    bool coloured;
    bool full;
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

/* The same as a line of its own, if anything was collected. */
static void flush_line(struct printer *p)
{
    if (p->text.len == 0)
        return;
    flush(p, RH_COLOUR_NONE);
    fputc('\n', p->out);
}

static void print_line(struct printer *p, const struct rh_sidecar_location *at, uint32_t line)
{
    bool is_access = line == at->line;
    size_t caret;
    char number[16];
    if (!rh_source_line(&p->source, at->file, line, is_access ? at->column : 0, &p->text, &caret))
        return;
    snprintf(number, sizeof number, "%6u | ", line);
    print(p, number, is_access ? RH_COLOUR_CYAN : RH_COLOUR_DIM);
    flush(p, is_access ? RH_COLOUR_NONE : RH_COLOUR_DIM);
    if (caret != RH_SOURCE_NO_CARET) {
        fputc('\n', p->out);
        print(p, "       | ", RH_COLOUR_DIM);
        fprintf(p->out, "%*s", (int)caret, "");
        print(p, "^", RH_COLOUR_RED);
    }
    fputc('\n', p->out);
}

/* The line with its access marked, and a few around it. */
static void print_excerpt(struct printer *p, const struct rh_sidecar_location *at)
{
    if (!at || !at->file || !rh_source_has(&p->source, at->file, at->line))
        return;
    uint32_t first = at->line > RH_SOURCE_AROUND ? at->line - RH_SOURCE_AROUND : 1;
    for (uint32_t line = first; line <= at->line + RH_SOURCE_AROUND; line++)
        print_line(p, at, line);
}

/* "bank.c:41:7: first: write of 8 bytes to account->balance, in deposit, by T2, holding no lock" */
static void print_side_head(struct printer *p, const struct rh_report_candidate *candidate,
                            int side)
{
    rh_locations_add(&p->locations, rh_phrase_place(candidate, side)->at, &p->text);
    rh_strbuf_add(&p->text, ": ");
    flush(p, RH_COLOUR_BOLD);
    print(p, side == 0 ? "first: " : "then: ", RH_COLOUR_CYAN);
    rh_phrase_access(candidate, side, &p->text);
    rh_phrase_where(candidate, side, &p->text);
    if (rh_phrase_site(candidate, side)->image)
        rh_strbuf_addf(&p->text, " of %s", rh_phrase_site(candidate, side)->image);
    flush(p, RH_COLOUR_NONE);
    fputc('\n', p->out);
}

static void print_stack(struct printer *p, const struct rh_report_side *side)
{
    static const struct rh_table_column columns[3] = {{0}};
    struct rh_stack stack = RH_VEC_INIT;
    struct rh_table table;
    rh_table_init(&table, columns, sizeof columns / sizeof columns[0]);
    rh_stack_fold(side, p->full, &stack);
    rh_vec_each (const struct rh_stack_line, it, &stack) {
        const char *function = it->frame ? it->frame->function : "...";
        rh_table_addf(&table, RH_COLOUR_DIM, "       #%td", it - stack.data);
        rh_table_add(&table, function ? function : "?", RH_COLOUR_NONE);
        rh_stack_describe(it, &p->locations, &p->text);
        rh_table_add(&table, rh_strbuf_text(&p->text), RH_COLOUR_NONE);
        rh_strbuf_reset(&p->text);
    }
    rh_table_print(&table, p->out, p->coloured);
    rh_table_release(&table);
    rh_vec_free(&stack);
}

static void print_side(struct printer *p, const struct rh_report_candidate *candidate, int side)
{
    print_side_head(p, candidate, side);
    if (side == 0 || !rh_phrase_is_one_place(candidate))
        print_excerpt(p, rh_phrase_place(candidate, side)->at);
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
    rh_phrase_guards(candidate, &p->text);
    print_fact(p, "order");
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

/* Prints a race and, in a line each, its variants: the other pairs of the same two lines. */
static void print_variants(struct printer *p, const struct rh_report *report,
                           const struct rh_report_candidate *race)
{
    for (const struct rh_report_candidate *it = race; (it = rh_group_next(report, it));) {
        char id[RH_HASH_HEX_SIZE];
        rh_hash_format(it->id, id);
        rh_phrase_title(it, &p->text);
        rh_strbuf_addf(&p->text, " (%s)  %s", rh_ground_words(it->ground), id);
        print_fact(p, "variant");
    }
}

static void print_races(struct printer *p, const struct rh_report *report)
{
    uint64_t position = 0;
    rh_vec_each (const struct rh_report_candidate, it, &report->candidates) {
        if (!rh_group_leads(report, it))
            continue;
        if (report->limit > 0 && position == report->limit)
            break;
        print_race(p, it, ++position, report->races);
        print_variants(p, report, it);
    }
    if (position == report->races)
        return;
    fprintf(p->out, "\n\u2026 and %" PRIu64 " more true %s: ", report->races - position,
            rh_table_choose(report->races - position, "race", "races"));
    rh_summary_add_command(report, "--limit=0", &p->text);
    rh_strbuf_add(&p->text, " shows all, --format=html as a page to search");
    flush(p, RH_COLOUR_NONE);
    fputc('\n', p->out);
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
    rh_summary_add_ends(report, &p->text);
    flush_line(p);
    rh_summary_add_suppressed(report, &p->text);
    flush_line(p);
    rh_phrase_losses(report->totals.losses, &p->text);
    flush_line(p);
}

enum rh_status rh_render_text(const struct rh_report *report, FILE *out, bool coloured)
{
    struct printer p = {
        .out = out, .coloured = coloured, .full = report->full, .text = RH_STRBUF_INIT};
    rh_locations_init(&p.locations);
    rh_source_init(&p.source);
    print_head(&p, report);
    print_races(&p, report);
    print_suspected(&p, report);
    rh_summary_print_table(report, out, coloured);
    if (report->path) {
        rh_images_describe(report->path, &report->libraries, &p.text);
        flush_line(&p);
    }
    rh_source_release(&p.source);
    rh_locations_release(&p.locations);
    rh_strbuf_release(&p.text);
    return ferror(out) ? rh_fail_errno(RH_ERR_IO, "cannot write the report") : RH_OK;
}
