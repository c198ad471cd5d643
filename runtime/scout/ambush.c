/* SPDX-License-Identifier: Apache-2.0 */
/* Ambushes: see ambush.h. Runs in hooks: no lock, no libc. */
#include "scout/ambush.h"

#include "budget.h"
#include "evidence/findings.h"
#include "keys.h"
#include "scout/meet.h"
#include "shared.h"
#include "thread.h"

enum { MOST_AT_ONCE = 2, HALF = 500000 };

static _Atomic uint32_t lying; /* threads in ambush, or about to be */

static bool writes(const struct rt_access *a)
{
    return a->kind != RH_ACCESS_READ && a->kind != RH_ACCESS_ATOMIC_READ;
}

/* --- who comes --- */

static uint32_t word_of(const struct rt_access *a)
{
    const struct rt_image *image = a->image->runtime;
    return rh_site_word(image->number, a->site);
}

static void report(struct rt_thread *self, const struct rt_access *a,
                   const struct rt_meeting *meeting)
{
    struct rt_witness comer;
    struct rh_site_name paused = meeting->paused.site;
    if (!rt_meet_collided(word_of(a), rh_site_word(paused.image, paused.site)))
        return;
    rt_witness_take(self, a, &comer);
    rt_finding_report(&(struct rt_finding){.proof = RH_PROOF_COLLISION,
                                           .pause_us = meeting->paused_us,
                                           .first = &comer,
                                           .second = &meeting->paused});
    atomic_fetch_add_explicit(&rt_shared()->scout.collisions, 1, memory_order_relaxed);
}

void rt_ambush_meet(struct rt_thread *self, const struct rt_access *a)
{
    struct rt_meeting meeting;
    uint32_t at = 0;
    if (rt_likely(!atomic_load_explicit(&lying, memory_order_relaxed)))
        return;
    while (rt_pause_meet_ambush(self, a, writes(a), &at, &meeting))
        report(self, a, &meeting);
}

/* --- who waits --- */

enum rt_pause_end rt_ambush(struct rt_thread *self, const struct rt_access *a, uint32_t us)
{
    enum rt_pause_end end = RT_PAUSE_REFUSED;
    if (atomic_fetch_add(&lying, 1) < MOST_AT_ONCE && !rt_thread_is_alone() &&
        rt_budget_pause_room((uint64_t)us * 1000) > HALF) {
        end = rt_pause(self, RT_PAUSE_AMBUSH, writes(a) ? RT_SIDE_SECOND : RT_SIDE_FIRST, a, us);
        if (end != RT_PAUSE_REFUSED)
            atomic_fetch_add_explicit(&rt_shared()->scout.ambushes, 1, memory_order_relaxed);
    }
    atomic_fetch_sub(&lying, 1);
    return end;
}

void rt_ambush_after_fork(void)
{
    atomic_store(&lying, 0);
}
