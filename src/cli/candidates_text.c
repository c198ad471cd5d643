/* SPDX-License-Identifier: Apache-2.0 */
/* Prints candidates for people: a block for each, best first, and the tables of --filters. */
#include "base/hash.h"
#include "cli/cli.h"
#include "cli/cmd_candidates.h"
#include "report/images.h"
#include "report/places.h"
#include "report/symbols/names.h"
#include "report/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Which images take part, where that is not all; and why there are no candidates, if so. */
static void print_images(const struct rh_view *view, bool has_candidates)
{
    struct rh_strbuf text = RH_STRBUF_INIT;
    rh_images_describe(view->path, NULL, &text);
    if (text.len > 0)
        rh_strbuf_addc(&text, '\n');
    if (!has_candidates)
        rh_images_explain_none(view->sidecar, &text);
    fputs(rh_strbuf_text(&text), stdout);
    rh_strbuf_release(&text);
}

static void print_summary(const struct rh_view *view, const struct rh_candidates_totals *totals)
{
    rh_table_print_text(view->program, RH_COLOUR_BOLD, stdout, view->coloured);
    if (totals->candidates == 0 && !view->observed) {
        printf(": no candidates\n");
        print_images(view, false);
        return;
    }
    printf(": %" PRIu64 " %s of %" PRIu64 " %s, in %" PRIu64 " %s", totals->candidates,
           rh_table_choose(totals->candidates, "candidate", "candidates"), totals->sites,
           rh_table_choose(totals->sites, "site", "sites"), totals->groups,
           rh_table_choose(totals->groups, "group", "groups"));
    if (view->observed)
        printf("; %" PRIu64 " %s met in runs", totals->wanted,
               rh_table_choose(totals->wanted, "pair", "pairs"));
    else if (totals->wanted != totals->candidates)
        printf("; %" PRIu64 " %s", totals->wanted,
               rh_table_choose(totals->wanted, "matches", "match"));
    putchar('\n');
    print_images(view, true);
}

static void print_head(const struct rh_view *view, const struct rh_candidate *candidate,
                       uint64_t position)
{
    const struct rh_sidecar_group *group = candidate->group;
    char id[RH_HASH_HEX_SIZE], score[32];
    rh_hash_format(candidate->id, id);
    snprintf(score, sizeof score, "score %u", candidate->score);
    printf("\n%" PRIu64 ". ", position);
    rh_table_print_text(score, RH_COLOUR_BOLD, stdout, view->coloured);
    if (group && group->object) {
        char *object = rh_names_readable(group->object);
        printf(", ");
        rh_table_print_text(object, RH_COLOUR_NONE, stdout, view->coloured);
        free(object);
    }
    if (group && group->flags & RH_GROUP_BUSY_WAIT) {
        printf(", ");
        rh_table_print_text("busy wait", RH_COLOUR_YELLOW, stdout, view->coloured);
    }
    printf("  ");
    rh_table_print_text(id, RH_COLOUR_DIM, stdout, view->coloured);
    putchar('\n');
}

static void add_side(const struct rh_view *view, struct rh_table *table,
                     const struct rh_sidecar_site *site, const struct rh_sidecar_class *row)
{
    struct rh_strbuf text = RH_STRBUF_INIT;
    const struct rh_sidecar_location *own = rh_place_own(site->location);
    char *threads = rh_names_readable(row->threads);
    char *locks = rh_names_locks(row->locks, own ? own->linkage : site->function->linkage);
    rh_table_add(table, "  ", RH_COLOUR_NONE);
    rh_table_add(table, rh_sidecar_access_name(site->access), rh_table_access_colour(site->access));
    rh_locations_add(&view->locations, own, &text);
    rh_table_add(table, rh_strbuf_text(&text), RH_COLOUR_NONE);
    rh_table_add(table, site->expression ? site->expression : "-",
                 site->expression ? RH_COLOUR_BOLD : RH_COLOUR_DIM);
    rh_strbuf_reset(&text);
    rh_strbuf_add(&text, "in ");
    rh_locations_add_function(own, site->function, &text);
    if (site->image)
        rh_strbuf_addf(&text, " of %s", site->image);
    rh_table_add(table, rh_strbuf_text(&text), RH_COLOUR_NONE);
    rh_table_addf(table, RH_COLOUR_NONE, "by %s", *threads ? threads : "any thread");
    rh_table_addf(table, RH_COLOUR_NONE, "holding %s", *locks ? locks : "no lock");
    rh_strbuf_release(&text);
    free(threads);
    free(locks);
}

static void print_met(const struct rh_runs_met *met)
{
    printf("    met in %" PRIu64 " %s: unordered in %" PRIu64 ", without a common lock in %" PRIu64
           ", with one in %" PRIu64 "\n",
           met->runs, rh_table_choose(met->runs, "run", "runs"), met->unordered, met->unlocked,
           met->locked);
}

/* By name: the program's sites have none. */
static bool are_of_one_image(const struct rh_candidate *candidate)
{
    const char *a = candidate->first->image, *b = candidate->second->image;
    return a == b || (a && b && strcmp(a, b) == 0);
}

