/* SPDX-License-Identifier: Apache-2.0 */
/* Semaphores. Every post releases and every successful wait acquires. */
#include "intercept/real.h"
#include "sync.h"

RT_WRAPPER(int, sem_init, (sem_t * s, int shared, unsigned value))
{
    int result = RT_REAL(sem_init)(s, shared, value);
    if (result == 0)
        RT_TELL(s, RT_SYNC_OBJECT_INIT);
    return result;
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
