/* SPDX-License-Identifier: Apache-2.0 */
/* Witnesses of recent accesses: see depot.h. Runs in hooks: no lock, no libc. */
#include "evidence/depot.h"

#include "sys.h"

enum { PLACES = 2048 };

/* `serial` is odd while the place is written: a reader that finds the same even number before and
 * after has read one witness, whole. */
struct place {
    _Atomic uint32_t serial;
    struct rt_witness witness;
};

static struct place *places;
static _Atomic uint32_t next;

bool rt_depot_start(void)
{
    if (!places)
        places = rt_map(PLACES * sizeof *places);
    return places != NULL;
}

uint16_t rt_depot_put(const struct rt_thread *self, const struct rt_access *a)
{
    uint32_t number = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed) % (PLACES - 1) + 1;
    struct place *place = &places[number];
    uint32_t serial = atomic_load(&place->serial);
    if (serial & 1 || !atomic_compare_exchange_strong(&place->serial, &serial, serial + 1))
        return 0;
    rt_witness_take(self, a, &place->witness);
    atomic_store(&place->serial, serial + 2);
    return (uint16_t)number;
}

bool rt_depot_get(uint16_t number, const struct rh_site_name *site, uintptr_t start, size_t size,
                  struct rt_witness *w)
{
    if (!number)
        return false;
    const struct place *place = &places[number];
    uint32_t serial = atomic_load(&place->serial);
    rt_witness_copy(w, &place->witness);
    atomic_thread_fence(memory_order_acquire);
    return !(serial & 1) && atomic_load(&place->serial) == serial && w->site.image == site->image &&
           w->site.site == site->site && rt_overlaps(w->address, w->size, start, size);
}
