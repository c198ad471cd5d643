/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Suppressions: the rules by which a report leaves out races, and the only ones
 * (docs/suppressions.md lists what hides a race anywhere).
 *
 * Rules come from files in the form of base/config.h, of which race: and race_top: count here. A
 * race that a rule matches is not in the list of a report any more, but counted; a rule that
 * matches nothing is told of, because what it was written for is gone.
 *
 *     struct rh_suppressions rules = {0};
 *     status = rh_suppressions_read(&rules, "prog.suppressions");
 *     ...
 *     rh_suppressions_apply(&rules, &report);
 *     rh_suppressions_release(&rules);
 */
#ifndef RH_REPORT_SUPPRESS_H
#define RH_REPORT_SUPPRESS_H

#include "base/config.h"
#include "base/strbuf.h"
#include "report/report.h"

struct rh_suppressions_file {
    char *path;
    struct rh_config config;
};

struct rh_suppressions {
    RH_VEC(struct rh_suppressions_file) files;
};

/* Adds the rules of a file; RH_ERR_USAGE with file and line if one is malformed. Rules that have
 * expired are told of on standard error. */
enum rh_status rh_suppressions_read(struct rh_suppressions *rules, const char *path);
void rh_suppressions_release(struct rh_suppressions *rules);

/* Takes what the rules match out of the report, and counts it there. */
void rh_suppressions_apply(struct rh_suppressions *rules, struct rh_report *report);

/* Whether a rule matches one of the frames of a stack's part, innermost first; `is_top` says that
 * it is the part with the access. */
bool rh_suppressions_hide_frames(struct rh_suppressions *rules,
                                 const struct rh_symbols_frames *frames, bool is_top);

/* "prog.suppressions:4: race:foo matched nothing", a line each. */
void rh_suppressions_add_unused(const struct rh_suppressions *rules, struct rh_strbuf *out);

#endif
