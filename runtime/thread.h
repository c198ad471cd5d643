/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The registry of threads, for the wrappers that create, join and detach them.
 *
 * A struct rt_thread lives until two things are over: the kernel thread, and the handle (pthread_t)
 * by which another thread may still join it. A successful join ends both. A thread that is detached
 * when it ends, or ends before it is detached, may still run its last destructors; it is put on a
 * list of *leaving* threads, and its struct is taken over for a new thread once the kernel no
 * longer knows it. Memory is thus bounded by the largest number of threads alive at once.
 *
 * The one lock is held with all signals blocked, for a handful of instructions that call nothing of
 * the program's. A signal handler can therefore never interrupt its holder in the same thread, and
 * may itself take the lock: rt_thread_self needs it in a thread it does not know. Asynchronous
 * cancellation is a signal too.
 */
#ifndef RH_RUNTIME_THREAD_H
#define RH_RUNTIME_THREAD_H

#include <pthread.h>

#include "rt.h"

/* A creation under way: the creator enters the thread before it exists, so that it begins with its
 * parent known. Signals are blocked meanwhile, and the new thread inherits that: a handler cannot
 * run in it before it knows itself. */
struct rt_creation {
    struct rt_thread *thread; /* NULL: not entered, create it without us */
    uint32_t id;
    uint64_t signals;
};

RT_HIDDEN struct rt_creation rt_thread_create_begin(bool joinable);
/* `handle` points to what the real function stored, NULL if it failed. */
RT_HIDDEN void rt_thread_create_end(const struct rt_creation *c, const pthread_t *handle);

/* A thread is about to be made that we cannot enter beforehand; perhaps with its maker's
 * thread-local storage for its own. */
RT_HIDDEN void rt_thread_cloning(bool shares_storage);

/* First in a new thread, with the struct its creator has made; signals are as they shall be when
 * this returns. */
RT_HIDDEN void rt_thread_begin(struct rt_thread *self, uintptr_t handle);
/* Sees to it that rt_thread_end will be called; not from hooks. */
RT_HIDDEN void rt_thread_arm(struct rt_thread *self);
/* Last in a thread: in the final round of its destructors. */
RT_HIDDEN void rt_thread_end(struct rt_thread *self);

/* The thread of a handle, before the real join or detach: afterwards the handle may be another's.
 * `id` tells whether the struct is still that thread's. */
struct rt_handle {
    struct rt_thread *thread; /* NULL if unknown */
    uint32_t id;
};

RT_HIDDEN struct rt_handle rt_thread_find(uintptr_t handle);
RT_HIDDEN void rt_thread_joined(struct rt_handle h);
RT_HIDDEN void rt_thread_detached(struct rt_handle h);

/* The main thread, from rt_thread_start_main. NULL when there is no memory. */
RT_HIDDEN struct rt_thread *rt_thread_enter_main(uintptr_t handle);

/* Around fork: nobody else is inside the registry while the process is copied. */
RT_HIDDEN void rt_thread_fork_before(void);
RT_HIDDEN void rt_thread_fork_parent(void);
/* Only the calling thread is left. Signals stay blocked until the caller restores this mask. */
RT_HIDDEN uint64_t rt_thread_fork_child(void);

#endif