static void print_why(const struct rh_view *view, const struct rh_candidate *candidate)
{
    struct rh_strbuf why = RH_STRBUF_INIT;
    if (candidate->group)
        rh_candidate_explain(candidate->group, candidate->first, candidate->second, &why);
    else if (are_of_one_image(candidate))
        rh_strbuf_add(&why, "no candidate: the analysis ruled it out");
    else
        rh_strbuf_add(&why, "of two images, of which no analysis has seen both");
    printf("    ");
    rh_table_print_text(rh_strbuf_text(&why), RH_COLOUR_DIM, stdout, view->coloured);
    putchar('\n');
    rh_strbuf_release(&why);
}

static void print_candidate(const struct rh_view *view, const struct rh_candidate *candidate,
                            const struct rh_runs_met *met, uint64_t position)
{
    static const struct rh_table_column columns[7] = {{0}};
    struct rh_table table;
    print_head(view, candidate, position);
    rh_table_init(&table, columns, sizeof columns / sizeof columns[0]);
    add_side(view, &table, candidate->first, candidate->first_class);
    add_side(view, &table, candidate->second, candidate->second_class);
    rh_table_print(&table, stdout, view->coloured);
    rh_table_release(&table);
    print_why(view, candidate);
    if (met)
        print_met(met);
}

void rh_view_print_text(const struct rh_view *view)
{
    struct rh_candidates_totals totals;
    struct rh_candidate candidate;
    const struct rh_runs_met *met;
    uint64_t shown = 0;
    rh_view_count(view, &totals);
    print_summary(view, &totals);
    while (shown < view->limit && rh_view_next(view, shown, &candidate, &met))
        print_candidate(view, &candidate, met, ++shown);
    if (shown < totals.wanted)
        printf("\n\u2026 and %" PRIu64 " more (--limit=0 shows all, --json for machines)\n",
               totals.wanted - shown);
}

static enum rh_status print_pairs(const struct rh_view *view)
{
    static const struct rh_table_column columns[] = {{.title = "PAIRS", .right = true},
                                                     {.title = "FILTER"}};
    struct rh_table table;
    struct rh_sidecar_filter filter;
    bool more;
    enum rh_status status;
    rh_table_init(&table, columns, 2);
    while ((status = rh_sidecar_next_filter(view->sidecar, &filter, &more)) == RH_OK && more) {
        rh_table_addf(&table, RH_COLOUR_NONE, "%" PRIu64, filter.pairs);
        rh_table_add(&table, filter.name, RH_COLOUR_NONE);
    }
    /* What remains is no filter: it stands out. */
    if (table.cells.len > 0)
        rh_vec_last(&table.cells).colour = RH_COLOUR_BOLD;
    rh_table_print(&table, stdout, view->coloured);
    rh_table_release(&table);
    return status;
}

static enum rh_status print_phases(const struct rh_view *view)
{
    static const struct rh_table_column columns[] = {{.title = "MILLISECONDS", .right = true},
                                                     {.title = "PHASE"}};
    struct rh_table table;
    struct rh_sidecar_phase phase;
    bool more;
    enum rh_status status;
    rh_table_init(&table, columns, 2);
    while ((status = rh_sidecar_next_phase(view->sidecar, &phase, &more)) == RH_OK && more) {
        if (phase.milliseconds == RH_SIDECAR_NO_TIME)
            rh_table_add(&table, "-", RH_COLOUR_DIM);
        else
            rh_table_addf(&table, RH_COLOUR_NONE, "%" PRIu64, phase.milliseconds);
        rh_table_add(&table, phase.name, RH_COLOUR_NONE);
    }
    if (table.cells.len > 0)
        putchar('\n');
    rh_table_print(&table, stdout, view->coloured);
    rh_table_release(&table);
    return status;
}

static enum rh_status print_unknown(const struct rh_view *view)
{
    static const struct rh_table_column columns[] = {{.title = "CALLS", .right = true},
                                                     {.title = "OBJECTS", .right = true},
                                                     {.title = "UNKNOWN FUNCTION"}};
    struct rh_table table;
    struct rh_sidecar_unknown unknown;
    bool more;
    enum rh_status status;
    rh_table_init(&table, columns, 3);
    while ((status = rh_sidecar_next_unknown(view->sidecar, &unknown, &more)) == RH_OK && more) {
        rh_table_addf(&table, RH_COLOUR_NONE, "%" PRIu64, unknown.calls);
        rh_table_addf(&table, RH_COLOUR_NONE, "%" PRIu64, unknown.objects);
        rh_table_add(&table, unknown.name, RH_COLOUR_NONE);
    }
    if (table.cells.len > 0)
        putchar('\n');
    rh_table_print(&table, stdout, view->coloured);
    rh_table_release(&table);
    return status;
}

enum rh_status rh_view_print_filters(const struct rh_view *view)
{
    enum rh_status status = print_pairs(view);
    if (status == RH_OK)
        status = print_phases(view);
    return status == RH_OK ? print_unknown(view) : status;
}
