/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The static race detection of a whole program, from its module to its candidates.
 *
 * How it works, phase by phase: every access is listed (access.h); points-to says what pointers
 * point to and whom calls call (pointsto.h); flow says which threads run an instruction, who else
 * may run then, and under which locks (flow.h); escape says which memory several threads reach
 * (escape.h); candidates compares what is left (pairs.h). Each phase only narrows: what it
 * cannot prove stays.
 */
#ifndef RH_ANALYSIS_ANALYSIS_H
#define RH_ANALYSIS_ANALYSIS_H

#include "analysis/access.h"
#include "analysis/flow/flow.h"
#include "analysis/pairs/escape.h"
#include "analysis/pairs/pairs.h"
#include "analysis/pointsto/pointsto.h"

/* Phases: suffix, name shown to users. */
#define RH_PHASES(X)                                                                               \
    X(ACCESSES, "accesses")                                                                        \
    X(POINTSTO, "points-to")                                                                       \
    X(FLOW, "threads and locks")                                                                   \
    X(ESCAPE, "escape")                                                                            \
    X(DECLARED, "declarations")                                                                    \
    X(CANDIDATES, "candidates")

enum rh_phase {
#define RH_PHASE_ENUM(id, name) RH_PHASE_##id,
    RH_PHASES(RH_PHASE_ENUM)
#undef RH_PHASE_ENUM
        RH_PHASE_COUNT
};

const char *rh_phase_name(enum rh_phase phase);

struct rh_analysis {
    struct rh_accesses accesses;
    struct rh_pointsto *pointsto;
    struct rh_pointsto *declared; /* once more, by declarations; NULL if they are not trusted */
    struct rh_flow *flow;
    struct rh_escape *escape;
    struct rh_pairs pairs;
    double seconds[RH_PHASE_COUNT];
    struct rh_deadline deadline;
    enum rh_phase gave_up; /* in which phase time was up */
    bool is_coarse;        /* points-to ran out of time and tells objects apart, but no members */
};

struct rh_analysis_options {
    bool is_library;     /* a shared library: any exported function may be called by any thread */
    bool outside_starts; /* code without bitcode may start threads */
    bool trusts_library; /* the C++ library does not race on what is its own */
    bool trusts_declarations;       /* pointers lead to what they are declared to */
    double seconds;                 /* that it may take; 0: as long as it wants */
    const struct rh_config *config; /* or NULL */
    /* Called before and after each phase; may be NULL. */
    void (*begins)(enum rh_phase phase);
    void (*done)(enum rh_phase phase, double seconds);
};

/* False if time was up: then nothing is known, and all that may be shared must count as a site. */
bool rh_analysis_run(struct rh_module *m, const struct rh_analysis_options *options,
                     struct rh_analysis *out);
void rh_analysis_release(struct rh_analysis *a);

#endif
