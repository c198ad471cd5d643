/* SPDX-License-Identifier: Apache-2.0 */
/* Sums up reasons and puts them in words: see score.h. */
#include "candidate/score.h"

#include "candidate/member.h"

enum { START = 40, SAME_MEMBER = 30 };

static const struct {
    int points;
    const char *text;
} rows[] = {
#define ROW(id, points, text) [RH_REASON_##id] = {points, text},
    RH_REASONS(ROW)
#undef ROW
};

static uint32_t clamp(int score)
{
    return score < 0 ? 0 : score > RH_SCORE_MAX ? RH_SCORE_MAX : (uint32_t)score;
}

uint32_t rh_score_group(uint32_t reasons)
{
    int score = START;
    for (int i = 0; i < RH_REASON_COUNT; i++)
        score += reasons & 1u << i ? rows[i].points : 0;
    return clamp(score);
}

void rh_score_explain_group(uint32_t reasons, struct rh_strbuf *out)
{
    const char *separator = "; ";
    rh_strbuf_add(out, reasons & RH_REASONS_BOTH_LOCKED ? "no lock is surely common to both"
                                                        : "no lock guards both");
    for (int i = 0; i < RH_REASON_COUNT; i++) {
        if (!(reasons & 1u << i))
            continue;
        rh_strbuf_addf(out, "%s%s (%+d)", separator, rows[i].text, rows[i].points);
        separator = ", ";
    }
}

uint32_t rh_score_candidate(uint32_t group_score, bool same_member)
{
    return clamp((int)group_score + (same_member ? SAME_MEMBER : 0));
}

void rh_score_explain_candidate(const char *why, const char *expression, struct rh_strbuf *out)
{
    struct rh_member member = rh_member_of(expression);
    rh_strbuf_add(out, why);
    if (member.len)
        rh_strbuf_addf(out, ", both name %.*s (%+d)", (int)member.len, member.text, SAME_MEMBER);
}
