/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The detector `racechaser`: collision analysis for an ordered pair of sites, under a hard bound.
 *
 * At the site that is to come second, a thread is paused with probability P_freq * P_budget. P_freq
 * is one divided by the number of its visits, so that early accesses count most and hot ones soon
 * cost nothing. P_budget is the share of the budget that would be left after the pause, so that the
 * bound is approached and never exceeded. At the other site a thread looks whether another is
 * paused before an access to the same bytes. No synchronisation is followed: a collision is a proof
 * without it.
 *
 * During a pause the bytes of the access are watched. A value that changes is a race with an access
 * that is not at the other site (change.h), and the processor may tell whose it is (watchpoint.h).
 */
#include "budget.h"
#include "change.h"
#include "detect.h"
#include "evidence/findings.h"
#include "evidence/pause.h"
#include "judge.h"
#include "options.h"
#include "scout/scout.h"
#include "shared.h"
#include "state.h"
#include "sys.h"
#include "watchpoint.h"

/* The site that waits is the one that is to come second. */
static bool is_to_wait(const struct rt_visit *v)
{
    enum rt_side waits = v->task->task.order == RH_ORDER_PRIMARY ? RT_SIDE_SECOND : RT_SIDE_FIRST;
    return v->task->same || v->side == waits;
}

/* The cheap half first: with the count of visits growing, it mostly ends here. */
static bool is_chosen(struct rt_thread *self, uint64_t delay_ns)
{
    enum { MILLION = 1000000 };
    uint64_t *random = rt_state_random(self, rt_arch_ticks());
    uint64_t visits = ++rt_state_of(self)->visits;
    if (rh_random(random) % visits)
        return false;
    return rh_random_below(random, MILLION) < rt_budget_pause_room(delay_ns);
}

/* The uninstrumented access came first. `writer` says what the watchpoint has seen of it. */
static void tell_uninstrumented(struct rt_thread *self, const struct rt_visit *v,
                                enum rh_proof proof, uint32_t pause_us, struct rt_witness *writer)
{
    struct rt_witness paused;
    rt_witness_take(self, v->access, &paused);
    writer->site = (struct rh_site_name){.image = RH_NO_IMAGE};
    writer->address = paused.address;
    writer->size = paused.size;
    writer->lock_count = 0;
    if (proof == RH_PROOF_CHANGED)
        writer->thread = writer->parent = writer->frame_count = 0;
    const struct rt_finding f = {
        .proof = proof, .pause_us = pause_us, .first = writer, .second = &paused};
    rt_finding_report(&f);
}

/* Pauses the thread and watches its bytes. A thread that comes to the other site explains a change,
 * and is the better evidence. */
static enum rt_pause_end pause_and_watch(struct rt_thread *self, const struct rt_visit *v,
                                         uint32_t us)
{
    struct rt_change change;
    struct rt_witness writer;
    rt_change_begin(v->access, &change);
    bool is_watched = change.size && rt_watchpoint_ask(self, change.address, change.size);
    enum rt_pause_end end = rt_pause(self, v->index, v->side, v->access, us);
    bool changed = rt_change_end(&change) && end == RT_PAUSE_TIMED_OUT;
    bool seen = is_watched && rt_watchpoint_end(changed, &writer);
    if (changed)
        tell_uninstrumented(self, v, seen ? RH_PROOF_WATCHPOINT : RH_PROOF_CHANGED,
                            (uint32_t)((rt_sys_monotonic_ns() - change.began_ns) / 1000), &writer);
    return end;
}

static void visit(struct rt_thread *self, const struct rt_visit *v)
{
    if (!rt_judge_knows_bytes(v->access))
        return;
    v->plan->executions[self->slot % RT_PLAN_STRIPES][v->index][v->side]++;
    rt_judge_meeting(self, v);
    uint64_t delay_us = v->task->task.pause_us ? v->task->task.pause_us : rt_options.delay * 1000;
    if (!is_to_wait(v) || !is_chosen(self, delay_us * 1000))
        return;
    enum rt_pause_end end = pause_and_watch(self, v, (uint32_t)delay_us);
    if (end == RT_PAUSE_REFUSED)
        return;
    struct rh_result *result = rt_plan_result(v->index);
    rt_plan_count(&result->pauses);
    if (end == RT_PAUSE_MET)
        rt_plan_note(v->index, RH_SEEN_STEERED);
    else
        rt_plan_count(&result->timeouts);
}

static void racechaser_access(struct rt_thread *self, const struct rt_access *a)
{
    rt_judge_open(self, a);
    rt_scout_access(self, a);
    rt_plan_visit(self, a, visit);
}

static void racechaser_after(struct rt_thread *self, const struct rt_access *a)
{
    rt_scout_after(self, a);
}

static void meet_paused(struct rt_thread *self, const struct rt_visit *v)
{
    rt_judge_meeting(self, v);
}

static void racechaser_use(struct rt_thread *self, const struct rt_use *use)
{
    struct rt_access a;
    if (self->in_hook != 1 || !rt_judge_close_use(self, use, &a))
        return;
    rt_plan_visit(self, &a, meet_paused);
    rt_scout_use(self, &a);
}

static void racechaser_gone(struct rt_thread *self, uintptr_t start, size_t size)
{
    struct rt_access a;
    bool is_site = rt_judge_close(self, start, size, &a);
    if (is_site)
        rt_plan_visit(self, &a, meet_paused);
    rt_scout_gone(self, is_site ? &a : NULL, start, size);
}

static bool racechaser_start(void)
{
    return rt_shared() && rt_scout_start(offsetof(struct rt_state, scout));
}

static bool racechaser_tasks(const struct rh_task *tasks, uint32_t count)
{
    return rt_plan_take(tasks, count, false);
}

static void racechaser_after_fork(struct rt_thread *self)
{
    (void)self;
    rt_scout_after_fork();
    rt_pause_after_fork();
    rt_watchpoint_after_fork();
}

static void racechaser_image(struct rt_image *image)
{
    rt_plan_image(image);
    rt_scout_image(image);
}

static void racechaser_tick(void)
{
    rt_plan_tick();
    rt_scout_tick();
}

const struct rt_detector rt_detector_racechaser = {
    .thread_size = sizeof(struct rt_state),
    .pause_floor_ms = 1000,
    .start = racechaser_start,
    .access = racechaser_access,
    .after = racechaser_after,
    .sync = rt_scout_sync,
    .thread_begin = rt_scout_thread_begin,
    .creating = rt_scout_creating,
    .use = racechaser_use,
    .gone = racechaser_gone,
    .after_fork = racechaser_after_fork,
    .finish = rt_plan_finish,
    .tasks = racechaser_tasks,
    .image = racechaser_image,
    .image_gone = rt_scout_image_gone,
    .tick = racechaser_tick,
    .serve = rt_watchpoint_start,
};
