/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sentences that text, HTML and SARIF reports share: what raced, how that was proved, and what
 * to try. All add to a strbuf; what is unknown is left out or said to be unknown.
 *
 * Sides are 0 and 1 in the order in which the accesses came in the finding. Of a candidate without
 * a finding they are its first and its second site.
 */
#ifndef RH_REPORT_PHRASES_H
#define RH_REPORT_PHRASES_H

#include "report/locations.h"
#include "report/report.h"

const char *rh_phrase_verdict(enum rh_verdict verdict); /* "true race", ... */

/* "collision", "both-orders" or "unordered": the strongest thing that all runs say. */
const char *rh_phrase_kind(const struct rh_report_candidate *candidate);
const char *rh_phrase_order(enum rh_race_order order); /* "primary", "alternate" */

const struct rh_sidecar_site *rh_phrase_site(const struct rh_report_candidate *candidate, int side);

/* Where a side is in the program's own source. */
const struct rh_own_place *rh_phrase_place(const struct rh_report_candidate *candidate, int side);

/* "write in deposit and read in audit race on account->balance": the same whoever came first. */
void rh_phrase_title(const struct rh_report_candidate *candidate, struct rh_strbuf *out);

/* "write of 8 bytes to account->balance" */
void rh_phrase_access(const struct rh_report_candidate *candidate, int side, struct rh_strbuf *out);

/* " in deposit"; " in deposit, by std::string::assign" if a library makes the access. */
void rh_phrase_where(const struct rh_report_candidate *candidate, int side, struct rh_strbuf *out);

/* "T2, created by T1 (main)"; of a candidate without evidence, the threads the analysis knows. */
void rh_phrase_thread(const struct rh_report_candidate *candidate, int side, struct rh_strbuf *out);

/* The locks held, "no lock" if none is known to be: those seen in the run, else the analysis's. */
void rh_phrase_locks(const struct rh_report_candidate *candidate, int side, struct rh_strbuf *out);

/* The memory the two met in; adds nothing if it is unknown. */
void rh_phrase_memory(const struct rh_report_candidate *candidate, struct rh_strbuf *out);

/* Whether both sides are in one line, so that it need not be shown twice. */
bool rh_phrase_is_one_place(const struct rh_report_candidate *candidate);

/* Which locks could have ordered the two, and why they did not; adds nothing without evidence. */
void rh_phrase_guards(const struct rh_report_candidate *candidate, struct rh_strbuf *out);
/* Whether a lock was held on both sides, as seen in the run. */
bool rh_phrase_shares_lock(const struct rh_report_candidate *candidate);

/* How the race was proved; the candidate must have evidence. */
void rh_phrase_proof(const struct rh_report_candidate *candidate, struct rh_strbuf *out);

/* In how many runs, and in which orders. */
void rh_phrase_runs(const struct rh_report_candidate *candidate, struct rh_strbuf *out);

/* What became of runs that raced. */
void rh_phrase_consequence(const struct rh_report_candidate *candidate, struct rh_strbuf *out);

/* How often a run could still race unnoticed, "below 12.9 %"; "-" if no run speaks against it. */
void rh_phrase_bound(const struct rh_report_candidate *candidate, struct rh_strbuf *out);

/* Why happens-before alone proves nothing in this program; adds nothing if it does. */
void rh_phrase_opaque(uint32_t reasons, struct rh_strbuf *out);

/* What the runs could not do or keep, "findings not kept: 3; ..."; adds nothing if there is none.
 */
void rh_phrase_losses(const uint64_t *losses, struct rh_strbuf *out);
const char *rh_phrase_loss(enum rh_loss loss); /* "findings not kept" */

struct rh_phrase_list RH_VEC_BODY(char *);

/* Adds what to try, made from the facts alone. */
void rh_phrase_advise(const struct rh_report_candidate *candidate,
                      const struct rh_locations *locations, struct rh_phrase_list *list);
void rh_phrase_list_release(struct rh_phrase_list *list);

/* "bank.c:41:7", "libfoo.so" for a place in a library without debug information, else "?". */
void rh_phrase_location(const struct rh_symbols_frame *frame, const struct rh_locations *locations,
                        struct rh_strbuf *out);

#endif
