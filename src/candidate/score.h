/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How likely a candidate is worth a look: its score, from 0 to RH_SCORE_MAX.
 *
 * A score is a sum of named reasons, each a row of one table, so that a candidate's place in the
 * order can be explained by listing the rows that hold for it. It orders what people read and what
 * runs try first; it removes nothing.
 *
 * It is made in two steps, because candidates are too many to be stored one by one. The search
 * (analysis/pairs) finds the reasons that hold for a whole group of candidates; the sidecar keeps
 * the group's score and explanation. One reason, that both sites name the same member, differs
 * from candidate to candidate of a group; whoever lists candidates (store/candidates.h) adds it.
 */
#ifndef RH_CANDIDATE_SCORE_H
#define RH_CANDIDATE_SCORE_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stdint.h>

enum { RH_SCORE_MAX = 100 };

/* Suffix, points, text for people. */
#define RH_REASONS(X)                                                                              \
    X(WAITS, 30, "a loop waits for a plain variable")                                              \
    X(POINTER_WRITTEN, 15, "a pointer is written")                                                 \
    X(UPDATE, 15, "a value is read and written back")                                              \
    X(ONE_LOCKED, 15, "one side holds a lock, the other none")                                     \
    X(ONE_ATOMIC, 10, "one side is atomic, the other not")                                         \
    X(EXACT, 10, "the memory is known exactly")                                                    \
    X(BOTH_WRITE, 5, "both write")                                                                 \
    X(BOTH_VOLATILE, -10, "both are volatile")                                                     \
    X(OUTSIDE, -20, "the memory belongs to no object of the program")                              \
    X(VAGUE, -40, "the pointers may point to many objects")

enum rh_reason {
#define RH_REASON_ENUM(id, points, text) RH_REASON_##id,
    RH_REASONS(RH_REASON_ENUM)
#undef RH_REASON_ENUM
        RH_REASON_COUNT
};

/* Sets of reasons have a bit for each, 1 << RH_REASON_X, and one that has no points: both sides
 * hold locks, but none that is surely the same. */
enum { RH_REASONS_BOTH_LOCKED = 1 << RH_REASON_COUNT };

/* The score of a group for which these reasons hold, and why it remains and is scored so. */
uint32_t rh_score_group(uint32_t reasons);
void rh_score_explain_group(uint32_t reasons, struct rh_strbuf *out);

/*
 * The score of a candidate of a group. Where pointers may point to many objects (a *vague* group),
 * a group has every pair of accesses that cannot be told apart, most of them to members of
 * different structs. What the programmer calls the same is far more likely the same, so
 * `same_member` (of vague groups alone: rh_member_same of the two expressions) adds points.
 */
uint32_t rh_score_candidate(uint32_t group_score, bool same_member);
/* `why` is the group's explanation; `expression` of either site, NULL unless both name a member. */
void rh_score_explain_candidate(const char *why, const char *expression, struct rh_strbuf *out);

#endif
