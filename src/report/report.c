/* SPDX-License-Identifier: Apache-2.0 */
/* Loads reports from a store of runs and a sidecar, and hands them to the renderer asked for. */
#include "report/report.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/packed.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "report/evidence.h"
#include "report/groups.h"
#include "report/renderers.h"
#include "report/suppress.h"
#include "store/candidates.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NO_CLASS UINT32_MAX

/* What a report is made from. */
struct sources {
    struct rh_runs *runs;
    struct rh_sidecar *sidecar;
    struct rh_symbols *symbols;
    const struct rh_images_libraries *libraries; /* of the store, by number; NULL: it has none */
    const struct rh_sidecar_site *sites;
    uint32_t site_count;
    uint32_t *class_of; /* by site */
    RH_VEC(struct rh_sidecar_class) classes;
    RH_VEC(struct rh_sidecar_group) groups;
    struct rh_map last_group; /* class -> position of its last group, plus 1 */
    RH_VEC(size_t) before;    /* the same class's group before a group, plus 1, or 0 */
    struct rh_map tried;      /* ids of candidates */
    size_t first;             /* of its candidates in the report */
    uint64_t beside;          /* of the tried, those that the analysis does not have */
};

static enum rh_status load_classes(struct sources *s)
{
    enum rh_status status;
    struct rh_sidecar_class row;
    uint32_t site, number;
    bool more;
    s->class_of = rh_alloc_array(s->site_count, sizeof *s->class_of);
    memset(s->class_of, 0xff, s->site_count * sizeof *s->class_of);
    while ((status = rh_sidecar_next_class(s->sidecar, &row, &more)) == RH_OK && more)
        rh_vec_push(&s->classes, row);
    if (status != RH_OK)
        return status;
    while ((status = rh_sidecar_next_class_site(s->sidecar, &site, &number, &more)) == RH_OK &&
           more)
        if (site < s->site_count && number < s->classes.len)
            s->class_of[site] = number;
    return status;
}

static enum rh_status load_groups(struct sources *s)
{
    enum rh_status status;
    struct rh_sidecar_group group;
    bool more;
    while ((status = rh_sidecar_next_group(s->sidecar, &group, &more)) == RH_OK && more) {
        uint64_t before = 0;
        rh_map_get(&s->last_group, group.first, &before);
        rh_vec_push(&s->before, (size_t)before);
        rh_vec_push(&s->groups, group);
        rh_map_put(&s->last_group, group.first, s->groups.len);
    }
    return status;
}

static const struct rh_sidecar_group *find_group(const struct sources *s, uint32_t a, uint32_t b)
{
    uint64_t at = 0;
    rh_map_get(&s->last_group, a < b ? a : b, &at);
    for (; at > 0; at = s->before.data[at - 1]) {
        const struct rh_sidecar_group *group = &s->groups.data[at - 1];
        if (rh_packed_has(group->partners, group->partners_len, a < b ? b : a))
            return group;
    }
    return NULL;
}

static enum rh_status load_sources(struct sources *s)
{
    enum rh_status status = rh_sidecar_load_sites(s->sidecar, &s->sites, &s->site_count);
    if (status == RH_OK)
        status = load_classes(s);
    return status == RH_OK ? load_groups(s) : status;
}

static void release_sources(struct sources *s)
{
    free(s->class_of);
    rh_vec_free(&s->classes);
    rh_vec_free(&s->groups);
    rh_vec_free(&s->before);
    rh_map_release(&s->last_group);
    rh_map_release(&s->tried);
}

static const char *describe_threads(const struct sources *s, uint32_t number)
{
    return number == NO_CLASS ? ""
                              : rh_symbols_readable(s->symbols, s->classes.data[number].threads);
}

static const char *describe_locks(const struct sources *s, uint32_t number,
                                  const struct rh_sidecar_site *site)
{
    return number == NO_CLASS
               ? ""
               : rh_symbols_name_locks(s->symbols, s->classes.data[number].locks, site);
}

static void add_no_analysis(struct rh_report_candidate *out)
{
    out->first_locks = out->second_locks = out->first_threads = out->second_threads = "";
    out->why = "two images touch common memory, as runs have shown";
    out->score = RH_SCORE_MAX / 2;
}

