/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What synchronisation does to knowledge: which events and atomic operations give what a thread
 * knows to an object, and which take what the object knows. One place for order.c, which carries
 * bits, and clocks.c, which carries vector clocks.
 */
#ifndef RH_RUNTIME_SYNC_RULES_H
#define RH_RUNTIME_SYNC_RULES_H

#include "rt.h"

struct rt_exchange {
    uint8_t gives, takes;
};

static inline struct rt_exchange rt_exchange_of(enum rt_sync what)
{
    static const struct rt_exchange exchanges[RT_SYNC_COUNT] = {
#define RT_EXCHANGE_ROW(id, name, releases, acquires) [RT_SYNC_##id] = {releases, acquires},
        RT_SYNCS(RT_EXCHANGE_ROW)
#undef RT_EXCHANGE_ROW
    };
    return exchanges[what];
}

/* Readers of a rwlock do not order each other: what they give is kept apart, in an object that lies
 * this far behind the lock, and only writers take it. */
enum { RT_RWLOCK_READERS = 8 };

static inline bool rt_order_releases(uint8_t order)
{
    return order == RH_MO_RELEASE || order == RH_MO_ACQ_REL || order == RH_MO_SEQ_CST;
}

static inline bool rt_order_acquires(uint8_t order)
{
    return order == RH_MO_ACQUIRE || order == RH_MO_ACQ_REL || order == RH_MO_SEQ_CST;
}

/* Atomics of different sizes may overlap, and a C++ guard is an atomic in one place and an object
 * in another: whatever lies in the same 16 bytes, the size of the largest atomic, is one object. */
static inline uintptr_t rt_atomic_object(uintptr_t address)
{
    return address & ~(uintptr_t)15;
}

#endif
