/* SPDX-License-Identifier: Apache-2.0 */
/* Pauses a thread before an access: see pause.h. */
#include "evidence/pause.h"

#include "budget.h"
#include "sys.h"

enum { SLOTS = 16 };

_Atomic uint64_t rt_moment;

/* A slot goes FREE -> TAKEN -> WAITING. Its thread sets it back to FREE if the pause times out or
 * is RELEASED. A thread that collides sets it to MET, reads it, and then sets it to FREE. */
enum { SLOT_FREE, SLOT_TAKEN, SLOT_WAITING, SLOT_MET, SLOT_RELEASED, SLOT_STATES = 8 };

struct slot {
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

static struct slot slots[SLOTS];
static _Atomic uint32_t paused; /* threads that wait, or are about to */

static struct slot *take_slot(void)
{
    for (int i = 0; i < SLOTS; i++) {
        uint32_t free = SLOT_FREE;
        if (atomic_compare_exchange_strong(&slots[i].state, &free, SLOT_TAKEN))
            return &slots[i];
    }
    return NULL;
}

/* The wait may end early: only the state and the clock count. */
static void wait_for(struct slot *slot, uint32_t waiting, int64_t end)
{
    while (atomic_load(&slot->state) == waiting) {
        int64_t left = end - rt_sys_monotonic_ns();
        if (left <= 0)
            return;
        rt_sys_futex_wait(&slot->state, waiting, left);
    }
}

/* The thread that collided goes first, as far as there is time. */
static void give_head_start(int64_t until, int64_t head_start_ns)
{
    _Atomic uint32_t never = 0;
    int64_t left = until - rt_sys_monotonic_ns();
    if (left > 0)
        rt_sys_futex_wait(&never, 0, left < head_start_ns ? left : head_start_ns);
}

/* The last part of the time that is paid for is kept for the head start. */
static enum rt_pause_end wait_at(struct rt_thread *self, struct slot *slot, int64_t until,
                                 int64_t head_start_ns)
{
    uint32_t waiting = ++slot->pauses * SLOT_STATES + SLOT_WAITING;
    uint32_t released = waiting - SLOT_WAITING + SLOT_RELEASED;
    self->paused = true;
    slot->since_ns = rt_sys_monotonic_ns();
    atomic_fetch_add(&paused, 1);
    atomic_fetch_add(&rt_memory_live, 1); /* a block that is freed meanwhile is met in its length */
    atomic_store(&slot->state, waiting);
    wait_for(slot, waiting, until - head_start_ns);
    bool alone = atomic_compare_exchange_strong(&slot->state, &waiting, SLOT_FREE) ||
                 atomic_compare_exchange_strong(&slot->state, &released, SLOT_FREE);
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
    struct slot *slot = take_slot();
    if (slot) {
        slot->task = task;
        slot->side = side;
        slot->began = atomic_fetch_add(&rt_moment, 1);
        rt_witness_take(self, a, &slot->witness);
        uint64_t signals = rt_signals_block();
        end = wait_at(self, slot, until, head_start_ns);
        rt_signals_restore(signals);
    }
    rt_budget_pause_end();
    return end;
}

static bool matches(const struct slot *slot, const struct rt_thread *self, uint32_t task,
                    uint32_t side, const struct rt_access *a, uint64_t limit)
{
    return slot->task == task && slot->side == side && slot->began < limit &&
           slot->witness.thread != self->id &&
           rt_overlaps(slot->witness.address, slot->witness.size, a->address, a->size);
}

/* Takes a slot over only if it still holds the pause that was looked at: then what was read of it
 * is true, and its thread has not gone on. */
static bool take_over(struct slot *slot, const struct rt_thread *self, uint32_t task, uint32_t side,
                      const struct rt_access *a, uint64_t limit, struct rt_meeting *meeting)
{
    uint32_t state = atomic_load(&slot->state);
    if (state % SLOT_STATES != SLOT_WAITING || !matches(slot, self, task, side, a, limit) ||
        !atomic_compare_exchange_strong(&slot->state, &state, SLOT_MET))
        return false;
    rt_sys_futex_wake(&slot->state, 1);
    rt_witness_copy(&meeting->paused, &slot->witness);
    meeting->paused_us = (uint32_t)((rt_sys_monotonic_ns() - slot->since_ns) / 1000);
    atomic_store(&slot->state, SLOT_FREE);
    return true;
}

/* What was read belongs to one pause if the same pause was under way before and after. */
static bool look_at(const struct slot *slot, const struct rt_thread *self,
                    const struct rt_access *a, bool writes, struct rt_meeting *meeting)
{
    uint32_t state = atomic_load(&slot->state);
    if (state % SLOT_STATES != SLOT_WAITING || slot->task != RT_PAUSE_AMBUSH ||
        !(writes || slot->side == RT_SIDE_SECOND) ||
        !matches(slot, self, RT_PAUSE_AMBUSH, slot->side, a, RT_ANY_MOMENT))
        return false;
    rt_witness_copy(&meeting->paused, &slot->witness);
    int64_t since_ns = slot->since_ns;
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load(&slot->state) != state)
        return false;
    meeting->paused_us = (uint32_t)((rt_sys_monotonic_ns() - since_ns) / 1000);
    return true;
}

bool rt_pause_meet_ambush(const struct rt_thread *self, const struct rt_access *a, bool writes,
                          uint32_t *at, struct rt_meeting *meeting)
{
    while (*at < SLOTS)
        if (look_at(&slots[(*at)++], self, a, writes, meeting))
            return true;
    return false;
}

bool rt_pause_meet(const struct rt_thread *self, uint32_t task, enum rt_side side,
                   const struct rt_access *a, uint64_t limit, struct rt_meeting *meeting)
{
    if (rt_likely(!atomic_load_explicit(&paused, memory_order_relaxed)))
        return false;
    for (int i = 0; i < SLOTS; i++)
        if (take_over(&slots[i], self, task, side, a, limit, meeting))
            return true;
    return false;
}

void rt_pause_release_tasks(void)
{
    for (int i = 0; i < SLOTS; i++) {
        uint32_t state = atomic_load(&slots[i].state);
        if (state % SLOT_STATES == SLOT_WAITING && slots[i].task != RT_PAUSE_AMBUSH &&
            atomic_compare_exchange_strong(&slots[i].state, &state,
                                           state - SLOT_WAITING + SLOT_RELEASED))
            rt_sys_futex_wake(&slots[i].state, 1);
    }
}

void rt_pause_after_fork(void)
{
    for (int i = 0; i < SLOTS; i++)
        atomic_store(&slots[i].state, SLOT_FREE);
    atomic_fetch_sub(&rt_memory_live, atomic_exchange(&paused, 0));
    rt_budget_after_fork();
}
