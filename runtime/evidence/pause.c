/* SPDX-License-Identifier: Apache-2.0 */
/* Holding a thread before an access: see pause.h. */
#include "evidence/pause.h"

#include "budget.h"
#include "sys.h"

enum { PLACES = 16 };

_Atomic uint64_t rt_moment;

/* A place goes FREE -> TAKEN -> WAITING, and then either back to FREE, by its thread when nobody
 * came or it was RELEASED, or to MET, by the comer, who frees it when he has read it. */
enum { PLACE_FREE, PLACE_TAKEN, PLACE_WAITING, PLACE_MET, PLACE_RELEASED, PLACE_STATES = 8 };

struct place {
    /* What the paused thread waits on. While it waits, the count of pauses stands above the state:
     * the same number is the same pause, with the same contents. */
    _Atomic uint32_t state;
    uint32_t pauses;
    uint32_t task;
    uint32_t side;
    uint64_t began; /* a moment */
    int64_t since_ns;
    struct rt_witness witness;
};

static struct place places[PLACES];
static _Atomic uint32_t paused; /* threads that wait, or are about to */

static struct place *take_place(void)
{
    for (int i = 0; i < PLACES; i++) {
        uint32_t free = PLACE_FREE;
        if (atomic_compare_exchange_strong(&places[i].state, &free, PLACE_TAKEN))
            return &places[i];
    }
    return NULL;
}

/* The wait may end early: only the state and the clock count. */
static void wait_for(struct place *place, uint32_t waiting, int64_t end)
{
    while (atomic_load(&place->state) == waiting) {
        int64_t left = end - rt_sys_monotonic_ns();
        if (left <= 0)
            return;
        rt_sys_futex_wait(&place->state, waiting, left);
    }
}

/* The comer goes first, as far as there is time. */
static void give_head_start(int64_t until, int64_t head_start_ns)
{
    _Atomic uint32_t never = 0;
    int64_t left = until - rt_sys_monotonic_ns();
    if (left > 0)
        rt_sys_futex_wait(&never, 0, left < head_start_ns ? left : head_start_ns);
}

/* Of the time that is paid for, the end is for the head start. */
static enum rt_pause_end wait_at(struct rt_thread *self, struct place *place, int64_t until,
                                 int64_t head_start_ns)
{
    uint32_t waiting = ++place->pauses * PLACE_STATES + PLACE_WAITING;
    uint32_t released = waiting - PLACE_WAITING + PLACE_RELEASED;
    self->paused = true;
    place->since_ns = rt_sys_monotonic_ns();
    atomic_fetch_add(&paused, 1);
    atomic_fetch_add(&rt_memory_live, 1); /* a block that is freed meanwhile is met in its length */
    atomic_store(&place->state, waiting);
    wait_for(place, waiting, until - head_start_ns);
    bool alone = atomic_compare_exchange_strong(&place->state, &waiting, PLACE_FREE) ||
                 atomic_compare_exchange_strong(&place->state, &released, PLACE_FREE);
    atomic_fetch_sub(&rt_memory_live, 1);
    atomic_fetch_sub(&paused, 1);
    if (alone)
        return RT_PAUSE_TIMED_OUT;
    give_head_start(until, head_start_ns);
    return RT_PAUSE_MET;
}

enum rt_pause_end rt_pause(struct rt_thread *self, uint32_t task, enum rt_side side,
                           const struct rt_access *a, uint32_t us)
{
    enum { FOR_TASK_NS = 1000000, FOR_AMBUSH_NS = 20000 };
    int64_t until, head_start_ns = task == RT_PAUSE_AMBUSH ? FOR_AMBUSH_NS : FOR_TASK_NS;
    if (!rt_budget_pause_begin((uint64_t)us * 1000 + (uint64_t)head_start_ns, &until))
        return RT_PAUSE_REFUSED;
    enum rt_pause_end end = RT_PAUSE_REFUSED;
    struct place *place = take_place();
    if (place) {
        place->task = task;
        place->side = side;
        place->began = atomic_fetch_add(&rt_moment, 1);
        rt_witness_take(self, a, &place->witness);
        uint64_t signals = rt_signals_block();
        end = wait_at(self, place, until, head_start_ns);
        rt_signals_restore(signals);
    }
    rt_budget_pause_end();
    return end;
}

