/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forks. The child has only the thread that called; the registry forgets the others, and no lock of
 * ours stays held by a thread that is not there.
 *
 * vfork is left alone: the child borrows the parent's memory and thread until it calls exec or
 * _exit, its events are that thread's, and exit.c sees to it that it does not end the parent's run.
 */
#include "intercept/fork.h"

#include <pthread.h>

#include "intercept/real.h"
#include "kernel/kernel.h"
#include "keys.h"
#include "opaque.h"
#include "service.h"
#include "shared.h"
#include "sync.h"
#include "sys.h"
#include "thread.h"

static int32_t home;

/* In a static executable libc's fork calls _Fork by its name, so through our wrapper: nested. */
static _Thread_local int depth __attribute__((tls_model("initial-exec")));

bool rt_fork_is_home(void)
{
    return rt_sys_getpid() == home;
}

int32_t rt_fork_home(void)
{
    return home;
}

void rt_fork_before(void)
{
    if (depth++)
        return;
    rt_kernel_has_relatives();
    if (rt_sync_is_live())
        rt_kernel_release(RT_KERNEL_CHILDREN, 0);
    rt_service_fork_before();
    rt_keys_fork_before();
    rt_thread_fork_before();
}

void rt_fork_parent(void)
{
    if (--depth)
        return;
    rt_thread_fork_parent();
    rt_keys_fork_after();
    rt_service_fork_after();
}

/* Signals are let in when the detector is ready for events again. */
static void begin_child(void)
{
    rt_opaque_follow_openmp(false); /* the library begins anew, and may not ask again */
    home = rt_sys_getpid();
    uint64_t signals = rt_thread_fork_child();
    rt_keys_fork_after();
    rt_service_fork_after();
    struct rt_thread *self = rt_thread_self();
    if (self && rt_detector->after_fork)
        rt_detector->after_fork(self);
    rt_shared_enter();
    rt_post(RH_EVENT_FORK, self ? self->id : 0, (uint64_t)home, 0, 0, 0);
    rt_signals_restore(signals);
}

void rt_fork_child(void)
{
    if (--depth)
        return;
    begin_child();
    rt_service_start();
}

void rt_fork_start(void)
{
    home = rt_sys_getpid();
    pthread_atfork(rt_fork_before, rt_fork_parent, rt_fork_child);
}

/* Unlike fork it may be called in a signal handler, where a thread cannot be made: the child goes
 * on without our own. */
RT_WRAPPER(pid_t, _Fork, (void))
{
    if (atomic_load(&rt_mode) != RT_MODE_LIVE)
        return RT_REAL(_Fork)();
    rt_fork_before();
    pid_t child = RT_REAL(_Fork)();
    if (child != 0)
        rt_fork_parent();
    else if (--depth == 0)
        begin_child();
    return child;
}
