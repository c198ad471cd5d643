/* SPDX-License-Identifier: Apache-2.0 */
/* Semaphores. Every post releases and every successful wait acquires. */
#include <stdarg.h>

#include "intercept/real.h"
#include "opaque.h"
#include "sync.h"

RT_WRAPPER(int, sem_init, (sem_t * s, int shared, unsigned value))
{
    int result = RT_REAL(sem_init)(s, shared, value);
    if (result == 0)
        RT_TELL(s, RT_SYNC_OBJECT_INIT);
    return result;
}

/* A semaphore with a name is shared with other processes: see the wrapper of mmap, which libc's own
 * code does not come through. */
RT_WRAPPER(sem_t *, sem_open, (const char *name, int flags, ...))
{
    va_list list;
    va_start(list, flags);
    unsigned mode = va_arg(list, unsigned), value = va_arg(list, unsigned);
    va_end(list);
    rt_opaque(RH_OPAQUE_SHARED);
    return RT_REAL(sem_open)(name, flags, mode, value);
}

RT_WRAPPER(int, sem_destroy, (sem_t * s))
{
    RT_TELL(s, RT_SYNC_OBJECT_DESTROY);
    return RT_REAL(sem_destroy)(s);
}

RT_WRAPPER(int, sem_wait, (sem_t * s))
{
    int result = RT_REAL(sem_wait)(s);
    return RT_TELL_RESULT(s, RT_SYNC_SEM_WAIT, result);
}

RT_WRAPPER(int, sem_trywait, (sem_t * s))
{
    int result = RT_REAL(sem_trywait)(s);
    return RT_TELL_RESULT(s, RT_SYNC_SEM_WAIT, result);
}

RT_WRAPPER(int, sem_timedwait, (sem_t * s, const struct timespec *t))
{
    int result = RT_REAL(sem_timedwait)(s, t);
    return RT_TELL_RESULT(s, RT_SYNC_SEM_WAIT, result);
}

RT_WRAPPER(int, sem_clockwait, (sem_t * s, clockid_t c, const struct timespec *t))
{
    int result = RT_REAL(sem_clockwait)(s, c, t);
    return RT_TELL_RESULT(s, RT_SYNC_SEM_WAIT, result);
}

RT_WRAPPER(int, sem_post, (sem_t * s))
{
    RT_TELL(s, RT_SYNC_SEM_POST);
    return RT_REAL(sem_post)(s);
}