static bool matches(const struct place *place, const struct rt_thread *self, uint32_t task,
                    uint32_t side, const struct rt_access *a, uint64_t limit)
{
    return place->task == task && place->side == side && place->began < limit &&
           place->witness.thread != self->id &&
           rt_overlaps(place->witness.address, place->witness.size, a->address, a->size);
}

/* The place is taken over only if it is the same pause that was looked at, so what was read of it
 * is true, and its thread has not gone on. */
static bool take_over(struct place *place, const struct rt_thread *self, uint32_t task,
                      uint32_t side, const struct rt_access *a, uint64_t limit,
                      struct rt_meeting *meeting)
{
    uint32_t state = atomic_load(&place->state);
    if (state % PLACE_STATES != PLACE_WAITING || !matches(place, self, task, side, a, limit) ||
        !atomic_compare_exchange_strong(&place->state, &state, PLACE_MET))
        return false;
    rt_sys_futex_wake(&place->state, 1);
    rt_witness_copy(&meeting->paused, &place->witness);
    meeting->paused_us = (uint32_t)((rt_sys_monotonic_ns() - place->since_ns) / 1000);
    atomic_store(&place->state, PLACE_FREE);
    return true;
}

/* What was read is of one pause if it was under way before and after. */
static bool look_at(const struct place *place, const struct rt_thread *self,
                    const struct rt_access *a, bool writes, struct rt_meeting *meeting)
{
    uint32_t state = atomic_load(&place->state);
    if (state % PLACE_STATES != PLACE_WAITING || place->task != RT_PAUSE_AMBUSH ||
        !(writes || place->side == RT_SIDE_SECOND) ||
        !matches(place, self, RT_PAUSE_AMBUSH, place->side, a, RT_ANY_MOMENT))
        return false;
    rt_witness_copy(&meeting->paused, &place->witness);
    int64_t since_ns = place->since_ns;
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load(&place->state) != state)
        return false;
    meeting->paused_us = (uint32_t)((rt_sys_monotonic_ns() - since_ns) / 1000);
    return true;
}

bool rt_pause_meet_ambush(const struct rt_thread *self, const struct rt_access *a, bool writes,
                          uint32_t *at, struct rt_meeting *meeting)
{
    while (*at < PLACES)
        if (look_at(&places[(*at)++], self, a, writes, meeting))
            return true;
    return false;
}

bool rt_pause_meet(const struct rt_thread *self, uint32_t task, enum rt_side side,
                   const struct rt_access *a, uint64_t limit, struct rt_meeting *meeting)
{
    if (rt_likely(!atomic_load_explicit(&paused, memory_order_relaxed)))
        return false;
    for (int i = 0; i < PLACES; i++)
        if (take_over(&places[i], self, task, side, a, limit, meeting))
            return true;
    return false;
}

void rt_pause_release_all(void)
{
    for (int i = 0; i < PLACES; i++) {
        uint32_t state = atomic_load(&places[i].state);
        if (state % PLACE_STATES == PLACE_WAITING &&
            atomic_compare_exchange_strong(&places[i].state, &state,
                                           state - PLACE_WAITING + PLACE_RELEASED))
            rt_sys_futex_wake(&places[i].state, 1);
    }
}

void rt_pause_after_fork(void)
{
    for (int i = 0; i < PLACES; i++)
        atomic_store(&places[i].state, PLACE_FREE);
    atomic_fetch_sub(&rt_memory_live, atomic_exchange(&paused, 0));
    rt_budget_after_fork();
}
