/* SPDX-License-Identifier: Apache-2.0 */
/* Locks in common: see held.h. Runs in hooks: no lock, no libc. */
#include "scout/held.h"

#include "scout/clocks.h"
#include "sync.h"

#define ANY UINT32_MAX

static _Atomic uint32_t carried[RT_CLOCK_SLOTS]; /* by the threads of a slot */

static uint32_t bit_of(const volatile void *object)
{
    return 1u << ((uintptr_t)object * 0x9e3779b97f4a7c15ull >> 59);
}

uint32_t rt_held_by(const struct rt_thread *self)
{
    uint32_t bits = 0;
    if (!rt_sync_knows_held(self))
        return ANY;
    for (uint32_t i = 0; i < self->held_count; i++)
        bits |= bit_of(self->held[i].lock);
    return bits;
}

static bool is_unlock(enum rt_sync what)
{
    return what == RT_SYNC_MUTEX_UNLOCK || what == RT_SYNC_SPIN_UNLOCK ||
           what == RT_SYNC_RWLOCK_READ_UNLOCK || what == RT_SYNC_RWLOCK_WRITE_UNLOCK;
}

void rt_held_event(const struct rt_thread *self, enum rt_sync what, const volatile void *object)
{
    if (!is_unlock(what))
        return;
    for (uint32_t i = 0; i < self->held_count; i++)
        if (self->held[i].lock == object)
            return;
    atomic_fetch_or_explicit(&carried[rt_clocks_slot(self)], bit_of(object), memory_order_relaxed);
}

bool rt_held_in_common(const struct rt_recent *later, const struct rt_recent *earlier)
{
    uint32_t before = earlier->locks;
    if (before == ANY)
        before = atomic_load_explicit(&carried[earlier->slot], memory_order_relaxed);
    return later->locks & before;
}

void rt_held_forget(void)
{
    for (uint32_t i = 0; i < RT_CLOCK_SLOTS; i++)
        atomic_store_explicit(&carried[i], 0, memory_order_relaxed);
}
