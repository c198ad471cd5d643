/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The detector `racemob`: validates the candidates that its tasks name.
 *
 * Each access at a site of a task goes through three stages, as far as the task asks for them:
 *   1. meet: do two threads touch the same bytes at the two sites? (meetings.h)
 *   2. order: the access is compared with tracked ones, and with those of paused threads. If
 *      nothing orders it, there is a race. Then it is tracked itself. (order.h)
 *   3. steering: if it would come too early for the order asked for, its thread is paused before
 *      it, once for each task and pause length, or for less if the budget has less. (pause.h)
 *
 * What is found goes into the shared memory of the run at once, so that a run that crashes or is
 * killed has told all it knew.
 */
#include "detect.h"
#include "evidence/pause.h"
#include "judge.h"
#include "options.h"
#include "scout/scout.h"
#include "shared.h"
#include "state.h"
#include "thread.h"

/* --- steering --- */

/* The access that would come too early is the one that is to come second. */
static bool comes_too_early(const struct rt_thread *self, const struct rt_visit *v)
{
    enum rt_side later = v->task->task.order == RH_ORDER_PRIMARY ? RT_SIDE_SECOND : RT_SIDE_FIRST;
    return (v->task->same || v->side == later) &&
           !rt_order_has(self, v->index, v->other, v->access);
}

/* A task of the run's own: the other order, and a longer pause every second time. */
static void try_again(struct rt_task *t)
{
    enum { LONGEST_US = 40000 };
    t->more--;
    t->task.order = !t->task.order;
    if (t->more % 2 == 0 && t->task.pause_us < LONGEST_US)
        t->task.pause_us *= 2;
    atomic_store(&t->steered, false);
}

/* As long as the task asks for, else as the budget still pays for: a run has one attempt, and a
 * pause that can never be paid for would be asked for again and again. */
static enum rt_pause_end pause_thread(struct rt_thread *self, const struct rt_visit *v)
{
    enum { SHORTEST_US = 1000 };
    uint32_t us = v->task->task.pause_us;
    enum rt_pause_end end = rt_pause(self, v->index, v->side, v->access, us);
    while (end == RT_PAUSE_REFUSED && us / 2 >= SHORTEST_US) {
        us /= 2;
        end = rt_pause(self, v->index, v->side, v->access, us);
    }
    return end;
}

static void steer(struct rt_thread *self, const struct rt_visit *v)
{
    struct rt_task *t = v->task;
    if (t->task.stage < RH_STAGE_STEER || !rt_options.steer ||
        atomic_load_explicit(&t->steered, memory_order_relaxed) || !comes_too_early(self, v) ||
        rt_thread_is_alone() || atomic_fetch_add(&t->skipped, 1) < t->task.skip ||
        atomic_exchange(&t->steered, true))
        return;
    enum rt_pause_end end = pause_thread(self, v);
    if (end == RT_PAUSE_REFUSED) {
        rt_plan_note(v->index, RH_SEEN_UNTRACKED);
        return;
    }
    struct rh_result *result = rt_plan_result(v->index);
    rt_plan_count(&result->pauses);
    if (end == RT_PAUSE_MET)
        rt_plan_note(v->index, RH_SEEN_STEERED);
    else
        rt_plan_count(&result->timeouts);
    if (end != RT_PAUSE_MET && t->more)
        try_again(t);
}

/* --- accesses --- */

/* Once its sites have met, a candidate goes on to the next stage in the same run. */
static bool is_in_order_stage(const struct rt_visit *v)
{
    uint32_t seen = atomic_load_explicit(&rt_plan_result(v->index)->seen, memory_order_relaxed);
    return (v->task->task.stage >= RH_STAGE_ORDER || seen & RH_SEEN_MEET) &&
           rt_judge_knows_bytes(v->access);
}

static void visit_before(struct rt_thread *self, const struct rt_visit *v)
{
    rt_judge_note(self, v);
    if (is_in_order_stage(v))
        rt_judge_before(self, v, steer);
}

static void visit_after(struct rt_thread *self, const struct rt_visit *v)
{
    if (is_in_order_stage(v))
        rt_judge_after(self, v);
}

