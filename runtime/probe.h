/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether memory can be read, asked of the kernel: rt_sigprocmask looks at its second argument
 * before it refuses its first, and no sandbox forbids it, because signal masks are everywhere.
 */
#ifndef RH_RUNTIME_PROBE_H
#define RH_RUNTIME_PROBE_H

#include <errno.h>
#include <sys/syscall.h>

#include "sys.h"

/* Pages may be larger; then neighbours give the same answer. */
#define RT_PROBE_PAGE 4096

/* The aligned word that holds this address, and so its page. */
static inline bool rt_can_read(uintptr_t address)
{
    return rt_arch_syscall(SYS_rt_sigprocmask, -1, (long)(address & ~(uintptr_t)7), 0, 8, 0, 0) ==
           -EINVAL;
}

#endif
