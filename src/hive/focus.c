/* SPDX-License-Identifier: Apache-2.0 */
/* Where a run's scout shall look: see focus.h. */
#include "hive/focus.h"

#include "base/hash.h"

/* A race that was proved is found; order is believed the more, the more runs have seen it. */
static bool is_in_focus(const struct rh_runs_met *met, uint64_t chance)
{
    if (met->unlocked + met->hinted + met->elsewhere == 0 || met->has_raced)
        return false;
    if (met->unordered > 0)
        return true;
    struct rh_hash hash;
    rh_hash_init(&hash);
    rh_hash_add_u64(&hash, chance);
    rh_hash_add_u64(&hash, met->candidate.id);
    return rh_hash_finish(&hash) % (RH_FOCUS_HALF_LIFE + met->ordered) < RH_FOCUS_HALF_LIFE;
}

static uint8_t *wish_of(uint32_t site, const struct rh_focus_image *images, size_t count)
{
    struct rh_site_name name = rh_site_name_of(site);
    bool is_there = name.image < count && name.site < images[name.image].count;
    return is_there ? &images[name.image].wishes[name.site] : NULL;
}

static void mark_pairs(const struct rh_runs_met_vec *list, uint64_t chance,
                       const struct rh_focus_image *images, size_t count)
{
    for (size_t i = 0; i < list->len; i++) {
        const struct rh_runs_candidate *pair = &list->data[i].candidate;
        if (!is_in_focus(&list->data[i], chance))
            continue;
        uint8_t *first = wish_of(pair->first, images, count);
        uint8_t *second = wish_of(pair->second, images, count);
        if (first)
            *first = RH_SCOUT_FOCUS;
        if (second)
            *second = RH_SCOUT_FOCUS;
    }
}

static void mark_sites(const struct rh_runs_site_vec *list, bool may_be_known,
                       const struct rh_focus_image *images, size_t count)
{
    for (size_t i = 0; i < list->len; i++) {
        const struct rh_runs_site *site = &list->data[i];
        bool is_known = may_be_known && (site->runs >= RH_FOCUS_SITE_RUNS ||
                                         site->in_threads >= RH_FOCUS_THREAD_RUNS);
        uint8_t *wish = wish_of(site->number, images, count);
        if (wish && *wish == RH_SCOUT_USUAL)
            *wish = is_known ? RH_SCOUT_KNOWN : RH_SCOUT_RAN;
    }
}

/* What so many runs have not seen is not likely to run in the next. */
static void mark_unseen(const struct rh_focus_image *images, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t site = 0; site < images[i].count; site++)
            if (images[i].wishes[site] == RH_SCOUT_USUAL)
                images[i].wishes[site] = RH_SCOUT_KNOWN;
}

enum rh_status rh_focus_wish(struct rh_runs *runs, uint64_t chance,
                             const struct rh_focus_image *images, size_t count)
{
    struct rh_runs_met_vec met = RH_VEC_INIT;
    struct rh_runs_site_vec sites = RH_VEC_INIT;
    struct rh_runs_totals totals = {0};
    bool may_be_known = chance % RH_FOCUS_ALL_ONE_IN != 0;
    enum rh_status status = rh_runs_list_met(runs, &met);
    if (status == RH_OK)
        mark_pairs(&met, chance, images, count);
    if (status == RH_OK)
        status = rh_runs_list_sites(runs, &sites);
    if (status == RH_OK)
        mark_sites(&sites, may_be_known, images, count);
    if (status == RH_OK && may_be_known)
        status = rh_runs_sum(runs, &totals);
    if (status == RH_OK && totals.runs >= RH_FOCUS_SITE_RUNS)
        mark_unseen(images, count);
    rh_vec_free(&met);
    rh_vec_free(&sites);
    return status;
}
