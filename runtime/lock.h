/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lock of our own: one word, a futex when contended. pthread's are the program's, and
 * intercepted. Never held while the program's code runs, and never taken in a hook.
 */
#ifndef RH_RUNTIME_LOCK_H
#define RH_RUNTIME_LOCK_H

#include "sys.h"

/* 0 free, 1 held, 2 held and someone may wait. */
struct rt_lock {
    _Atomic uint32_t word;
};

static inline bool rt_trylock(struct rt_lock *lock)
{
    uint32_t free = 0;
    return atomic_compare_exchange_strong(&lock->word, &free, 1);
}

static inline void rt_lock(struct rt_lock *lock)
{
    if (rt_trylock(lock))
        return;
    while (atomic_exchange(&lock->word, 2))
        rt_sys_futex_wait(&lock->word, 2, -1);
}

static inline void rt_unlock(struct rt_lock *lock)
{
    if (atomic_exchange(&lock->word, 0) == 2)
        rt_sys_futex_wake(&lock->word, 1);
}

#endif
