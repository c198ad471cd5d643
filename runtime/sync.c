/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Telling the detector of synchronisation, and the list of locks a thread holds. Reached by hooks
 * (a thread that takes over the struct of one that is gone tells of it): no libc here.
 */
#include "sync.h"

#include "budget.h"
#include "opaque.h"
#include "thread.h"

/* Counts the times events have been switched on; a list of held locks belongs to one of them. */
static _Atomic uint32_t epoch;

/* The upper bit of rt_sync_live is the switch, the others count needs: one word, so that no need is
 * lost to another that ends at the same time. */
#define SWITCHED 0x80000000u

/* The epoch is there before the switch is seen, so that no thread goes on with an old list. */
static void begin_epoch(void)
{
    if (!atomic_load(&rt_sync_live))
        atomic_fetch_add(&epoch, 1);
}

void rt_sync_switch(bool on)
{
    if (on) {
        begin_epoch();
        atomic_fetch_or(&rt_sync_live, SWITCHED);
    } else {
        atomic_fetch_and(&rt_sync_live, ~SWITCHED);
    }
}

void rt_sync_need(void)
{
    begin_epoch();
    atomic_fetch_add(&rt_sync_live, 1);
}

void rt_sync_done(void)
{
    atomic_fetch_sub(&rt_sync_live, 1);
}

const volatile void *rt_dead_owners(void)
{
    static const char object;
    return &object;
}

/* --- held locks --- */

enum { HELD_KEPT = sizeof(((struct rt_thread *)0)->held) / sizeof(struct rt_held) };

enum held_change { HELD_SAME, HELD_MORE, HELD_MORE_SHARED, HELD_LESS };

static const uint8_t held_changes[RT_SYNC_COUNT] = {
    [RT_SYNC_MUTEX_LOCK] = HELD_MORE,         [RT_SYNC_SPIN_LOCK] = HELD_MORE,
    [RT_SYNC_RWLOCK_WRITE] = HELD_MORE,       [RT_SYNC_RWLOCK_READ] = HELD_MORE_SHARED,
    [RT_SYNC_MUTEX_UNLOCK] = HELD_LESS,       [RT_SYNC_SPIN_UNLOCK] = HELD_LESS,
    [RT_SYNC_RWLOCK_READ_UNLOCK] = HELD_LESS, [RT_SYNC_RWLOCK_WRITE_UNLOCK] = HELD_LESS,
};

static struct rt_held *find_held(struct rt_thread *self, const void *lock)
{
    for (uint32_t i = self->held_count; i-- > 0;)
        if (self->held[i].lock == lock)
            return &self->held[i];
    return NULL;
}

static void add_held(struct rt_thread *self, const void *lock, enum rt_held_mode mode)
{
    struct rt_held *held = find_held(self, lock);
    if (held)
        held->depth++;
    else if (self->held_count < HELD_KEPT)
        self->held[self->held_count++] = (struct rt_held){.lock = lock, .depth = 1, .mode = mode};
    else
        self->held_more++;
}

/* A lock that is not in the list is one that did not fit, or one taken before events were live. */
static void remove_held(struct rt_thread *self, const void *lock)
{
    struct rt_held *held = find_held(self, lock);
    if (!held) {
        self->held_more -= self->held_more > 0;
        return;
    }
    if (--held->depth)
        return;
    self->held_count--;
    for (; held < self->held + self->held_count; held++) {
        held[0] = held[1];
        atomic_signal_fence(memory_order_seq_cst); /* or it would become a call of memmove */
    }
}

static void renew_held(struct rt_thread *self)
{
    uint32_t now = atomic_load(&epoch);
    if (self->held_epoch != now) {
        self->held_epoch = now;
        self->held_count = self->held_more = 0;
    }
}

bool rt_sync_knows_held(const struct rt_thread *thread)
{
    return thread->held_epoch == atomic_load_explicit(&epoch, memory_order_relaxed);
}

/* --- events --- */

/* The list shows a lock as held in the event of its lock and still in that of its unlock. */
void rt_sync_event_as(struct rt_thread *thread, enum rt_sync what, const volatile void *object)
{
    const struct rt_detector *detector = rt_detector;
    if (!detector || !detector->sync || thread->ignore_syncs)
        return;
    const void *lock = (const void *)(uintptr_t)object;
    enum held_change change = held_changes[what];
    atomic_thread_fence(memory_order_acquire);
    renew_held(thread);
    if (change == HELD_MORE || change == HELD_MORE_SHARED)
        add_held(thread, lock, change == HELD_MORE ? RT_HELD_EXCLUSIVE : RT_HELD_SHARED);
    thread->in_hook++;
    atomic_signal_fence(memory_order_seq_cst);
    uint64_t began = rt_meter_begin(thread);
    detector->sync(thread, what, object);
    rt_meter_end(thread, rt_meter_of_events(), began);
    atomic_signal_fence(memory_order_seq_cst);
    thread->in_hook--;
    if (change == HELD_LESS)
        remove_held(thread, lock);
}

void rt_sync_event(enum rt_sync what, const volatile void *object)
{
    struct rt_thread *self = rt_thread_self();
    if (rt_unlikely(!self)) {
        rt_opaque(RH_OPAQUE_THREAD);
        return;
    }
    if (rt_unlikely(!self->armed))
        rt_thread_arm(self);
    rt_sync_event_as(self, what, object);
}

/* --- uses --- */

static bool writes(enum rt_sync what)
{
    return what == RT_SYNC_OBJECT_INIT || what == RT_SYNC_OBJECT_DESTROY ||
           what == RT_SYNC_KERNEL_RECEIVE;
}

void rt_sync_use(const volatile void *object, size_t size, enum rt_sync what, uintptr_t caller)
{
    if (!rt_sync_wants_uses() || !size)
        return;
    struct rt_thread *self = rt_thread_self();
    bool is_write = writes(what);
    if (!self || (is_write ? self->ignore_writes : self->ignore_reads))
        return;
    const struct rt_use use = {
        .what = what,
        .is_write = is_write,
        .address = (uintptr_t)object,
        .size = size,
        .caller = caller,
    };
    atomic_thread_fence(memory_order_acquire);
    self->in_hook++;
    atomic_signal_fence(memory_order_seq_cst);
    uint64_t began = rt_meter_begin(self);
    rt_detector->use(self, &use);
    rt_meter_end(self, rt_meter_of_events(), began);
    atomic_signal_fence(memory_order_seq_cst);
    self->in_hook--;
}

void rt_sync_tell(const volatile void *object, size_t size, enum rt_sync what, uintptr_t caller)
{
    rt_sync_use(object, size, what, caller);
    rt_sync_event(what, object);
}

int rt_sync_tell_result(const volatile void *object, size_t size, enum rt_sync what,
                        uintptr_t caller, int result)
{
    rt_sync_use(object, size, what, caller);
    if (result == 0)
        rt_sync_event(what, object);
    return result;
}
