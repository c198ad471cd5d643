/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How commands write locations in the source (paths relative to the current folder), and what the
 * patterns of --file and --function mean.
 */
#ifndef RH_REPORT_LOCATIONS_H
#define RH_REPORT_LOCATIONS_H

#include "base/strbuf.h"
#include "store/sidecar.h"

#include <stdbool.h>

struct rh_locations {
    char *folder; /* the current one with a slash at the end; NULL if it is unknown */
};

void rh_locations_init(struct rh_locations *locations);
void rh_locations_release(struct rh_locations *locations);

/* The path from the current folder for what is below it; else the path as recorded. */
const char *rh_locations_shorten(const struct rh_locations *locations, const char *path);

/* A pattern without a slash is about the name of the file, wherever it is; path may be NULL. */
bool rh_locations_match_file(const struct rh_locations *locations, const char *pattern,
                             const char *path);

/*
 * Whether a site is in a file that matches and belongs to the function; NULL for any. A function's
 * sites are those on its own lines, and those inlined into it.
 */
bool rh_locations_match(const struct rh_locations *locations, const char *file,
                        const char *function, const struct rh_sidecar_site *site);

/* Adds file, line and column, "?" for what is unknown and "near" before a line that is only the
 * nearest known; the location may be NULL. */
void rh_locations_add(const struct rh_locations *locations, const struct rh_sidecar_location *at,
                      struct rh_strbuf *out);

/* Adds whose line it is and, if that was inlined, who holds it in the optimised program. */
void rh_locations_add_function(const struct rh_sidecar_location *at,
                               const struct rh_sidecar_function *holder, struct rh_strbuf *out);

#endif
