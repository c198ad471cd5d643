/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who writes to the bytes that a paused thread is about to access: watchpoints in the processor's
 * debug registers, through perf_event_open.
 *
 * How it works: a thread asks for a watchpoint and begins its pause. A thread of our own, the
 * watcher, opens one event for each other thread of the program. The event fires at a write to the
 * bytes and leaves the registers and a copy of the stack in a shared buffer. When the pause is
 * over, the paused thread reads the buffer and only then goes on: whatever is there happened during
 * the pause. A watchpoint alone proves nothing (the processor may count vector stores that leave
 * the bytes out): it only tells who made a change that the value proves (change.h).
 *
 * The watcher has a file table of its own. So the program never sees our descriptors, no child
 * inherits them, and a program that closes all descriptors does not close them. No signal is
 * involved. An event fires once and is then off: a thread that writes in a loop is slowed down
 * once. Where the kernel refuses, or a filter of system calls might kill the process, there is no
 * watchpoint and no message.
 */
#ifndef RH_RUNTIME_WATCHPOINT_H
#define RH_RUNTIME_WATCHPOINT_H

#include "evidence/witness.h"

/* Makes the watcher, unless options or the kernel are against it. Not in hooks. */
RT_HIDDEN void rt_watchpoint_start(void);

/* Before a pause: asks for a watchpoint. False if there is none to be had. */
RT_HIDDEN bool rt_watchpoint_ask(const struct rt_thread *self, uintptr_t address, uint64_t size);
/* After it, exactly once if it was asked for: with `wanted`, who wrote, if anybody was seen. */
RT_HIDDEN bool rt_watchpoint_end(bool wanted, struct rt_witness *writer);

/* In a child after fork: the watchpoint under way is its parent's. */
RT_HIDDEN void rt_watchpoint_after_fork(void);

#endif
