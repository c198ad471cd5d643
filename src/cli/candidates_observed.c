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

/* A site of the program, or of a library that its runs have loaded; NULL if that is gone. */
static const struct rh_sidecar_site *
find_site(const struct rh_view *view, const struct rh_images_libraries *libraries, uint32_t word)
{
    struct rh_site_name name = rh_site_name_of(word);
    const struct rh_sidecar_site *sites = NULL;
    uint32_t count = 0;
    const struct rh_images_library *library =
        name.image ? rh_images_at(libraries, name.image) : NULL;
    if (library) {
        sites = library->sites;
        count = library->site_count;
    } else if (name.image == 0 && rh_sidecar_load_sites(view->sidecar, &sites, &count) != RH_OK) {
        return NULL;
    }
    return sites && name.site < count ? &sites[name.site] : NULL;
}

static enum rh_status add_pair(const struct rh_view *view,
                               const struct rh_images_libraries *libraries,
                               const struct rh_runs_met *met, struct rh_observed_vec *observed)
{
    static const struct rh_sidecar_class nobody = {.threads = "", .locks = ""};
    struct rh_observed row = {.met = *met};
    uint32_t first = met->candidate.first, second = met->candidate.second;
    const struct rh_sidecar_site *a = find_site(view, libraries, first);
    const struct rh_sidecar_site *b = find_site(view, libraries, second);
    bool is_between = rh_runs_image_of(first) || rh_runs_image_of(second);
    if (met->runs == 0 || (is_between && (!a || !b)))
        return RH_OK;
    if (!a || !b)
        return rh_fail(RH_ERR_INPUT, "the runs tell of sites that %s does not have", view->program);
    if (is_between)
        row.candidate = (struct rh_candidate){.id = met->candidate.id,
                                              .score = RH_SCORE_MAX / 2,
                                              .first = a,
                                              .second = b,
                                              .first_class = &nobody,
                                              .second_class = &nobody};
    else
        rh_candidates_find(view->candidates, a, b, &row.candidate);
    rh_vec_push(observed, row);
    return RH_OK;
}

static enum rh_status read_met(const struct rh_view *view, struct rh_runs *runs,
                               struct rh_observed_vec *observed)
{
    struct rh_images_libraries libraries = RH_VEC_INIT;
    struct rh_runs_met_vec met = RH_VEC_INIT;
    enum rh_status status = rh_images_open(runs, &libraries);
    if (status == RH_OK)
        status = rh_runs_list_met(runs, &met);
    for (size_t i = 0; i < met.len && status == RH_OK; i++)
        status = add_pair(view, &libraries, &met.data[i], observed);
    rh_vec_free(&met);
    rh_vec_each (const struct rh_images_library, it, &libraries)
        rh_vec_push(view->libraries, *it);
    rh_vec_free(&libraries);
    return status;
}

static enum rh_status read_store(const struct rh_view *view, const char *path,
                                 struct rh_observed_vec *observed)
{
    struct rh_runs *runs;
    enum rh_status status = rh_runs_open_existing(path, &runs);
    if (status != RH_OK)
        return status;
    status = check_build(view, runs, path);
    if (status == RH_OK)
        status = read_met(view, runs, observed);
    rh_runs_close(runs);
    return status;
}

/* The stores of all detectors that there are. */
static enum rh_status read_usual_stores(const struct rh_view *view,
                                        struct rh_observed_vec *observed)
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
        status = read_store(view, path, observed);
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

static int compare_pairs(const void *a, const void *b)
{
    return compare_ids(&((const struct rh_observed *)a)->met,
                       &((const struct rh_observed *)b)->met);
}

/* Adds up what several stores say of a pair. */
static void merge(struct rh_observed_vec *observed)
{
    size_t kept = 0;
    if (observed->len == 0)
        return;
    qsort(observed->data, observed->len, sizeof *observed->data, compare_pairs);
    for (size_t i = 1; i < observed->len; i++) {
        struct rh_runs_met *last = &observed->data[kept].met;
        const struct rh_runs_met *next = &observed->data[i].met;
        if (last->candidate.id != next->candidate.id) {
            observed->data[++kept] = observed->data[i];
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
    observed->len = kept + 1;
}

static void select_wanted(const struct rh_candidates_filter *filter,
                          struct rh_observed_vec *observed)
{
    size_t kept = 0;
    for (size_t i = 0; i < observed->len; i++) {
        const struct rh_candidate *candidate = &observed->data[i].candidate;
        if (!filter || filter->wants(filter->context, candidate->first) ||
            filter->wants(filter->context, candidate->second))
            observed->data[kept++] = observed->data[i];
    }
    observed->len = kept;
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
    enum rh_status status =
        store ? read_store(view, store, observed) : read_usual_stores(view, observed);
    merge(observed);
    select_wanted(filter, observed);
    if (observed->len > 0)
        qsort(observed->data, observed->len, sizeof *observed->data, compare_interest);
    return status;
}

/* --- what caper keeps --- */

enum rh_status rh_escaped_load(const struct rh_view *view, const char *store,
                               struct rh_bitset *sites)
{
    bool found = false;
    const char *id = rh_sidecar_get_meta(view->sidecar, RH_SIDECAR_META_BUILD_ID);
    if (!id)
        return rh_fail(RH_ERR_INPUT, "%s has no build id, so runs cannot be kept", view->program);
    enum rh_status status = rh_filtered_load(id, store, sites, &found);
    if (status != RH_OK || found)
        return status;
    return rh_fail(RH_ERR_NOT_FOUND,
                   "there are no runs of %s with caper yet: make some with 'racehive run "
                   "--detector=caper'",
                   view->program);
}

/* --- listing --- */

void rh_view_count(const struct rh_view *view, struct rh_candidates_totals *totals)
{
    rh_candidates_count(view->candidates, totals);
    if (view->observed)
        totals->wanted = view->observed->len;
    else if (view->escaped)
        totals->wanted = view->kept;
}

bool rh_view_next(const struct rh_view *view, uint64_t position, struct rh_candidate *candidate,
                  const struct rh_runs_met **met)
{
    *met = NULL;
    if (!view->observed) {
        bool more = rh_candidates_next(view->candidates, candidate);
        while (more && view->escaped && !rh_filtered_keeps(view->escaped, candidate))
            more = rh_candidates_next(view->candidates, candidate);
        return more;
    }
    if (position >= view->observed->len)
        return false;
    *candidate = view->observed->data[position].candidate;
    *met = &view->observed->data[position].met;
    return true;
}