/* What the analysis says of two sites; programs that were not analysed have nothing. */
static void add_analysis(const struct sources *s, struct rh_report *report,
                         struct rh_report_candidate *out)
{
    out->places[0] = rh_place_of_site(s->symbols, out->first);
    out->places[1] = rh_place_of_site(s->symbols, out->second);
    if (out->is_between) {
        add_no_analysis(out);
        return;
    }
    uint32_t a = s->class_of[out->first->number];
    uint32_t b = rh_report_has_uninstrumented(out) ? NO_CLASS : s->class_of[out->second->number];
    out->first_locks = describe_locks(s, a, out->first);
    out->second_locks = describe_locks(s, b, out->second);
    out->first_threads = describe_threads(s, a);
    out->second_threads = describe_threads(s, b);
    const struct rh_sidecar_group *group =
        a == NO_CLASS || b == NO_CLASS ? NULL : find_group(s, a, b);
    if (!group)
        return;
    struct rh_strbuf why = RH_STRBUF_INIT;
    rh_candidate_explain(group, out->first, out->second, &why);
    out->why = rh_arena_strdup(&report->arena, rh_strbuf_text(&why));
    rh_strbuf_release(&why);
    out->object = rh_symbols_readable(s->symbols, group->object);
    out->score = rh_score_candidate(group->score,
                                    rh_candidate_names_same_member(group, out->first, out->second));
    out->busy_wait = group->flags & RH_GROUP_BUSY_WAIT;
}

static void judge(struct rh_report_candidate *out)
{
    out->ground = rh_verdict_ground(&out->tally);
    out->verdict = rh_verdict_of(out->ground);
    out->bound = rh_verdict_bound(&out->tally);
    out->consequence = out->ground == RH_GROUND_HANG    ? "hang"
                       : out->ground == RH_GROUND_CRASH ? "crash"
                                                        : "none";
}

/* Stands for an uninstrumented access, before a finding tells more of it. */
static struct rh_sidecar_site *make_uninstrumented(struct rh_arena *arena,
                                                   const struct rh_sidecar_site *site)
{
    static const struct rh_sidecar_function unknown = {.name = "unknown code"};
    struct rh_sidecar_site *out = rh_arena_new(arena, struct rh_sidecar_site);
    *out = (struct rh_sidecar_site){
        .number = RH_RUNS_UNINSTRUMENTED,
        .key = RH_SIDECAR_NO_KEY,
        .access = RH_ACCESS_WRITE,
        .flags = RH_SITE_SIZED,
        .function = &unknown,
        .expression = site->expression,
    };
    return out;
}

/* The best finding of a candidate that is complete; the best of all if none is. */
static enum rh_status choose_finding(struct rh_runs *runs, uint64_t candidate,
                                     struct rh_runs_finding *finding, struct rh_runs_end *end,
                                     bool *more)
{
    enum { MOST = 64 };
    size_t at = 0, first = 0;
    enum rh_status status;
    do
        status = rh_runs_next_finding(runs, candidate, &at, finding, end, more);
    while (status == RH_OK && *more && !rh_runs_is_complete(&finding->finding) && at < MOST);
    if (status == RH_OK && at > 0 && (!*more || !rh_runs_is_complete(&finding->finding)))
        status = rh_runs_next_finding(runs, candidate, &first, finding, end, more);
    return status;
}

static enum rh_status add_evidence(struct sources *s, struct rh_report *report,
                                   struct rh_report_candidate *out)
{
    struct rh_runs_finding finding;
    struct rh_runs_end end;
    bool more;
    enum rh_status status = choose_finding(s->runs, out->id, &finding, &end, &more);
    if (status != RH_OK || !more)
        return status;
    out->finding = rh_evidence_describe(&report->arena, s->symbols, out, &finding);
    if (out->verdict == RH_VERDICT_TRUE_RACE && out->tally.crashes > 0)
        out->crash_signal = end.signal;
    if (rh_report_has_uninstrumented(out)) {
        out->second = rh_evidence_uninstrumented(&report->arena, out);
        out->places[1] = rh_place_of_site(s->symbols, out->second);
    }
    for (int i = 0; i < 2; i++) {
        bool is_first = (i == 0) == (out->finding->order == RH_ORDER_PRIMARY);
        rh_place_improve(s->symbols, &out->finding->sides[i].frames, &out->places[!is_first]);
    }
    return RH_OK;
}

