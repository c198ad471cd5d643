/* SPDX-License-Identifier: Apache-2.0 */
/* Where a run's scout shall look: see focus.h. */
#include "hive/focus.h"

#include <string.h>

/* What is known of a site while wishes are made: a wish, or that it stays as it is. */
enum standing {
    OPEN = RH_SCOUT_USUAL,
    IN_FOCUS = RH_SCOUT_FOCUS,
    KNOWN = RH_SCOUT_SKIP,
    KEPT, /* in a pair without a common lock: usual, and never skipped */
};

static bool is_worth_focus(const struct rh_runs_met *met)
{
    return met->unlocked > 0 && !met->has_raced &&
           (met->unordered > 0 || met->ordered < RH_FOCUS_ORDERED_RUNS);
}

static void mark(uint8_t *wishes, size_t count, uint32_t site, enum standing standing)
{
    if (site < count && wishes[site] != IN_FOCUS)
        wishes[site] = (uint8_t)standing;
}

static void mark_pairs(const struct rh_runs_met_vec *list, uint8_t *wishes, size_t count)
{
    for (size_t i = 0; i < list->len; i++) {
        const struct rh_runs_met *met = &list->data[i];
        enum standing standing = is_worth_focus(met) ? IN_FOCUS : KEPT;
        if (met->unlocked == 0)
            continue;
        mark(wishes, count, met->candidate.first, standing);
        mark(wishes, count, met->candidate.second, standing);
    }
}

static bool is_known(const struct rh_runs_site *site)
{
    return site->runs >= RH_FOCUS_SITE_RUNS || site->in_threads >= RH_FOCUS_THREAD_RUNS;
}

static void mark_sites(const struct rh_runs_site_vec *list, uint8_t *wishes, size_t count)
{
    for (size_t i = 0; i < list->len; i++) {
        const struct rh_runs_site *site = &list->data[i];
        if (site->number < count && wishes[site->number] == OPEN && is_known(site))
            wishes[site->number] = KNOWN;
    }
}

enum rh_status rh_focus_wish(struct rh_runs *runs, uint64_t chance, uint8_t *wishes, size_t count)
{
    struct rh_runs_met_vec met = RH_VEC_INIT;
    struct rh_runs_site_vec sites = RH_VEC_INIT;
    memset(wishes, OPEN, count);
    enum rh_status status = rh_runs_list_met(runs, &met);
    if (status == RH_OK)
        mark_pairs(&met, wishes, count);
    if (status == RH_OK && chance % RH_FOCUS_ALL_ONE_IN != 0)
        status = rh_runs_list_sites(runs, &sites);
    if (status == RH_OK)
        mark_sites(&sites, wishes, count);
    for (size_t i = 0; i < count; i++)
        if (wishes[i] == KEPT)
            wishes[i] = RH_SCOUT_USUAL;
    rh_vec_free(&met);
    rh_vec_free(&sites);
    return status;
}
