/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run is asked to do, for detectors that work on tasks: which sites are watched for which
 * tasks, their keys, their executions, and what is given up when the budget is spent.
 *
 * How it works: a site is looked up in a small table that says for which tasks it is the first or
 * the second. Hooks take the plan once; it is changed only when no hook is in it. Keys are switched
 * on with the plan, and all off while the budget is overdrawn: a task that is only watched,
 * and that took a good part of it, does not come back in this run.
 */
#ifndef RH_RUNTIME_PLAN_H
#define RH_RUNTIME_PLAN_H

#include "meetings.h"
#include "order.h"

enum { RT_PLAN_SITES = 256, RT_PLAN_STRIPES = 16 };

/* A site, and the tasks of which it is the first or the second, as bits. */
struct rt_plan_site {
    uint32_t word; /* rh_site_word, plus 1; 0: free */
    uint64_t first, second;
};

struct rt_task {
    struct rh_task task;
    bool same;            /* its two sites are one */
    bool dropped;         /* too hot to be worth its cost: off for the rest of the run */
    _Atomic bool steered; /* the attempt has been made */
    uint32_t more;        /* attempts to make yet, of a task of the run's own */
    _Atomic uint32_t skipped;
    struct rt_meetings meetings;
};

struct rt_plan {
    uint32_t count;
    struct rt_task tasks[RH_MAX_TASKS];
    struct rt_plan_site sites[RT_PLAN_SITES];
    /* Executions of first and second, as threads count them: no two threads of the same stripe run
     * often enough at the same moment to matter. */
    uint64_t executions[RT_PLAN_STRIPES][RH_MAX_TASKS][2];
};

/* One access, seen as one side of one task. */
struct rt_visit {
    struct rt_plan *plan;
    struct rt_task *task;
    uint32_t index; /* of the task */
    enum rt_side side, other;
    const struct rt_access *access;
};

/* Takes new tasks and switches their keys on, and with `with_order` those of all atomics and
 * fences. False: a thread is still in a hook of the old plan, try again soon. */
RT_HIDDEN bool rt_plan_take(const struct rh_task *tasks, uint32_t count, bool with_order);
/* Adds a task of the run's own, which is steered to one order and the other by turns, so many
 * times, until it is proved. By the runtime's own thread. False if there is no room. */
RT_HIDDEN bool rt_plan_add(const struct rh_task *task, uint32_t attempts);
RT_HIDDEN void rt_plan_image(struct rt_image *image);

/* Calls `visit` for each task that the access is a site of, unless it is to be left alone. */
RT_HIDDEN void rt_plan_visit(struct rt_thread *self, const struct rt_access *a,
                             void (*visit)(struct rt_thread *self, const struct rt_visit *v));

/* Looks at the budget: by the runtime's own thread, now and then. */
RT_HIDDEN void rt_plan_tick(void);
/* Writes executions and costs to the shared memory of the run. */
RT_HIDDEN void rt_plan_finish(void);

/* --- results --- */

RT_HIDDEN struct rh_result *rt_plan_result(uint32_t task);
RT_HIDDEN void rt_plan_note(uint32_t task, uint32_t seen); /* enum rh_seen */
static inline void rt_plan_count(_Atomic uint32_t *counter)
{
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* The order in which the access of this visit comes first, or second. A site that races with itself
 * has only one. */
static inline enum rh_race_order rt_plan_order_if_first(const struct rt_visit *v)
{
    return v->task->same || v->side == RT_SIDE_FIRST ? RH_ORDER_PRIMARY : RH_ORDER_ALTERNATE;
}

static inline enum rh_race_order rt_plan_order_if_second(const struct rt_visit *v)
{
    return v->task->same || v->side == RT_SIDE_SECOND ? RH_ORDER_PRIMARY : RH_ORDER_ALTERNATE;
}

#endif