/* A site of a library that is gone. */
static const struct rh_sidecar_site *make_nameless(struct rh_arena *arena, const char *image)
{
    static const struct rh_sidecar_function unknown = {.name = "unknown code"};
    struct rh_sidecar_site *out = rh_arena_new(arena, struct rh_sidecar_site);
    *out = (struct rh_sidecar_site){
        .image = image, .key = RH_SIDECAR_NO_KEY, .flags = RH_SITE_SIZED, .function = &unknown};
    return out;
}

/* NULL if there is no such site. */
static const struct rh_sidecar_site *find_site(const struct sources *s, struct rh_arena *arena,
                                               uint32_t word)
{
    struct rh_site_name name = rh_site_name_of(word);
    const struct rh_images_library *library =
        name.image && s->libraries ? rh_images_at(s->libraries, name.image) : NULL;
    if (name.image == 0)
        return name.site < s->site_count ? &s->sites[name.site] : NULL;
    if (library && !library->sites)
        return make_nameless(arena, library->row.name);
    return library && name.site < library->site_count ? &library->sites[name.site] : NULL;
}

static enum rh_status add_tried(struct sources *s, struct rh_report *report,
                                const struct rh_runs_state *state)
{
    const struct rh_runs_candidate *candidate = &state->candidate;
    bool has_uninstrumented = candidate->second == RH_RUNS_UNINSTRUMENTED;
    const struct rh_sidecar_site *first = find_site(s, &report->arena, candidate->first);
    const struct rh_sidecar_site *second = first && has_uninstrumented
                                               ? make_uninstrumented(&report->arena, first)
                                               : find_site(s, &report->arena, candidate->second);
    if (!first || !second)
        return rh_fail(RH_ERR_INPUT,
                       "the store of runs speaks of site %u of %s, which has %u: it is damaged, or "
                       "of another build",
                       first ? candidate->second : candidate->first, report->program,
                       s->site_count);
    struct rh_report_candidate out = {
        .id = candidate->id,
        .first = first,
        .second = second,
        .is_between = rh_runs_image_of(candidate->first) ||
                      (!has_uninstrumented && rh_runs_image_of(candidate->second)),
        .tally = state->tally,
    };
    add_analysis(s, report, &out);
    judge(&out);
    report->by_ground[out.ground]++;
    s->beside += has_uninstrumented || out.is_between;
    rh_map_put(&s->tried, out.id, 0);
    rh_vec_push(&report->candidates, out);
    return RH_OK;
}

/* Leads a side to where `known` is, which may not be the very line: around what its stack has, or
 * inside it, where the stack has none of the program's own. */
static void lead_near(struct rh_report *report, struct rh_report_candidate *it, int which,
                      const struct rh_own_place *known, bool inside)
{
    struct rh_sidecar_location *at = rh_arena_new(&report->arena, struct rh_sidecar_location);
    *at = *known->at;
    at->is_near = true;
    at->inlined_at = NULL;
    it->places[which] = *known;
    it->places[which].at = at;
    bool is_first = (which == 0) == (it->finding->order == RH_ORDER_PRIMARY);
    struct rh_symbols_frames *frames = &it->finding->sides[!is_first].frames;
    struct rh_symbols_frame frame = {.function = known->function,
                                     .linkage = at->linkage,
                                     .file = at->file,
                                     .line = at->line,
                                     .column = at->column,
                                     .is_near = true};
    rh_vec_push(frames, frame);
    if (!inside)
        return;
    memmove(frames->data + 1, frames->data, (frames->len - 1) * sizeof frame);
    frames->data[0] = frame;
}

/* A site of a library's function to which no stack leads, because its race has none, is near the
 * line from which it was reached in another race; else near another site of the same function. */
