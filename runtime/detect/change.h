/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a value changes while a thread is held before its access: a write by somebody whose code
 * has no key, or whose site is not the task's.
 *
 * How it works: the bytes are read when the hold begins and again when it ends. In between the
 * thread does nothing of the program's, and above all acquires nothing; its own signal handlers are
 * put off until it goes on. So a change is another's write, unordered with the access to come.
 *
 * What is left out, because a change would prove nothing:
 * - atomic accesses: the write may be atomic, too
 * - volatile ones: what handlers of signals write is declared so, and a signal that finds this
 *   thread closed goes to another
 * - library calls and accesses of which it is not sure what they touch
 * - memory that others than this process may write: all but private memory without a file, and the
 *   variables of images. Asked when a change was seen, in /proc/self/maps.
 */
#ifndef RH_RUNTIME_CHANGE_H
#define RH_RUNTIME_CHANGE_H

#include "rt.h"

enum { RT_CHANGE_MAX = 64 };

struct rt_change {
    uintptr_t address;
    uint64_t size; /* 0: it is not looked at */
    uint64_t signals;
    int64_t began_ns;
    uint8_t bytes[RT_CHANGE_MAX];
};

/* Before and after a hold, in pairs. */
RT_HIDDEN void rt_change_begin(const struct rt_access *a, struct rt_change *c);
/* True if the value has changed by the hand of another thread of this process. */
RT_HIDDEN bool rt_change_end(const struct rt_change *c);

/* Whether only this process can write there; `maps` is /proc/self/maps but in tests. */
RT_HIDDEN bool rt_change_is_private(const char *maps, uintptr_t address, uint64_t size);

#endif
