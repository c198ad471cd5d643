/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the phases of the static race detection: see analysis.h. */
#include "analysis/analysis.h"

#include <string.h>

const char *rh_phase_name(enum rh_phase phase)
{
    static const char *const names[] = {
#define RH_PHASE_NAME(id, name) name,
        RH_PHASES(RH_PHASE_NAME)
#undef RH_PHASE_NAME
    };
    return names[phase];
}

/* First with all detail; if half of the time does not suffice, once more without it: to know only
 * which objects pointers lead to is far better than to know nothing. */
static void run_pointsto(struct rh_module *m, const struct rh_analysis_options *options,
                         struct rh_analysis *a)
{
    struct rh_deadline half = {.at = a->deadline.at};
    struct rh_pointsto_options pointsto = {.is_library = options->is_library, .deadline = &half};
    if (options->seconds > 0)
        half.at -= options->seconds / 2;
    a->pointsto = rh_pointsto_solve(m, &pointsto);
    if (!half.passed)
        return;
    rh_pointsto_free(a->pointsto);
    a->is_coarse = true;
    pointsto.is_coarse = true;
    pointsto.deadline = &a->deadline;
    a->pointsto = rh_pointsto_solve(m, &pointsto);
}

/* The second opinion is worth twice the time of the first and a part of what is left, and to have
 * none is no failure. */
static void run_declared(struct rh_module *m, const struct rh_analysis_options *options,
                         struct rh_analysis *a)
{
    enum { SPARE = 2, LONG = 5 };
    double now = rh_deadline_now(), left = (a->deadline.at - now) / 4;
    double worth = 2 * a->seconds[RH_PHASE_POINTSTO] + SPARE;
    struct rh_deadline part = {.at =
                                   options->seconds > 0 ? now + (left < worth ? left : worth) : 0};
    struct rh_pointsto_options pointsto = {
        .is_library = options->is_library, .guide = a->pointsto, .deadline = &part};
    /* Where the first took long, the second ran out of time and told nothing (sqlite3). */
    if (!options->trusts_declarations || a->is_coarse || a->seconds[RH_PHASE_POINTSTO] > LONG)
        return;
    a->declared = rh_pointsto_solve(m, &pointsto);
    if (!part.passed)
        return;
    rh_pointsto_free(a->declared);
    a->declared = NULL;
}

static void run_phase(enum rh_phase phase, struct rh_module *m,
                      const struct rh_analysis_options *options, struct rh_analysis *a)
{
    struct rh_flow_options flow = {.is_library = options->is_library,
                                   .outside_starts = options->outside_starts,
                                   .deadline = &a->deadline};
    struct rh_pairs_trust trust = {.library = options->trusts_library, .declared = a->declared};
    switch (phase) {
    case RH_PHASE_ACCESSES:
        rh_accesses_collect(m, options->config, &a->accesses);
        break;
    case RH_PHASE_POINTSTO:
        run_pointsto(m, options, a);
        break;
    case RH_PHASE_FLOW:
        a->flow = rh_flow_run(m, a->pointsto, &flow);
        break;
    case RH_PHASE_ESCAPE:
        a->escape = rh_escape_find(m, a->pointsto);
        break;
    case RH_PHASE_DECLARED:
        run_declared(m, options, a);
        break;
    case RH_PHASE_CANDIDATES:
        rh_pairs_find(&a->accesses, a->pointsto, a->flow, a->escape, &a->deadline, &trust,
                      &a->pairs);
        break;
    case RH_PHASE_COUNT:
        break;
    }
}

bool rh_analysis_run(struct rh_module *m, const struct rh_analysis_options *options,
                     struct rh_analysis *out)
{
    memset(out, 0, sizeof *out);
    if (options->seconds > 0)
        out->deadline.at = rh_deadline_now() + options->seconds;
    for (enum rh_phase phase = 0; phase < RH_PHASE_COUNT; phase++) {
        double begin = rh_deadline_now();
        if (options->begins)
            options->begins(phase);
        run_phase(phase, m, options, out);
        out->seconds[phase] = rh_deadline_now() - begin;
        if (rh_deadline_passed(&out->deadline)) {
            out->gave_up = phase;
            return false;
        }
        if (options->done)
            options->done(phase, out->seconds[phase]);
    }
    return true;
}

void rh_analysis_release(struct rh_analysis *a)
{
    rh_pairs_release(&a->pairs);
    rh_escape_free(a->escape);
    rh_flow_free(a->flow);
    rh_pointsto_free(a->declared);
    rh_pointsto_free(a->pointsto);
    rh_accesses_release(&a->accesses);
}
