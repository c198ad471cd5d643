/* SPDX-License-Identifier: Apache-2.0 */
/* What the files behind `racehive candidates` share: one file for each thing it can print. */
#ifndef RH_CLI_CMD_CANDIDATES_H
#define RH_CLI_CMD_CANDIDATES_H

#include "hive/filtered.h"
#include "report/images.h"
#include "report/locations.h"
#include "store/candidates.h"
#include "store/runs.h"

/* A pair of sites that runs have shown to meet; a candidate, one that the analysis ruled out, or
 * one of two images. */
struct rh_observed {
    struct rh_candidate candidate;
    struct rh_runs_met met;
};
struct rh_observed_vec RH_VEC_BODY(struct rh_observed);

/* A program's candidates, those that the user asked for, about to be shown. */
struct rh_view {
    struct rh_sidecar *sidecar;
    struct rh_candidates *candidates;
    const struct rh_observed_vec *observed; /* what to list; NULL: all candidates */
    const struct rh_bitset *escaped; /* list only what this keeps (hive/filtered.h), or NULL */
    uint64_t kept;                   /* how many that are */
    struct rh_images_libraries *libraries; /* that observed pairs are of, too */
    struct rh_locations locations;
    const char *program; /* its name */
    const char *path;    /* as it was given */
    uint64_t limit;      /* candidates to show at most */
    bool coloured;
};

/* What the view's runs have seen, most interesting first: unordered, without a common lock, the
 * others. `store`: where the runs are; NULL: the usual places of all detectors. RH_ERR_NOT_FOUND if
 * there are none. */
enum rh_status rh_observed_load(const struct rh_view *view, const char *store,
                                const struct rh_candidates_filter *filter,
                                struct rh_observed_vec *observed);

/* The sites that runs of caper have seen to touch escaped memory. `store` as above. */
enum rh_status rh_escaped_load(const struct rh_view *view, const char *store,
                               struct rh_bitset *sites);

/* How much there is to list of all; and what is listed at a position, counted from 0: call it for
 * one after the other. `*met` is NULL unless only observed pairs are listed. */
void rh_view_count(const struct rh_view *view, struct rh_candidates_totals *totals);
bool rh_view_next(const struct rh_view *view, uint64_t position, struct rh_candidate *candidate,
                  const struct rh_runs_met **met);

void rh_view_print_text(const struct rh_view *view);

/* Pairs by filter, times by phase, and functions nothing is known of, as tables. */
enum rh_status rh_view_print_filters(const struct rh_view *view);

enum rh_status rh_view_print_json(const struct rh_view *view);

/*
 * Tells of every access at `where`, FILE:LINE or FILE:LINE:COLUMN, which candidates it is in or
 * which filter removed it; RH_ERR_NOT_FOUND if there is none. It restarts the walk of candidates.
 */
enum rh_status rh_view_explain(const struct rh_view *view, const char *where);

#endif
