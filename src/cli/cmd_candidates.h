/* SPDX-License-Identifier: Apache-2.0 */
/* What the files behind `racehive candidates` share: one file for each thing it can print. */
#ifndef RH_CLI_CMD_CANDIDATES_H
#define RH_CLI_CMD_CANDIDATES_H

#include "report/locations.h"
#include "store/candidates.h"

/* A program's candidates, those that the user asked for, about to be shown. */
struct rh_view {
    struct rh_sidecar *sidecar;
    struct rh_candidates *candidates;
    struct rh_locations locations;
    const char *program; /* its name */
    uint64_t limit;      /* candidates to show at most */
    bool coloured;
};

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
