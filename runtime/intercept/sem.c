/* Semaphores. Every post releases and every successful wait acquires. */
#include "intercept/real.h"
#include "sync.h"

static int after_wait(const sem_t *semaphore, int result)
{
    if (result == 0)
        rt_sync(RT_SYNC_SEM_WAIT, semaphore);
    return result;
}

RT_WRAPPER(int, sem_init, (sem_t * s, int shared, unsigned value))
{
    int result = RT_REAL(sem_init)(s, shared, value);
    if (result == 0)
        rt_sync(RT_SYNC_OBJECT_INIT, s);
    return result;
}

RT_WRAPPER(int, sem_destroy, (sem_t * s))
{
    rt_sync(RT_SYNC_OBJECT_DESTROY, s);
    return RT_REAL(sem_destroy)(s);
}

RT_WRAPPER(int, sem_wait, (sem_t * s))
{
    return after_wait(s, RT_REAL(sem_wait)(s));
}

RT_WRAPPER(int, sem_trywait, (sem_t * s))
{
    return after_wait(s, RT_REAL(sem_trywait)(s));
}

RT_WRAPPER(int, sem_timedwait, (sem_t * s, const struct timespec *t))
{
    return after_wait(s, RT_REAL(sem_timedwait)(s, t));
}

RT_WRAPPER(int, sem_clockwait, (sem_t * s, clockid_t c, const struct timespec *t))
{
    return after_wait(s, RT_REAL(sem_clockwait)(s, c, t));
}

RT_WRAPPER(int, sem_post, (sem_t * s))
{
    rt_sync(RT_SYNC_SEM_POST, s);
    return RT_REAL(sem_post)(s);
}