static void share_places(struct sources *s, struct rh_report *report)
{
    struct rh_map own = RH_MAP_INIT; /* site -> a place of it */
    for (size_t i = 2 * s->first; i < 2 * report->candidates.len; i++) {
        struct rh_report_candidate *it = &report->candidates.data[i / 2];
        const struct rh_sidecar_site *site = i % 2 ? it->second : it->first;
        if (rh_place_is_own(&it->places[i % 2]) && !rh_map_has(&own, rh_map_key(site)))
            rh_map_put_ptr(&own, rh_map_key(site), &it->places[i % 2]);
    }
    for (size_t i = 2 * s->first; i < 2 * report->candidates.len; i++) {
        struct rh_report_candidate *it = &report->candidates.data[i / 2];
        const struct rh_sidecar_site *site = i % 2 ? it->second : it->first;
        const struct rh_own_place *known = rh_map_get_ptr(&own, rh_map_key(site));
        if (!it->finding || !it->places[i % 2].at || rh_place_is_own(&it->places[i % 2]))
            continue;
        struct rh_own_place beside = {0};
        if (!known && site >= s->sites && site < s->sites + s->site_count)
            beside = rh_place_beside(s->symbols, s->sites, s->site_count, site);
        if (known || beside.at)
            lead_near(report, it, (int)(i % 2), known ? known : &beside, !known);
    }
    rh_map_release(&own);
}

/* Findings are read after the walk over the states: a store has one walk at a time. */
static enum rh_status load_tried(struct sources *s, struct rh_report *report)
{
    enum rh_status status;
    struct rh_runs_state state;
    bool more;
    while ((status = rh_runs_next_state(s->runs, &state, &more)) == RH_OK && more) {
        status = add_tried(s, report, &state);
        if (status != RH_OK)
            return status;
    }
    for (size_t i = s->first; i < report->candidates.len && status == RH_OK; i++)
        status = add_evidence(s, report, &report->candidates.data[i]);
    share_places(s, report);
    return status;
}

static enum rh_status load_untried(struct sources *s, struct rh_report *report, size_t until)
{
    struct rh_candidates *candidates;
    struct rh_candidates_totals totals;
    struct rh_candidate candidate;
    enum rh_status status = rh_candidates_open(s->sidecar, NULL, &candidates);
    if (status != RH_OK)
        return status;
    rh_candidates_count(candidates, &totals);
    uint64_t tried = report->candidates.len - s->first, all = totals.candidates + s->beside;
    all = all > tried ? all : tried;
    report->candidate_count += all;
    report->by_ground[RH_GROUND_NOT_TRIED] += all - tried;
    while (report->candidates.len < until && rh_candidates_next(candidates, &candidate)) {
        struct rh_report_candidate out = {
            .id = candidate.id,
            .first = candidate.first,
            .second = candidate.second,
        };
        if (rh_map_has(&s->tried, candidate.id))
            continue;
        add_analysis(s, report, &out);
        judge(&out);
        rh_vec_push(&report->candidates, out);
    }
    rh_candidates_close(candidates);
    return RH_OK;
}

/* The order of the list. */
static int rank(enum rh_verdict verdict)
{
    return verdict == RH_VERDICT_TRUE_RACE               ? 0
           : verdict == RH_VERDICT_LIKELY_FALSE_POSITIVE ? 1
                                                         : 2;
}

static int compare_candidates(const void *left, const void *right)
{
    const struct rh_report_candidate *a = left, *b = right;
    int order = rank(a->verdict) - rank(b->verdict);
    if (order == 0)
        order = (a->score < b->score) - (a->score > b->score);
    if (order == 0)
        order = rh_sidecar_compare_locations(a->first, b->first);
    if (order == 0)
        order = rh_sidecar_compare_locations(a->second, b->second);
    return order != 0 ? order : (a->id > b->id) - (a->id < b->id);
}

/* Where the executable may be: as given, or beside the sidecar under its own name or today's. */
static void list_programs(const struct sources *s, struct rh_report *report, const char *sidecar,
                          const char **paths)
{
    size_t count = 0, suffix = strlen(RH_SIDECAR_SUFFIX), len = sidecar ? strlen(sidecar) : 0;
    const char *name = rh_sidecar_get_meta(s->sidecar, RH_SIDECAR_META_PROGRAM);
    if (report->path)
        paths[count++] = report->path;
    if (len > suffix && strcmp(sidecar + len - suffix, RH_SIDECAR_SUFFIX) == 0)
        paths[count++] = rh_arena_strndup(&report->arena, sidecar, len - suffix);
    if (len > 0 && name) {
        char *folder = rh_path_dirname(sidecar);
        paths[count++] = rh_arena_printf(&report->arena, "%s/%s", folder, name);
        free(folder);
    }
    paths[count] = NULL;
}

