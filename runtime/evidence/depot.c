/* SPDX-License-Identifier: Apache-2.0 */
/* Witnesses of recent accesses: see depot.h. Runs in hooks: no lock, no libc. */
#include "evidence/depot.h"

#include "sys.h"

enum { SLOTS = 2048 };

/* `serial` is odd while the slot is written: a reader that finds the same even number before and
 * after has read one witness, whole. */
struct slot {
    _Atomic uint32_t serial;
    struct rt_witness witness;
};

static struct slot *slots;
static _Atomic uint32_t next;

bool rt_depot_start(void)
{
    if (!slots)
        slots = rt_map(SLOTS * sizeof *slots);
    return slots != NULL;
}

uint16_t rt_depot_put(const struct rt_thread *self, const struct rt_access *a)
{
    uint32_t number = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed) % (SLOTS - 1) + 1;
    struct slot *slot = &slots[number];
    uint32_t serial = atomic_load(&slot->serial);
    if (serial & 1 || !atomic_compare_exchange_strong(&slot->serial, &serial, serial + 1))
        return 0;
    rt_witness_take(self, a, &slot->witness);
    atomic_store(&slot->serial, serial + 2);
    return (uint16_t)number;
}

bool rt_depot_get(uint16_t number, const struct rh_site_name *site, uintptr_t start, size_t size,
                  struct rt_witness *w)
{
    if (!number)
        return false;
    const struct slot *slot = &slots[number];
    uint32_t serial = atomic_load(&slot->serial);
    rt_witness_copy(w, &slot->witness);
    atomic_thread_fence(memory_order_acquire);
    return !(serial & 1) && atomic_load(&slot->serial) == serial && w->site.image == site->image &&
           w->site.site == site->site && rt_overlaps(w->address, w->size, start, size);
}
