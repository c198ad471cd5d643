/* SPDX-License-Identifier: Apache-2.0 */
/* From a finding as the runtime recorded it, places and numbers, to one in words. */
#ifndef RH_REPORT_EVIDENCE_H
#define RH_REPORT_EVIDENCE_H

#include "report/report.h"

/* The finding of a candidate, whose two sites must be known. It is in the arena, except for its
 * vectors, which rh_evidence_release frees. */
struct rh_report_finding *rh_evidence_describe(struct rh_arena *arena, struct rh_symbols *symbols,
                                               const struct rh_report_candidate *candidate,
                                               const struct rh_runs_finding *finding);
/* The second site of a candidate with an uninstrumented access and a finding. It has the location
 * of that access, if the stack tells. */
const struct rh_sidecar_site *
rh_evidence_uninstrumented(struct rh_arena *arena, const struct rh_report_candidate *candidate);
void rh_evidence_release(struct rh_report_finding *finding);

#endif
