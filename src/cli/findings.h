/*
 * What the analysis found, put in words for the sidecar.
 *
 * The words are made before the module is instrumented, because names of variables are read from
 * the module's debug information, and written afterwards, while the linker runs.
 */
#ifndef RH_CLI_FINDINGS_H
#define RH_CLI_FINDINGS_H

#include "analysis/analysis.h"
#include "base/arena.h"
#include "base/map.h"
#include "instrument/sites.h"
#include "store/sidecar_analysis.h"

/* Places in the source as the sidecar has them; each is turned once. */
struct rh_sources {
    struct rh_arena *arena;
    struct rh_map done; /* struct rh_loc -> struct rh_sidecar_location */
};

const struct rh_sidecar_location *rh_sources_location(struct rh_sources *sources,
                                                      const struct rh_loc *loc);
struct rh_sidecar_function rh_sources_function(const struct rh_function *fn);

/* A class of sites, with the sites' numbers. */
struct rh_finding_class {
    struct rh_sidecar_class row;
    const uint32_t *sites;
    size_t site_count;
};

/* A group, with the numbers of its partners. */
struct rh_finding_group {
    struct rh_sidecar_group row;
    const uint32_t *partners;
    size_t partner_count;
};

struct rh_findings {
    const struct rh_analysis *analysis;
    struct rh_arena arena;
    struct rh_sources sources;
    RH_VEC(struct rh_sidecar_removed) removed;
    RH_VEC(struct rh_finding_class) classes;
    RH_VEC(struct rh_finding_group) groups; /* best first */
};

void rh_findings_describe(const struct rh_analysis *analysis, const struct rh_sites *sites,
                          struct rh_findings *out);
/* The best candidates as pairs of numbers of sites, at most `room`; returns how many. */
uint32_t rh_findings_best(const struct rh_findings *findings, const struct rh_sites *sites,
                          uint32_t (*pairs)[2], uint32_t room);
void rh_findings_write(const struct rh_findings *findings, struct rh_sidecar_writer *writer);
void rh_findings_release(struct rh_findings *findings);

#endif