/* All candidates of one store. */
static enum rh_status load_image(struct sources *s, const struct rh_report_options *options,
                                 struct rh_report *report)
{
    s->first = report->candidates.len;
    enum rh_status status = load_sources(s);
    if (status == RH_OK)
        status = load_tried(s, report);
    if (status == RH_OK)
        status = load_untried(s, report, options->untried_until);
    release_sources(s);
    return status;
}

/* The program's, then those of each library that its runs have loaded. */
static enum rh_status load_all(struct sources *s, const struct rh_report_options *options,
                               struct rh_report *report)
{
    enum rh_status status = rh_runs_sum(s->runs, &report->totals);
    if (status == RH_OK)
        status = rh_images_open(s->runs, &report->libraries);
    s->libraries = &report->libraries;
    if (status == RH_OK)
        status = load_image(s, options, report);
    rh_vec_each (const struct rh_images_library, it, &report->libraries) {
        struct sources own = {.runs = it->runs, .sidecar = it->sidecar, .symbols = s->symbols};
        if (status == RH_OK && it->runs)
            status = load_image(&own, options, report);
    }
    if (status == RH_OK && report->candidates.len > 0)
        qsort(report->candidates.data, report->candidates.len, sizeof *report->candidates.data,
              compare_candidates);
    if (status == RH_OK && options->suppressions)
        rh_suppressions_apply(options->suppressions, report);
    if (status == RH_OK)
        rh_groups_find(report);
    return status;
}

static const char *keep(struct rh_report *report, const char *text)
{
    return text ? rh_arena_strdup(&report->arena, text) : NULL;
}

enum rh_status rh_report_load(struct rh_runs *runs, struct rh_sidecar *sidecar,
                              const struct rh_report_options *options, struct rh_report *report)
{
    const struct rh_runs_program *program = rh_runs_program_of(runs);
    struct sources sources = {.runs = runs, .sidecar = sidecar};
    const char *paths[4];
    memset(report, 0, sizeof *report);
    report->program = keep(report, program->name);
    report->build_id = keep(report, program->build_id);
    report->detector = keep(report, program->detector);
    report->path = keep(report, options->program);
    report->library = keep(report, options->library);
    report->full = options->full;
    report->limit = options->limit;
    report->command = options->command;
    list_programs(&sources, report, program->sidecar, paths);
    sources.symbols = rh_symbols_open(&report->arena, paths);
    if (options->full)
        rh_symbols_want_full_names(sources.symbols);
    enum rh_status status = load_all(&sources, options, report);
    rh_symbols_close(sources.symbols);
    return status;
}

static void release_findings(struct rh_report *report, size_t from)
{
    for (size_t i = from; i < report->candidates.len; i++)
        if (report->candidates.data[i].finding)
            rh_evidence_release(report->candidates.data[i].finding);
}

void rh_report_keep_true_races(struct rh_report *report)
{
    size_t count = 0;
    while (count < report->candidates.len &&
           report->candidates.data[count].verdict == RH_VERDICT_TRUE_RACE)
        count++;
    release_findings(report, count);
    report->candidates.len = count;
}

void rh_report_release(struct rh_report *report)
{
    release_findings(report, 0);
    rh_vec_free(&report->candidates);
    rh_images_close(&report->libraries);
    rh_arena_release(&report->arena);
}

enum rh_status rh_report_write(const struct rh_report *report, enum rh_report_format format,
                               FILE *out, bool coloured)
{
    switch (format) {
    case RH_REPORT_TEXT:
        return rh_render_text(report, out, coloured);
    case RH_REPORT_JSON:
        return rh_render_json(report, out);
    case RH_REPORT_SARIF:
        return rh_render_sarif(report, out);
    case RH_REPORT_HTML:
        return rh_render_html(report, out);
    case RH_REPORT_FORMAT_COUNT:
        break;
    }
    return rh_fail(RH_ERR_INTERNAL, "no such format of reports: %d", (int)format);
}
