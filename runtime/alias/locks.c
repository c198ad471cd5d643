/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of locks by number: see alias/locks.h. Runs in hooks: no lock, no libc. */
#include "alias/locks.h"

#include "sys.h"

enum { SET_BITS = 14, SETS = 1 << SET_BITS, MOST = 15 };

/* `hash` is set last; two threads that make the same set at once make it twice, and nothing is lost
 * but a little room. Locks that are held shared are marked in their lowest bit. */
struct set {
    _Atomic uint64_t hash; /* 0: free; 1: being made */
    uint32_t count;
    uintptr_t locks[MOST];
};

static struct set *sets;

bool rt_alias_locks_start(void)
{
    if (!sets)
        sets = rt_map(SETS * sizeof *sets);
    return sets != NULL;
}

static uintptr_t mark(const struct rt_held *held)
{
    return (uintptr_t)held->lock | (held->mode == RT_HELD_SHARED);
}

/* The same for any order of the locks. */
static uint64_t hash_of(const struct rt_thread *self)
{
    uint64_t hash = 2;
    for (uint32_t i = 0; i < self->held_count; i++) {
        uint64_t lock = mark(&self->held[i]) * 0x9e3779b97f4a7c15ull;
        hash += lock ^ lock >> 31;
    }
    return hash < 2 ? 2 : hash;
}

uint32_t rt_alias_locks(const struct rt_thread *self)
{
    if (!self->held_count && !self->held_more)
        return 0;
    if (self->held_more || self->held_count > MOST)
        return RT_ALIAS_ANY;
    uint64_t hash = hash_of(self);
    uint32_t at = (uint32_t)(hash >> 20) % (SETS - 1) + 1;
    for (uint32_t tries = 0; tries < SETS; tries++, at = at % (SETS - 1) + 1) {
        struct set *s = &sets[at];
        uint64_t there = atomic_load_explicit(&s->hash, memory_order_acquire);
        if (there == hash)
            return at;
        if (there || !atomic_compare_exchange_strong(&s->hash, &there, 1))
            continue;
        s->count = self->held_count;
        for (uint32_t i = 0; i < s->count; i++)
            s->locks[i] = mark(&self->held[i]);
        atomic_store_explicit(&s->hash, hash, memory_order_release);
        return at;
    }
    return RT_ALIAS_ANY;
}

bool rt_alias_share(uint32_t a, uint32_t b)
{
    if (a == RT_ALIAS_ANY || b == RT_ALIAS_ANY)
        return true;
    const struct set *s = &sets[a], *t = &sets[b];
    for (uint32_t i = 0; i < s->count; i++)
        for (uint32_t j = 0; j < t->count; j++)
            if ((s->locks[i] | 1) == (t->locks[j] | 1) && !(s->locks[i] & t->locks[j] & 1))
                return true;
    return false;
}
