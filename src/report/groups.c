/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the true races of the same two lines: see groups.h. */
#include "report/groups.h"

#include "racehive/access.h"

#include <string.h>

static bool is_same_line(const struct rh_report_candidate *a, int i,
                         const struct rh_report_candidate *b, int j)
{
    const struct rh_sidecar_location *x = a->places[i].at, *y = b->places[j].at;
    if ((i == 0 ? a->first : a->second) == (j == 0 ? b->first : b->second))
        return true;
    return x && y && x->file && y->file && x->line == y->line && x->line > 0 &&
           strcmp(x->file, y->file) == 0;
}

/* Whether the uninstrumented access of a candidate may be a site of another one: one that writes,
 * and in the same line if its own is known. */
static bool may_be(const struct rh_report_candidate *of, const struct rh_report_candidate *known,
                   int j)
{
    const struct rh_sidecar_site *site = j == 0 ? known->first : known->second;
    return rh_kind_writes(site->access) && (!of->places[1].at || is_same_line(of, 1, known, j));
}

static bool are_same_lines(const struct rh_report_candidate *a, const struct rh_report_candidate *b)
{
    if (rh_report_has_uninstrumented(a) == rh_report_has_uninstrumented(b))
        return (is_same_line(a, 0, b, 0) && is_same_line(a, 1, b, 1)) ||
               (is_same_line(a, 0, b, 1) && is_same_line(a, 1, b, 0));
    const struct rh_report_candidate *of = rh_report_has_uninstrumented(a) ? a : b;
    const struct rh_report_candidate *known = of == a ? b : a;
    return (is_same_line(of, 0, known, 0) && may_be(of, known, 1)) ||
           (is_same_line(of, 0, known, 1) && may_be(of, known, 0));
}

void rh_groups_find(struct rh_report *report)
{
    struct rh_report_candidate *all = report->candidates.data;
    report->races = 0;
    for (size_t i = 0; i < report->candidates.len; i++) {
        all[i].leader = i;
        if (all[i].verdict != RH_VERDICT_TRUE_RACE)
            continue;
        for (size_t k = 0; k < i && all[i].leader == i; k++)
            if (all[k].leader == k && all[k].verdict == RH_VERDICT_TRUE_RACE &&
                are_same_lines(&all[k], &all[i]))
                all[i].leader = k;
        report->races += all[i].leader == i;
    }
}

bool rh_group_leads(const struct rh_report *report, const struct rh_report_candidate *candidate)
{
    return candidate->verdict == RH_VERDICT_TRUE_RACE &&
           candidate->leader == (size_t)(candidate - report->candidates.data);
}

const struct rh_report_candidate *rh_group_next(const struct rh_report *report,
                                                const struct rh_report_candidate *after)
{
    const struct rh_report_candidate *end = report->candidates.data + report->candidates.len;
    for (const struct rh_report_candidate *it = after + 1; it < end; it++)
        if (it->verdict == RH_VERDICT_TRUE_RACE && it->leader == after->leader)
            return it;
    return NULL;
}
