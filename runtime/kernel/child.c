/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Child processes: who waits for one knows what was done before it was made, or before it was
 * killed, by whichever thread. All children are one object. The release of fork is in fork.c, that
 * of kill in signal.c; vfork, which cannot be wrapped, gives none.
 */
#include <stdlib.h>

#include "intercept/real.h"
#include "kernel/kernel.h"
#include "sync.h"

static inline void before_child(void)
{
    rt_kernel_has_relatives();
    if (rt_sync_is_live())
        rt_kernel_release(RT_KERNEL_CHILDREN, 0);
}

static inline pid_t after_wait(pid_t result)
{
    if (rt_sync_is_live() && result > 0)
        rt_kernel_acquire(RT_KERNEL_CHILDREN, 0);
    return result;
}

RT_WRAPPER(pid_t, wait, (int *status))
{
    return after_wait(RT_REAL(wait)(status));
}

RT_WRAPPER(pid_t, waitpid, (pid_t p, int *status, int flags))
{
    return after_wait(RT_REAL(waitpid)(p, status, flags));
}

RT_WRAPPER(pid_t, wait3, (int *status, int flags, struct rusage *u))
{
    return after_wait(RT_REAL(wait3)(status, flags, u));
}

RT_WRAPPER(pid_t, wait4, (pid_t p, int *status, int flags, struct rusage *u))
{
    return after_wait(RT_REAL(wait4)(p, status, flags, u));
}

RT_WRAPPER(int, waitid, (idtype_t t, id_t id, siginfo_t *info, int flags))
{
    int result = RT_REAL(waitid)(t, id, info, flags);
    if (rt_sync_is_live() && result == 0)
        rt_kernel_acquire(RT_KERNEL_CHILDREN, 0);
    return result;
}

RT_WRAPPER(int, posix_spawn,
           (pid_t * p, const char *path, const posix_spawn_file_actions_t *f,
            const posix_spawnattr_t *a, char *const v[], char *const e[]))
{
    before_child();
    return RT_REAL(posix_spawn)(p, path, f, a, v, e);
}

RT_WRAPPER(int, posix_spawnp,
           (pid_t * p, const char *path, const posix_spawn_file_actions_t *f,
            const posix_spawnattr_t *a, char *const v[], char *const e[]))
{
    before_child();
    return RT_REAL(posix_spawnp)(p, path, f, a, v, e);
}

RT_WRAPPER(int, system, (const char *command))
{
    before_child();
    return RT_REAL(system)(command);
}
