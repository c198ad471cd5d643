/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings of a run: two accesses that race become a struct rh_finding in the shared memory of the
 * run (racehive/control.h). Any detector may report them, with tasks or without.
 */
#ifndef RH_RUNTIME_FINDINGS_H
#define RH_RUNTIME_FINDINGS_H

#include "evidence/witness.h"

/* `first` came before `second`. */
struct rt_finding {
    enum rh_proof proof;
    uint32_t pause_us;
    const struct rt_witness *first, *second;
};

/* Keeps it, unless one with the same sites in the same order and the same proof was reported
 * before. False if an annotation says that races there are benign: then it is counted, and not
 * kept. */
RT_HIDDEN bool rt_finding_report(const struct rt_finding *f);

/* At the end of a run that no controller reads: writes findings and losses to the log. */
RT_HIDDEN void rt_findings_log(const char *detector);

#endif
