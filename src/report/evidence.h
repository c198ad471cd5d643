/* From a race as the runtime recorded it, places and numbers, to one in words. */
#ifndef RH_REPORT_EVIDENCE_H
#define RH_REPORT_EVIDENCE_H

#include "report/report.h"

/* The race of a candidate, of which the two sites must be known; in the arena but for its vectors,
 * which rh_evidence_release frees. */
struct rh_report_race *rh_evidence_describe(struct rh_arena *arena, struct rh_symbols *symbols,
                                            const struct rh_report_candidate *candidate,
                                            const struct rh_runs_finding *race);
/* The second site of a candidate with an uninstrumented access and evidence, with the place where
 * that wrote, if the stack tells. */
const struct rh_sidecar_site *
rh_evidence_uninstrumented(struct rh_arena *arena, const struct rh_report_candidate *candidate);
void rh_evidence_release(struct rh_report_race *race);

#endif
