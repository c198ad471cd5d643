/* SPDX-License-Identifier: Apache-2.0 */
/* What detectors conclude from an access: see judge.h. */
#include "judge.h"

#include "evidence/findings.h"
#include "evidence/pause.h"
#include "keys.h"
#include "state.h"

/* --- collisions --- */

/* The access of the thread that collided comes first: the paused one goes on after it. */
static void tell_collision(struct rt_thread *self, const struct rt_visit *v,
                           const struct rt_meeting *meeting)
{
    struct rt_witness first;
    rt_witness_take(self, v->access, &first);
    const struct rt_finding f = {.proof = RH_PROOF_COLLISION,
                                 .pause_us = meeting->paused_us,
                                 .first = &first,
                                 .second = &meeting->paused};
    if (rt_finding_report(&f))
        rt_plan_count(&rt_plan_result(v->index)->raced[rt_plan_order_if_first(v)]);
    rt_plan_note(v->index, RH_SEEN_MEET | RH_SEEN_THREADS);
}

static void judge_meeting(struct rt_thread *self, const struct rt_visit *v, uint64_t limit)
{
    struct rt_meeting meeting;
    if (rt_pause_meet(self, v->index, v->other, v->access, limit, &meeting))
        tell_collision(self, v, &meeting);
}

void rt_judge_meeting(struct rt_thread *self, const struct rt_visit *v)
{
    judge_meeting(self, v, RT_ANY_MOMENT);
}

/* --- order --- */

static void tell_unordered(struct rt_thread *self, const struct rt_visit *v,
                           const struct rt_witness *first)
{
    struct rt_witness second;
    rt_witness_take(self, v->access, &second);
    const struct rt_finding f = {.proof = RH_PROOF_UNORDERED, .first = first, .second = &second};
    if (rt_finding_report(&f))
        rt_plan_count(&rt_plan_result(v->index)->raced[rt_plan_order_if_second(v)]);
}

static void judge_order(struct rt_thread *self, const struct rt_visit *v, uint64_t limit)
{
    struct rt_order_comparison compared;
    rt_order_compare(self, v->index, v->other, v->access, limit, &compared);
    if (compared.ordered)
        rt_plan_count(&rt_plan_result(v->index)->ordered[rt_plan_order_if_second(v)]);
    if (compared.raced)
        tell_unordered(self, v, &compared.first);
}

void rt_judge_order(struct rt_thread *self, const struct rt_visit *v)
{
    judge_order(self, v, RT_ANY_MOMENT);
}

/* --- atomics that may acquire --- */

static bool comes_back(const struct rt_access *a)
{
    const struct rt_image *image = a->image->runtime;
    return image->after_key[a->site] != RT_NO_KEY;
}

static void enter(struct rt_thread *self, const struct rt_access *a)
{
    rt_state_of(self)->entered = (struct rt_entered){a->image, a->site, atomic_load(&rt_moment)};
}

void rt_judge_after(struct rt_thread *self, const struct rt_visit *v)
{
    struct rt_entered entered = rt_state_of(self)->entered;
    if (entered.image != v->access->image || entered.site != v->access->site)
        return;
    judge_meeting(self, v, entered.moment);
    judge_order(self, v, entered.moment);
}

void rt_judge_leave(struct rt_thread *self)
{
    rt_state_of(self)->entered.image = NULL;
}

/* --- the hook before an access --- */

void rt_judge_before(struct rt_thread *self, const struct rt_visit *v,
                     void (*pause)(struct rt_thread *, const struct rt_visit *))
{
    rt_judge_meeting(self, v);
    if (!comes_back(v->access))
        rt_judge_order(self, v);
    if (pause)
        pause(self, v);
    if (rt_order_track(self, v->index, v->side, v->access))
        rt_plan_count(&rt_plan_result(v->index)->tracked);
    if (comes_back(v->access))
        enter(self, v->access);
}

void rt_judge_note(struct rt_thread *self, const struct rt_visit *v)
{
    v->plan->executions[self->slot % RT_PLAN_STRIPES][v->index][v->side]++;
    rt_plan_note(v->index,
                 rt_meetings_note(&v->task->meetings, v->side, v->other, self, v->access));
}

/* What an atomic gives away includes itself: whoever acquires from it is ordered behind it. So this
 * comes after it was tracked. */
void rt_judge_release(struct rt_thread *self, const struct rt_access *a)
{
    if (a->kind != RH_ACCESS_READ && a->kind != RH_ACCESS_WRITE)
        rt_order_before(self, a);
}

/* --- accesses that are known only inside a call --- */

void rt_judge_open(struct rt_thread *self, const struct rt_access *a)
{
    if (rt_unlikely(a->flags & (RH_SITE_AT_LEAST | RH_SITE_PARTIAL)))
        rt_state_of(self)->open_access =
            (struct rt_open_access){a->image, a->site, self->metered, a->address};
}

/* `partial`: RH_SITE_PARTIAL, if the site is to have that flag. */
static bool close_access(struct rt_thread *self, uintptr_t start, size_t size, uint16_t partial,
                         struct rt_access *a)
{
    struct rt_open_access *open = &rt_state_of(self)->open_access;
    if (!open->image || open->address != start)
        return false;
    const struct rh_site_record *site = &open->image->sites[open->site];
    if ((site->flags & RH_SITE_PARTIAL) != partial)
        return false;
    *a = (struct rt_access){
        .image = open->image,
        .site = open->site,
        .kind = site->access,
        .flags = site->flags & (uint16_t)~RH_SITE_PARTIAL,
        .address = start,
        .size = size,
    };
    open->image = NULL;
    return true;
}

bool rt_judge_close(struct rt_thread *self, uintptr_t start, size_t size, struct rt_access *a)
{
    return close_access(self, start, size, 0, a);
}

/* Few hooks and events lie between that of the site and the use, if both are of one call: else the
 * site has nothing to do with it. */
bool rt_judge_close_use(struct rt_thread *self, const struct rt_use *use, struct rt_access *a)
{
    enum { MOST_BETWEEN = 4 };
    uint32_t when = rt_state_of(self)->open_access.when;
    return self->metered - when <= MOST_BETWEEN &&
           close_access(self, use->address, use->size, RH_SITE_PARTIAL, a) &&
           use->is_write == (a->kind == RH_ACCESS_WRITE);
}
