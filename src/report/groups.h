/* SPDX-License-Identifier: Apache-2.0 */
/*
 * True races of the same two lines are one race: an update is a read and a write, and each of them
 * may race; a line may be in several copies of an inlined function. A race with an uninstrumented
 * access counts as the same lines as a race of the same site with a write that the uninstrumented
 * access may have been.
 */
#ifndef RH_REPORT_GROUPS_H
#define RH_REPORT_GROUPS_H

#include "report/report.h"

/* Sets `leader` of every candidate of the list, which must be sorted, and counts the races. */
void rh_groups_find(struct rh_report *report);

/* Whether a candidate is shown in full: it is a true race, and the first of its two lines. */
bool rh_group_leads(const struct rh_report *report, const struct rh_report_candidate *candidate);

/* The next race of the same lines behind `after`, or NULL; begin with the leader. */
const struct rh_report_candidate *rh_group_next(const struct rh_report *report,
                                                const struct rh_report_candidate *after);

#endif
