/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a value changes while a thread is paused before its access. If so, another thread wrote
 * it, at a site that is not the task's or in code without keys: an uninstrumented access.
 *
 * How it works: the bytes are read when the pause begins and again when it ends. In between the
 * thread runs nothing of the program and acquires nothing; its own signal handlers are put off
 * until it goes on. So a change is the write of another thread, unordered with the access to come.
 *
 * Not looked at, because a change would prove nothing:
 * - atomic accesses: the write may be atomic, too
 * - volatile accesses: flags that signal handlers set are volatile, and a signal that finds this
 *   thread blocked goes to another
 * - library calls and other accesses whose bytes are not known for sure
 * - uses of locks and their like: another thread's use changes their bytes, and is no race
 * - memory that other processes may write: all but private anonymous memory and the variables of
 *   images. Looked up in /proc/self/maps when a change was seen.
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

/* Before and after a pause, in pairs. */
RT_HIDDEN void rt_change_begin(const struct rt_access *a, struct rt_change *c);
/* True if the value was changed by another thread of this process. */
RT_HIDDEN bool rt_change_end(const struct rt_change *c);

/* Whether only this process can write there; `maps` is /proc/self/maps but in tests. */
RT_HIDDEN bool rt_change_is_private(const char *maps, uintptr_t address, uint64_t size);

#endif
