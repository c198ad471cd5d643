/* SPDX-License-Identifier: Apache-2.0 */
/* Reads which pairs of sites runs have shown to meet, for `racehive candidates --observed`. */
#include "cli/cmd_candidates.h"
#include "racehive/detectors.h"

#include <stdlib.h>
#include <string.h>

/* --- from stores --- */

static enum rh_status check_build(const struct rh_view *view, const struct rh_runs *runs,
                                  const char *path)
{
    const char *id = rh_sidecar_get_meta(view->sidecar, RH_SIDECAR_META_BUILD_ID);
    const struct rh_runs_program *program = rh_runs_program_of(runs);
    if (id && strcmp(id, program->build_id) == 0)
        return RH_OK;
    return rh_fail(RH_ERR_INPUT, "the runs in %s are of another build (build id %s) than %s (%s)",
                   path, program->build_id, view->program, id ? id : "none");
}

static enum rh_status read_store(const struct rh_view *view, const char *path,
                                 struct rh_runs_met_vec *met)
{
    struct rh_runs *runs;
    enum rh_status status = rh_runs_open_existing(path, &runs);
    if (status != RH_OK)
        return status;
    status = check_build(view, runs, path);
    if (status == RH_OK)
        status = rh_runs_list_met(runs, met);
    rh_runs_close(runs);
    return status;
}

/* The stores of all detectors that there are. */
static enum rh_status read_usual_stores(const struct rh_view *view, struct rh_runs_met_vec *met)
{
    const char *id = rh_sidecar_get_meta(view->sidecar, RH_SIDECAR_META_BUILD_ID);
    size_t found = 0;
    if (!id)
        return rh_fail(RH_ERR_INPUT, "%s has no build id: name the store with --store=PATH",
                       view->program);
    for (size_t i = 0; i < RH_DETECTOR_COUNT; i++) {
        char *path;
        enum rh_status status = rh_runs_default_path(id, rh_detectors[i].name, &path);
        if (status != RH_OK)
            return status;
        status = read_store(view, path, met);
        free(path);
        if (status != RH_OK && status != RH_ERR_NOT_FOUND)
            return status;
        found += status == RH_OK;
    }
    return found ? RH_OK
                 : rh_fail(RH_ERR_NOT_FOUND,
                           "there are no runs of %s yet: make some with 'racehive run'",
                           view->program);
}

/* --- one list --- */

static int compare_ids(const void *a, const void *b)
{
    uint64_t left = ((const struct rh_runs_met *)a)->candidate.id;
    uint64_t right = ((const struct rh_runs_met *)b)->candidate.id;
    return (left > right) - (left < right);
}

/* Adds up what several stores say of a pair. */
static void merge(struct rh_runs_met_vec *met)
{
    size_t kept = 0;
    if (met->len == 0)
        return;
    qsort(met->data, met->len, sizeof *met->data, compare_ids);
    for (size_t i = 1; i < met->len; i++) {
        struct rh_runs_met *last = &met->data[kept];
        const struct rh_runs_met *next = &met->data[i];
        if (last->candidate.id != next->candidate.id) {
            met->data[++kept] = *next;
            continue;
        }
        last->runs += next->runs;
        last->locked += next->locked;
        last->unlocked += next->unlocked;
        last->ordered += next->ordered;
        last->unordered += next->unordered;
        last->hinted += next->hinted;
        last->has_raced |= next->has_raced;
    }
    met->len = kept + 1;
}

static enum rh_status select_wanted(const struct rh_view *view, const struct rh_runs_met_vec *met,
                                    const struct rh_candidates_filter *filter,
                                    struct rh_observed_vec *observed)
{
    const struct rh_sidecar_site *sites;
    uint32_t count;
    enum rh_status status = rh_sidecar_load_sites(view->sidecar, &sites, &count);
    for (size_t i = 0; i < met->len && status == RH_OK; i++) {
        const struct rh_runs_candidate *pair = &met->data[i].candidate;
        struct rh_observed row = {.met = met->data[i]};
        if (row.met.runs == 0)
            continue;
        if (pair->first >= count || pair->second >= count)
            return rh_fail(RH_ERR_INPUT, "the runs tell of sites that %s does not have",
                           view->program);
        rh_candidates_find(view->candidates, &sites[pair->first], &sites[pair->second],
                           &row.candidate);
        if (!filter || filter->wants(filter->context, row.candidate.first) ||
            filter->wants(filter->context, row.candidate.second))
            rh_vec_push(observed, row);
    }
    return status;
}

/* The more interesting, the higher. */
static int interest(const struct rh_runs_met *met)
{
    return met->unordered ? 2 : met->unlocked > 0;
}

/* Then by score, then by how often they met. */
static int compare_interest(const void *a, const void *b)
{
    const struct rh_observed *x = a, *y = b;
    if (interest(&x->met) != interest(&y->met))
        return interest(&y->met) - interest(&x->met);
    if (x->candidate.score != y->candidate.score)
        return x->candidate.score > y->candidate.score ? -1 : 1;
    if (x->met.runs != y->met.runs)
        return x->met.runs > y->met.runs ? -1 : 1;
    return compare_ids(&x->met, &y->met);
}

enum rh_status rh_observed_load(const struct rh_view *view, const char *store,
                                const struct rh_candidates_filter *filter,
                                struct rh_observed_vec *observed)
{
    struct rh_runs_met_vec met = RH_VEC_INIT;
    enum rh_status status = store ? read_store(view, store, &met) : read_usual_stores(view, &met);
    merge(&met);
    if (status == RH_OK)
        status = select_wanted(view, &met, filter, observed);
    if (observed->len > 0)
        qsort(observed->data, observed->len, sizeof *observed->data, compare_interest);
    rh_vec_free(&met);
    return status;
}

/* --- listing --- */

void rh_view_count(const struct rh_view *view, struct rh_candidates_totals *totals)
{
    rh_candidates_count(view->candidates, totals);
    if (view->observed)
        totals->wanted = view->observed->len;
}

bool rh_view_next(const struct rh_view *view, uint64_t position, struct rh_candidate *candidate,
                  const struct rh_runs_met **met)
{
    *met = NULL;
    if (!view->observed)
        return rh_candidates_next(view->candidates, candidate);
    if (position >= view->observed->len)
        return false;
    *candidate = view->observed->data[position].candidate;
    *met = &view->observed->data[position].met;
    return true;
}
