/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the link step leaves in the sidecar of sites, candidates and removed accesses, as rows.
 *
 * Rows are made before the module is instrumented, because names of variables are read from the
 * module's debug information, and written afterwards, while the linker runs. In between they yield
 * the best candidates, assembled as everyone assembles them (store/candidates.h).
 */
#ifndef RH_LINKSTEP_ROWS_H
#define RH_LINKSTEP_ROWS_H

#include "analysis/analysis.h"
#include "base/arena.h"
#include "base/map.h"
#include "instrument/sites.h"
#include "store/candidates.h"

/* The partners of a group, by their numbers. */
struct rh_row_partners {
    const uint32_t *numbers;
    size_t count;
};

struct rh_rows {
    const struct rh_analysis *analysis; /* NULL if there was none */
    struct rh_arena arena;
    struct rh_map locations; /* struct rh_loc -> struct rh_sidecar_location, each made once */
    RH_VEC(struct rh_sidecar_site) sites;
    RH_VEC(struct rh_sidecar_removed) removed;
    RH_VEC(struct rh_sidecar_class) classes;
    RH_VEC(struct rh_candidates_member) members; /* class by class */
    RH_VEC(struct rh_sidecar_group) groups;      /* best first */
    RH_VEC(struct rh_row_partners) partners;     /* beside groups */
};

/* Without an analysis, NULL, there are only sites. */
void rh_rows_make(const struct rh_analysis *analysis, const struct rh_sites *sites,
                  struct rh_rows *out);
/* The best candidates as pairs of numbers of sites, at most `room`; returns how many. */
uint32_t rh_rows_best(const struct rh_rows *rows, uint32_t (*pairs)[2], uint32_t room);
void rh_rows_write(const struct rh_rows *rows, struct rh_sidecar_writer *writer);
void rh_rows_release(struct rh_rows *rows);

#endif