static void visit_gone(struct rt_thread *self, const struct rt_visit *v)
{
    if (!is_in_order_stage(v))
        return;
    rt_judge_meeting(self, v);
    rt_judge_order(self, v);
}

static void racemob_access(struct rt_thread *self, const struct rt_access *a)
{
    rt_judge_open(self, a);
    rt_scout_access(self, a);
    rt_plan_visit(self, a, visit_before);
    rt_judge_release(self, a);
}

static void racemob_after(struct rt_thread *self, const struct rt_access *a)
{
    rt_order_after(self, a);
    rt_scout_after(self, a);
    rt_plan_visit(self, a, visit_after);
    rt_judge_leave(self);
}

static void racemob_gone(struct rt_thread *self, uintptr_t start, size_t size)
{
    struct rt_access a;
    bool is_site = rt_judge_close(self, start, size, &a);
    if (is_site)
        rt_plan_visit(self, &a, visit_gone);
    rt_scout_gone(self, is_site ? &a : NULL, start, size);
    rt_order_gone(start, size);
}

/* A call has come to touch the memory that its site told of. */
static void visit_use(struct rt_thread *self, const struct rt_visit *v)
{
    if (is_in_order_stage(v))
        rt_judge_before(self, v, NULL);
}

static void racemob_use(struct rt_thread *self, const struct rt_use *use)
{
    struct rt_access a;
    if (self->in_hook != 1 || !rt_judge_close_use(self, use, &a))
        return;
    rt_plan_visit(self, &a, visit_use);
    rt_scout_use(self, &a);
}

/* --- the run --- */

static void count_learned(uint32_t task)
{
    rt_plan_count(&rt_plan_result(task)->learned);
}

static bool racemob_start(void)
{
    rt_order_learned = count_learned;
    return rt_shared() && rt_scout_start(offsetof(struct rt_state, scout));
}

static bool racemob_tasks(const struct rh_task *tasks, uint32_t count)
{
    bool with_order = false;
    for (uint32_t i = 0; i < count; i++)
        with_order |= tasks[i].stage >= RH_STAGE_ORDER;
    return rt_plan_take(tasks, count, with_order);
}

static void racemob_after_fork(struct rt_thread *self)
{
    rt_scout_after_fork();
    rt_pause_after_fork();
    rt_order_after_fork(self);
}

static void racemob_sync(struct rt_thread *self, enum rt_sync what, const volatile void *object)
{
    rt_order_sync(self, what, object);
    rt_scout_sync(self, what, object);
}

static void racemob_thread_begin(struct rt_thread *self)
{
    rt_order_thread_begin(self);
    rt_scout_thread_begin(self);
}

/* What the scout found unordered and cannot prove, because the process may synchronise unseen, is
 * steered in the same run. The rarer access is the one to wait first: the other comes sooner. */
static void steer_suspects(void)
{
    enum { FIRST_PAUSE_US = 2000, ATTEMPTS = 8 };
    struct rh_task task = {.stage = RH_STAGE_STEER, .pause_us = FIRST_PAUSE_US};
    bool is_second_rarer;
    while (rt_scout_next_suspect(&task.first, &task.second, &is_second_rarer)) {
        task.order = is_second_rarer ? RH_ORDER_PRIMARY : RH_ORDER_ALTERNATE;
        rt_plan_add(&task, ATTEMPTS);
    }
}

static void racemob_image(struct rt_image *image)
{
    rt_plan_image(image);
    rt_scout_image(image);
}

static void racemob_tick(void)
{
    rt_plan_tick();
    rt_scout_tick();
    steer_suspects();
}

const struct rt_detector rt_detector_racemob = {
    .thread_size = sizeof(struct rt_state),
    .pause_floor_ms = 10000,
    .start = racemob_start,
    .access = racemob_access,
    .after = racemob_after,
    .sync = racemob_sync,
    .thread_begin = racemob_thread_begin,
    .creating = rt_scout_creating,
    .use = racemob_use,
    .gone = racemob_gone,
    .after_fork = racemob_after_fork,
    .finish = rt_plan_finish,
    .tasks = racemob_tasks,
    .image = racemob_image,
    .image_gone = rt_scout_image_gone,
    .tick = racemob_tick,
};
