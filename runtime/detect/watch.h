/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who writes to the bytes that a held thread is about to access: the processor's debug registers,
 * lent by the kernel through perf_event_open.
 *
 * How it works: a thread that is to be held asks for a watch and waits its time; a thread of our
 * own, the watcher, then opens one event for each other thread of the program, which fires at a
 * write to the bytes and leaves the registers and a copy of the stack in memory that it shares with
 * us. When the hold is over, its thread looks there, and only then goes on: whatever is there
 * happened during the hold. A watch alone proves nothing (the processor may count vector stores
 * that leave the bytes out): it only tells who has made a change that is proved by the value
 * (change.h).
 *
 * The watcher has a table of files of its own, so that the program never meets our descriptors, no
 * child inherits them, and who closes all it finds does not close them. No signal is involved. An
 * event fires once and is then off: a thread that writes in a loop is slowed down once. Where the
 * kernel does not lend, or a filter of system calls might kill, there is no watch and no word of
 * it.
 */
#ifndef RH_RUNTIME_WATCH_H
#define RH_RUNTIME_WATCH_H

#include "witness.h"

/* Makes the watcher, unless options or the kernel are against it. Not in hooks. */
RT_HIDDEN void rt_watch_start(void);

/* Before a hold: asks for a watch. False if there is none to be had. */
RT_HIDDEN bool rt_watch_ask(const struct rt_thread *self, uintptr_t address, uint64_t size);
/* After it, exactly once if it was asked for: with `wanted`, who wrote, if anybody was seen. */
RT_HIDDEN bool rt_watch_end(bool wanted, struct rt_witness *writer);

/* In a child after fork: the watch under way is its parent's. */
RT_HIDDEN void rt_watch_after_fork(void);

#endif
