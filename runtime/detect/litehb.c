/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The detector `litehb`: happens-before on demand for the candidates that its tasks name, without a
 * pause: what racemob's second stage sees of a run that is left alone. With full_order=1 it follows
 * synchronisation from the beginning and not only from the first access, for comparing what that
 * costs.
 */
#include "detect.h"
#include "judge.h"
#include "options.h"
#include "shared.h"
#include "state.h"

static void visit_before(struct rt_thread *self, const struct rt_visit *v)
{
    rt_judge_note(self, v);
    if (rt_judge_knows_bytes(v->access))
        rt_judge_before(self, v, NULL);
}

static void visit_after(struct rt_thread *self, const struct rt_visit *v)
{
    if (rt_judge_knows_bytes(v->access))
        rt_judge_after(self, v);
}

static void visit_gone(struct rt_thread *self, const struct rt_visit *v)
{
    if (rt_judge_knows_bytes(v->access))
        rt_judge_order(self, v);
}

static void litehb_access(struct rt_thread *self, const struct rt_access *a)
{
    rt_judge_open(self, a);
    rt_plan_visit(self, a, visit_before);
    rt_judge_release(self, a);
}

static void litehb_after(struct rt_thread *self, const struct rt_access *a)
{
    rt_order_after(self, a);
    rt_plan_visit(self, a, visit_after);
    rt_judge_leave(self);
}

static void litehb_gone(struct rt_thread *self, uintptr_t start, size_t size)
{
    struct rt_access a;
    if (rt_judge_close(self, start, size, &a))
        rt_plan_visit(self, &a, visit_gone);
    rt_order_gone(start, size);
}

static void count_learned(uint32_t task)
{
    rt_plan_count(&rt_plan_result(task)->learned);
}

static bool litehb_start(void)
{
    rt_order_learned = count_learned;
    if (rt_options.full_order)
        rt_sync_need();
    return rt_shared() != NULL;
}

static bool litehb_tasks(const struct rh_task *tasks, uint32_t count)
{
    return rt_plan_take(tasks, count, true);
}

const struct rt_detector rt_detector_litehb = {
    .thread_size = sizeof(struct rt_state),
    .start = litehb_start,
    .access = litehb_access,
    .after = litehb_after,
    .sync = rt_order_sync,
    .thread_begin = rt_order_thread_begin,
    .gone = litehb_gone,
    .after_fork = rt_order_after_fork,
    .finish = rt_plan_finish,
    .tasks = litehb_tasks,
    .image = rt_plan_image,
    .tick = rt_plan_tick,
};
