/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cache of packed rows by instruction address, one for the process.
 *
 * How it works: an address has one slot. Each slot has a version that is odd while the slot is
 * being written; who reads takes the version before and after, and what it got counts only if both
 * are the same and even and the whole address is the one it looked for. Who finds a slot being
 * written goes on without: nobody ever waits, so signal handlers and hooks may do both. A slot also
 * tells the generation of images its row is from: when an image has gone, all rows of before are
 * void.
 */
#ifndef RH_RUNTIME_STACK_CACHE_H
#define RH_RUNTIME_STACK_CACHE_H

#include "stack/row.h"

struct rt_row_slot {
    _Atomic uint64_t version; /* low half; the high half is the generation, 0 of an empty slot */
    _Atomic uint64_t pc, base, saved;
};
_Static_assert(sizeof(struct rt_row_slot) == 32, "two share a cache line");

enum { RT_ROW_SLOT_BITS = 14 };
extern RT_HIDDEN struct rt_row_slot rt_row_slots[1 << RT_ROW_SLOT_BITS];

static inline struct rt_row_slot *rt_row_slot(uintptr_t pc)
{
    return &rt_row_slots[pc * UINT64_C(0x9e3779b97f4a7c15) >> (64 - RT_ROW_SLOT_BITS)];
}

static inline bool rt_row_get(uintptr_t pc, uint32_t generation, struct rt_row *p)
{
    struct rt_row_slot *slot = rt_row_slot(pc);
    uint64_t version = atomic_load_explicit(&slot->version, memory_order_acquire);
    uintptr_t owner = atomic_load_explicit(&slot->pc, memory_order_relaxed);
    p->base = atomic_load_explicit(&slot->base, memory_order_relaxed);
    p->saved = atomic_load_explicit(&slot->saved, memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
    return owner == pc && !(version & 1) && version >> 32 == generation &&
           atomic_load_explicit(&slot->version, memory_order_relaxed) == version;
}

static inline void rt_row_put(uintptr_t pc, uint32_t generation, const struct rt_row *p)
{
    struct rt_row_slot *slot = rt_row_slot(pc);
    uint64_t version = atomic_load_explicit(&slot->version, memory_order_relaxed);
    if (version & 1 ||
        !atomic_compare_exchange_strong_explicit(&slot->version, &version, version | 1,
                                                 memory_order_relaxed, memory_order_relaxed))
        return;
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&slot->pc, pc, memory_order_relaxed);
    atomic_store_explicit(&slot->base, p->base, memory_order_relaxed);
    atomic_store_explicit(&slot->saved, p->saved, memory_order_relaxed);
    uint64_t next = (uint64_t)generation << 32 | (uint32_t)(version + 2);
    atomic_store_explicit(&slot->version, next, memory_order_release);
}

#endif
