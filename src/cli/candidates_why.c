/* SPDX-License-Identifier: Apache-2.0 */
/* `racehive candidates --why-not`: what became of every access on a line of the source. */
#include "base/map.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "cli/cmd_candidates.h"
#include "report/table.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { FEW = 3 }; /* candidates shown for each site */

/* What is asked for, and what was met while looking for it. */
struct question {
    const struct rh_view *view;
    char *file;
    uint64_t line;
    uint64_t column; /* 0: any */
    bool file_met;
    uint64_t found;
};

/* Cuts ":NUMBER" off the end of a text; false, with nothing cut, if there is none. */
static bool cut_number(char *text, uint64_t *number)
{
    char *colon = strrchr(text, ':');
    if (!colon || !isdigit((unsigned char)colon[1]))
        return false;
    char *end;
    uint64_t value = strtoull(colon + 1, &end, 10);
    if (*end != '\0' || value == 0)
        return false;
    *number = value;
    *colon = '\0';
    return true;
}

/* Places are printed with their column, and so they may be asked for. */
static enum rh_status parse_question(struct question *question, const char *where)
{
    question->file = rh_strdup(where);
    if (!cut_number(question->file, &question->line) || !*question->file)
        return rh_fail(RH_ERR_USAGE, "--why-not needs a place as FILE:LINE, not '%s'", where);
    uint64_t line;
    if (cut_number(question->file, &line)) {
        question->column = question->line;
        question->line = line;
    }
    return RH_OK;
}

/* An access is on every line that it was inlined through. */
static bool is_asked_for(struct question *question, const struct rh_sidecar_location *at)
{
    for (; at; at = at->inlined_at) {
        if (!rh_locations_match_file(&question->view->locations, question->file, at->file))
            continue;
        question->file_met = true;
        if (at->line == question->line && (question->column == 0 || at->column == question->column))
            return true;
    }
    return false;
}

/* "bank.c:41:7: write of account->balance in deposit" */
static void describe(const struct rh_view *view, enum rh_access_kind access, const char *expression,
                     const struct rh_sidecar_location *at, const struct rh_sidecar_function *holder,
                     struct rh_strbuf *out)
{
    rh_locations_add(&view->locations, at, out);
    rh_strbuf_addf(out, ": %s", rh_sidecar_access_name(access));
    if (expression)
        rh_strbuf_addf(out, " of %s", expression);
    rh_strbuf_add(out, " in ");
    rh_locations_add_function(at, holder, out);
}

static void print_line(const struct rh_view *view, struct rh_strbuf *text, enum rh_colour colour)
{
    rh_table_print_text(rh_strbuf_text(text), colour, stdout, view->coloured);
    putchar('\n');
    rh_strbuf_reset(text);
}

static bool wants_site(const void *context, const struct rh_sidecar_site *site)
{
    return site->number == *(const uint32_t *)context;
}

static void print_few(const struct rh_view *view, const struct rh_sidecar_site *site,
                      uint64_t total)
{
    struct rh_strbuf text = RH_STRBUF_INIT;
    struct rh_candidate candidate;
    uint64_t shown = 0;
    for (; shown < FEW && rh_candidates_next(view->candidates, &candidate); shown++) {
        const struct rh_sidecar_site *other =
            candidate.first == site ? candidate.second : candidate.first;
        rh_strbuf_addf(&text, "    score %u with ", candidate.score);
        if (other == site)
            rh_strbuf_add(&text, "itself in another thread");
        else
            describe(view, other->access, other->expression, other->location, other->function,
                     &text);
        print_line(view, &text, RH_COLOUR_NONE);
    }
    if (shown < total)
        printf("    \u2026 and %" PRIu64 " more\n", total - shown);
    rh_strbuf_release(&text);
}

static void explain_site(const struct rh_view *view, const struct rh_sidecar_site *site)
{
    struct rh_strbuf text = RH_STRBUF_INIT;
    struct rh_candidates_totals totals;
    rh_candidates_restart(view->candidates,
                          &(struct rh_candidates_filter){wants_site, &site->number});
    rh_candidates_count(view->candidates, &totals);
    describe(view, site->access, site->expression, site->location, site->function, &text);
    if (totals.wanted == 0)
        rh_strbuf_add(&text, ": a site, but in no candidate");
    else
        rh_strbuf_addf(&text, ": in %" PRIu64 " %s", totals.wanted,
                       rh_table_choose(totals.wanted, "candidate", "candidates"));
    print_line(view, &text, RH_COLOUR_BOLD);
    print_few(view, site, totals.wanted);
    rh_strbuf_release(&text);
}

static enum rh_status explain_sites(struct question *question)
{
    const struct rh_sidecar_site *sites;
    uint32_t count;
    enum rh_status status = rh_sidecar_load_sites(question->view->sidecar, &sites, &count);
    for (uint32_t i = 0; status == RH_OK && i < count; i++) {
        if (!is_asked_for(question, sites[i].location))
            continue;
        question->found++;
        explain_site(question->view, &sites[i]);
    }
    return status;
}

/* Of a line that is inlined or unrolled many times, equal answers are counted. */
static enum rh_status collect_removed(struct question *question, struct rh_strmap *answers)
{
    struct rh_strbuf text = RH_STRBUF_INIT;
    struct rh_sidecar_removed removed;
    bool more;
    enum rh_status status;
    while ((status = rh_sidecar_next_removed(question->view->sidecar, &removed, &more)) == RH_OK &&
           more) {
        if (!is_asked_for(question, removed.location))
            continue;
        question->found++;
        describe(question->view, removed.access, removed.expression, removed.location,
                 removed.function, &text);
        rh_strbuf_addf(&text, ": removed: %s", removed.reason);
        if (removed.detail)
            rh_strbuf_addf(&text, " (%s)", removed.detail);
        uintptr_t times = (uintptr_t)rh_strmap_get(answers, rh_strbuf_text(&text));
        rh_strmap_put(answers, rh_strbuf_text(&text), (void *)(times + 1));
        rh_strbuf_reset(&text);
    }
    rh_strbuf_release(&text);
    return status;
}

static enum rh_status explain_removed(struct question *question)
{
    struct rh_strmap answers = RH_STRMAP_INIT;
    enum rh_status status = collect_removed(question, &answers);
    const char *answer;
    void *times;
    for (size_t at = 0; status == RH_OK && rh_strmap_next(&answers, &at, &answer, &times);) {
        rh_table_print_text(answer, RH_COLOUR_NONE, stdout, question->view->coloured);
        if ((uintptr_t)times > 1)
            printf(" (%" PRIuPTR " times)", (uintptr_t)times);
        putchar('\n');
    }
    rh_strmap_release(&answers);
    return status;
}

enum rh_status rh_view_explain(const struct rh_view *view, const char *where)
{
    struct question question = {.view = view};
    enum rh_status status = parse_question(&question, where);
    if (status == RH_OK)
        status = explain_sites(&question);
    if (status == RH_OK)
        status = explain_removed(&question);
    if (status == RH_OK && question.found == 0)
        status = question.file_met
                     ? rh_fail(RH_ERR_NOT_FOUND, "%s, as optimised, has no memory access at %s",
                               view->program, where)
                     : rh_fail(RH_ERR_NOT_FOUND, "%s has no memory access in a file '%s'",
                               view->program, question.file);
    free(question.file);
    return status;
}
