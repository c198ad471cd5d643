/* SPDX-License-Identifier: Apache-2.0 */
/* The verdicts of a program in short: counts, the table by ground, a line for each candidate. */
#ifndef RH_REPORT_SUMMARY_H
#define RH_REPORT_SUMMARY_H

#include "report/locations.h"
#include "report/report.h"

/* The verdicts in the order of every table, and whether a ground has a row there: those that a
 * candidate has, and every kind of true race, because that there is none is news too. */
enum { RH_SUMMARY_VERDICTS = 3 };
enum rh_verdict rh_summary_verdict(int position);
bool rh_summary_shows(const struct rh_report *report, enum rh_ground ground);

/* Candidates with a verdict, listed or not. */
uint64_t rh_summary_count(const struct rh_report *report, enum rh_verdict verdict);

/* "1 run crashed, 2 runs hung and were ended"; adds nothing if all ended well. */
void rh_summary_add_ends(const struct rh_report *report, struct rh_strbuf *out);

/* "3 candidates, 2 of them true races, are hidden by suppressions"; adds nothing if none is. */
void rh_summary_add_suppressed(const struct rh_report *report, struct rh_strbuf *out);

/* The command that shows this report again, with an option more if there is one. */
void rh_summary_add_command(const struct rh_report *report, const char *option,
                            struct rh_strbuf *out);

/* What to do where no race was found and there are candidates that no run has tried; adds nothing
 * elsewhere. */
void rh_summary_add_next(const struct rh_report *report, struct rh_strbuf *out);

/* "2 true races (5 pairs of accesses), 1 likely false positive and 4 unknown of 7 candidates" */
void rh_summary_add_counts(const struct rh_report *report, struct rh_strbuf *out);

/* What a likely false positive is: "A likely false positive has at least 66 runs ..." */
void rh_summary_add_rule(struct rh_strbuf *out);

/* The counts by verdict and ground, and the rule if there is something to which it applies. */
void rh_summary_print_table(const struct rh_report *report, FILE *out, bool coloured);

/* "  bank.c:41:7 write and bank.c:50:3 read of account->balance (causes crash)" */
void rh_summary_print_line(const struct rh_report_candidate *candidate,
                           const struct rh_locations *locations, FILE *out, bool coloured);

#endif
