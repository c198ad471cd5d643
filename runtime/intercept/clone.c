/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that the program makes with clone, past the C library. Nothing tells of their end, and
 * what they wait for is the program's own affair, so the process is opaque from then on. They are
 * known from their first key or wrapper on; one that was given no thread-local storage of its own
 * shares its maker's, and is told from it by the kernel's number.
 */
#include <sched.h>
#include <stdarg.h>

#include "intercept/real.h"
#include "opaque.h"
#include "thread.h"

/* libc's clone by its other name: looking it up would take locks, and clone may be called where
 * that is not allowed. */
extern int __clone(int (*function)(void *), void *stack, int flags, void *arg, ...);

static void announce(int flags)
{
    rt_start();
    if (!(flags & CLONE_VM) || (flags & CLONE_VFORK) || atomic_load(&rt_mode) != RT_MODE_LIVE)
        return;
    rt_opaque(RH_OPAQUE_CLONE);
    rt_thread_cloning(!(flags & CLONE_SETTLS));
}

/* What was not given is passed on as it is found: the real one looks at no more than the flags say.
 */
RT_WRAPPER(int, clone, (int (*function)(void *), void *stack, int flags, void *arg, ...))
{
    va_list list;
    va_start(list, arg);
    void *parent_number = va_arg(list, void *);
    void *storage = va_arg(list, void *);
    void *child_number = va_arg(list, void *);
    va_end(list);
    announce(flags);
    return __clone(function, stack, flags, arg, parent_number, storage, child_number);
}
