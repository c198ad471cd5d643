/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The detector `alias`: a dynamic alias analysis. All candidate sites are watched all the time, and
 * every pair of them that touches common bytes in two threads, one writing, is counted as met, with
 * or without a common lock. It is exact and has no budget: it is for tests, and the measure of what
 * the scout sees. It says nothing of order, and so reports no races.
 *
 * How it works: for every granule of eight bytes there is a list of the accesses that differ in
 * site, thread, locks, bytes or kind (alias/pages.h). An access that is in the list already has
 * nothing new to show. Memory that is given back loses its lists: what comes there later is about
 * something else.
 */
#include "alias/locks.h"
#include "alias/pages.h"
#include "detect.h"
#include "judge.h"
#include "keys.h"
#include "scout/meet.h"
#include "shared.h"
#include "state.h"

static void meet(const struct rt_recent *later, const struct rt_recent *earlier)
{
    rt_meet_unjudged(later->site, earlier->site, rt_alias_share(later->locks, earlier->locks));
}

static void watch(const struct rt_thread *self, const struct rt_access *a, bool keep)
{
    struct rt_recent access = rt_recent_of(self, a, keep);
    uintptr_t end = a->address + a->size, at = a->address & -(uintptr_t)RT_GRANULE;
    access.locks = rt_alias_locks(self);
    for (; at < end; at += RT_GRANULE) {
        access.bytes = rt_recent_bytes(at, a->address, end);
        rt_alias_visit(at, &access, meet);
    }
}

/* Of a masked access nobody knows which bytes it touches. */
static void alias_access(struct rt_thread *self, const struct rt_access *a)
{
    enum { FIRST_PAGE = 4096 };
    rt_judge_open(self, a);
    if (!a->ignored && self->in_hook == 1 && a->address >= FIRST_PAGE &&
        !(a->flags & RH_SITE_PARTIAL) && a->kind != RH_ACCESS_FENCE)
        watch(self, a, true);
}

static void alias_after(struct rt_thread *self, const struct rt_access *a)
{
    (void)self;
    (void)a; /* it was watched before */
}

/* Only for the list of locks that each thread holds. */
static void alias_sync(struct rt_thread *self, enum rt_sync what, const volatile void *object)
{
    (void)self;
    (void)what;
    (void)object;
}

static void alias_use(struct rt_thread *self, const struct rt_use *use)
{
    struct rt_access a;
    if (self->in_hook == 1 && rt_judge_close_use(self, use, &a))
        watch(self, &a, true);
}

static void alias_gone(struct rt_thread *self, uintptr_t start, size_t size)
{
    struct rt_access a;
    if (self->in_hook != 1)
        return;
    if (rt_judge_close(self, start, size, &a))
        watch(self, &a, false);
    rt_alias_forget(start, size);
}

static void alias_thread_begin(struct rt_thread *self)
{
    if (!self->adopted && self->stack_high > self->stack_low)
        rt_alias_forget(self->stack_low, self->stack_high - self->stack_low);
}

static bool alias_start(void)
{
    atomic_fetch_add(&rt_memory_live, 1);
    return rt_shared() && rt_alias_start() && rt_alias_locks_start() && rt_keys_all(true);
}

static void alias_after_fork(struct rt_thread *self)
{
    (void)self;
    rt_alias_after_fork();
}

/* What was found is in the shared memory of the run. */
static void alias_finish(void)
{
}

const struct rt_detector rt_detector_alias = {
    .thread_size = sizeof(struct rt_state),
    .start = alias_start,
    .access = alias_access,
    .after = alias_after,
    .wants_syncs = true,
    .sync = alias_sync,
    .use = alias_use,
    .gone = alias_gone,
    .thread_begin = alias_thread_begin,
    .after_fork = alias_after_fork,
    .finish = alias_finish,
};
