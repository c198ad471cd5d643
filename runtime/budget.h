/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run loses to the runtime, and how much it may lose.
 *
 * How it works: there are two budgets, each max_overhead of elapsed time.
 *
 * Hooks and synchronisation events cost processor time. Of each thread every 64th is measured and
 * counts for 64, so that measuring costs next to nothing. Elapsed time for them is processor time
 * or wall time, whichever is more, but after five seconds at most twice the processor time: a
 * program that mostly waits must not take several times as much because of us.
 *
 * Pauses cost waiting time. Overlapping pauses count once: what counts is the time during which at
 * least one thread is paused. The budget begins with what a run of some seconds would earn, or
 * short runs could never be steered. A pause is paid for when it begins, as far as others have not
 * paid for the same time, and gets back what it did not use: so the budget is never exceeded, at no
 * moment. A thread that was let go in time and has to wait for a processor is not paused.
 *
 * A measured hook that finds its budget spent raises the alarm. What is given up then is the
 * detector's choice, made by the runtime's own thread. Where a scout runs beside them, tasks have a
 * share of that budget, and an alarm of their own: the sites of a single task may run so often that
 * nothing would be left for all others.
 */
#ifndef RH_RUNTIME_BUDGET_H
#define RH_RUNTIME_BUDGET_H

#include "arch/x86_64/ticks.h"
#include "rt.h"

/* TASKS: hooks of sites that tasks watch, and events while they alone need them. */
enum rt_meter { RT_METER_HOOKS, RT_METER_SYNCS, RT_METER_KEYS, RT_METER_TASKS, RT_METER_COUNT };
enum { RT_METER_EVERY = 64 };

/* `overhead` in parts per million; pauses may always take what `floor_ms` of running would earn. */
RT_HIDDEN void rt_budget_start(uint64_t overhead, uint64_t floor_ms);
/* Renews the size of the budgets; by the runtime's own thread, now and then. */
RT_HIDDEN void rt_budget_tick(void);

/* Set when hooks and events have taken more than their share; tick takes it back when a quarter of
 * the budget is free again, or enough to be worth a new beginning. */
extern RT_HIDDEN _Atomic bool rt_budget_alarm;
/* The same for the share of tasks; set whenever rt_budget_alarm is. */
extern RT_HIDDEN _Atomic bool rt_budget_tasks_alarm;
/* From now on tasks have a share. */
RT_HIDDEN void rt_budget_share(void);

/* A part of the budget that is set aside for one piece of work: `rt_budget_slice_over` is set, and
 * the runtime's own thread woken, when hooks and events have taken this much more. */
RT_HIDDEN void rt_budget_slice(uint64_t ns);
extern RT_HIDDEN _Atomic bool rt_budget_slice_over;
/* Nanoseconds that hooks and events may still take beyond what is left to tasks of what a run may
 * spend at its start. */
RT_HIDDEN uint64_t rt_budget_spare(void);

/* Nanoseconds taken so far, by meter, and by pauses. */
RT_HIDDEN uint64_t rt_budget_spent(enum rt_meter meter);
RT_HIDDEN uint64_t rt_budget_paused(void);

/* Before a pause of at most `ns`: false if the budget does not allow it. After true the thread must
 * be let go at *until_ns, and exactly one rt_budget_pause_end follows. */
RT_HIDDEN bool rt_budget_pause_begin(uint64_t ns, int64_t *until_ns);
/* What part of the budget would be left after a pause of `ns`, in parts per million. */
RT_HIDDEN uint64_t rt_budget_pause_room(uint64_t ns);
RT_HIDDEN void rt_budget_pause_end(void);
/* In a child after fork: the pauses under way are its parent's. */
RT_HIDDEN void rt_budget_after_fork(void);

RT_HIDDEN void rt_meter_add(enum rt_meter meter, uint64_t ticks);
/* What is measured always, and counts for itself alone. */
RT_HIDDEN void rt_meter_charge(enum rt_meter meter, uint64_t ns);

/* While the scout has a window open, events are its expense, else that of tasks. */
extern RT_HIDDEN _Atomic bool rt_meter_events_are_scouts;
static inline enum rt_meter rt_meter_of_events(void)
{
    bool are_scouts = atomic_load_explicit(&rt_meter_events_are_scouts, memory_order_relaxed);
    return are_scouts ? RT_METER_SYNCS : RT_METER_TASKS;
}

/* Around the work of a hook or an event; a pause in between makes the measurement void. */
static inline uint64_t rt_meter_begin(struct rt_thread *self)
{
    if (rt_likely(++self->metered % RT_METER_EVERY != 0))
        return 0;
    self->paused = false;
    return rt_arch_ticks() | 1; /* 0 is for: not measured */
}

static inline void rt_meter_end(const struct rt_thread *self, enum rt_meter meter, uint64_t began)
{
    if (rt_unlikely(began) && !self->paused)
        rt_meter_add(meter, rt_arch_ticks() - began);
}

#endif
