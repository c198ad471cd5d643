/* SPDX-License-Identifier: Apache-2.0 */
/* Sites that met: see meet.h. Runs in hooks: no lock, no libc. */
#include "scout/meet.h"

#include "evidence/depot.h"
#include "evidence/findings.h"
#include "scout/kin.h"
#include "scout/sites.h"
#include "shared.h"

/* --- counting --- */

/* A table that is nearly full is not worth a longer search. */
enum { TRIES = 32, OFTEN = 1000 };

static struct rh_met_pair *find(struct rh_scout *page, uint64_t sites)
{
    uint64_t at = sites * 0x9e3779b97f4a7c15ull >> (64 - RH_MET_BITS);
    for (uint32_t i = 0; i < TRIES; i++, at = (at + 1) % RH_MET_PAIRS) {
        struct rh_met_pair *pair = &page->met[at];
        uint64_t there = atomic_load_explicit(&pair->sites, memory_order_relaxed);
        if (!there && atomic_compare_exchange_strong(&pair->sites, &there, sites))
            return pair;
        if (there == sites)
            return pair;
    }
    atomic_fetch_add_explicit(&page->met_lost, 1, memory_order_relaxed);
    return NULL;
}

/* Beyond OFTEN nobody needs the number, and threads that meet all the time would fight for it. */
static uint32_t count(_Atomic uint32_t *counter)
{
    uint32_t before = atomic_load_explicit(counter, memory_order_relaxed);
    if (before < OFTEN)
        atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
    return before;
}

static enum rt_met note(uint32_t first, uint32_t second, bool is_ordered, bool shares_a_lock)
{
    struct rh_met_pair *pair = find(&rt_shared()->scout, rh_met_sites(first, second));
    if (!pair)
        return is_ordered ? RT_MET_KNOWN : RT_MET_RACE;
    uint32_t before = count(&pair->counts[is_ordered ? RH_MET_ORDERED : RH_MET_UNORDERED]);
    count(&pair->counts[shares_a_lock ? RH_MET_LOCKED : RH_MET_UNLOCKED]);
    if (!is_ordered)
        return before ? RT_MET_RACE : RT_MET_FIRST_RACE;
    return before && shares_a_lock ? RT_MET_KNOWN : RT_MET_NEWS;
}

static void tell_sites(uint32_t first, uint32_t second, enum rt_scout_news news)
{
    struct rh_site_name names[] = {rh_site_name_of(first), rh_site_name_of(second)};
    rt_scout_sites_news(names[0], news);
    rt_scout_sites_news(names[1], news);
    if (news != RT_SCOUT_MET)
        rt_kin_link(rt_scout_sites_kin(names[0]), rt_scout_sites_kin(names[1]));
}

bool rt_meet_collided(uint32_t first, uint32_t second)
{
    enum { REPORTED = 2 };
    struct rh_met_pair *pair = find(&rt_shared()->scout, rh_met_sites(first, second));
    if (!pair)
        return true;
    count(&pair->counts[RH_MET_UNORDERED]);
    count(&pair->counts[RH_MET_UNLOCKED]);
    tell_sites(first, second, RT_SCOUT_SUSPECT);
    return count(&pair->counts[RH_MET_COLLIDED]) < REPORTED;
}

void rt_meet_hint(uint32_t first, uint32_t second)
{
    struct rh_met_pair *pair = find(&rt_shared()->scout, rh_met_sites(first, second));
    if (pair && !count(&pair->counts[RH_MET_HINTED]))
        tell_sites(first, second, RT_SCOUT_PROMISING);
}

void rt_meet_unjudged(uint32_t first, uint32_t second, bool shares_a_lock)
{
    struct rh_met_pair *pair = find(&rt_shared()->scout, rh_met_sites(first, second));
    if (pair)
        count(&pair->counts[shares_a_lock ? RH_MET_LOCKED : RH_MET_UNLOCKED]);
}

/* --- races --- */

/* Without the stack of the earlier access, its site is all that is known. */
static void recall(const struct rt_recent *earlier, uintptr_t granule, struct rt_witness *w)
{
    struct rh_site_name site = rh_site_name_of(earlier->site);
    if (rt_depot_get(earlier->witness, &site, granule, RT_GRANULE, w))
        return;
    w->site = site;
    w->thread = w->parent = 0;
    w->frame_count = w->lock_count = 0;
    w->address = granule;
    w->size = RT_GRANULE;
}

static void report(const struct rt_comer *m, const struct rt_recent *earlier)
{
    struct rt_witness first, second;
    recall(earlier, m->granule, &first);
    rt_witness_take(m->self, m->access, &second);
    rt_finding_report(
        &(struct rt_finding){.proof = RH_PROOF_UNORDERED, .first = &first, .second = &second});
}

enum rt_met rt_meet(const struct rt_comer *m, const struct rt_recent *earlier, bool shares_a_lock)
{
    bool is_ordered = rt_clocks_knows(m->clocks, earlier->slot, earlier->epoch);
    enum rt_met met = note(m->later->site, earlier->site, is_ordered, shares_a_lock);
    if (met == RT_MET_KNOWN)
        return met;
    tell_sites(m->later->site, earlier->site,
               !is_ordered      ? RT_SCOUT_SUSPECT
               : !shares_a_lock ? RT_SCOUT_PROMISING
                                : RT_SCOUT_MET);
    if (met == RT_MET_FIRST_RACE || (met == RT_MET_RACE && earlier->witness))
        report(m, earlier);
    return met;
}
