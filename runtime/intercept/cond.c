/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Condition variables. A wait releases the mutex and has it again when it returns, also when it
 * timed out, and also when the thread is cancelled in it: its cleanup handlers run with the mutex
 * held, so we tell of that in a handler of our own, which runs before the program's. The handler is
 * there even while events are off: they may be switched on during the wait.
 */
#include <errno.h>

#include "intercept/cond.h"
#include "intercept/real.h"
#include "sync.h"

/* Both are used before the mutex is released: once all waiters have been woken, the condition may
 * be destroyed, although some have not returned. */
bool rt_cond_waiting(const void *cond, size_t size, const pthread_mutex_t *mutex, uintptr_t caller)
{
    if (!rt_sync_is_live())
        return false;
    rt_sync_use(cond, size, RT_SYNC_COND_WAKE, caller);
    rt_sync_use(mutex, sizeof *mutex, RT_SYNC_MUTEX_UNLOCK, caller);
    return rt_mutex_unlocking(mutex);
}

/* EINVAL: the time limit is nonsense, and the mutex was never let go, but we have told so. */
void rt_cond_woken(const void *cond, const pthread_mutex_t *mutex, int result, bool told_unlock,
                   uintptr_t caller)
{
    if (!rt_sync_is_live())
        return;
    bool was_signalled = result == 0 || result == EOWNERDEAD;
    if (result == EOWNERDEAD)
        rt_sync_event(RT_SYNC_OWNER_DIED, rt_dead_owners());
    if (was_signalled)
        rt_sync_event(RT_SYNC_COND_WAKE, cond);
    if (was_signalled || result == ETIMEDOUT || (told_unlock && result == EINVAL)) {
        rt_sync_use(mutex, sizeof *mutex, RT_SYNC_MUTEX_LOCK, caller);
        rt_mutex_locked(mutex);
    }
}

void rt_cond_cancelled(void *mutex)
{
    if (rt_sync_is_live())
        rt_mutex_locked(mutex);
}

RT_WRAPPER(int, pthread_cond_init, (pthread_cond_t * c, const pthread_condattr_t *a))
{
    int result = RT_REAL(pthread_cond_init)(c, a);
    if (result == 0)
        RT_TELL(c, RT_SYNC_OBJECT_INIT);
    return result;
}

RT_WRAPPER(int, pthread_cond_destroy, (pthread_cond_t * c))
{
    RT_TELL(c, RT_SYNC_OBJECT_DESTROY);
    return RT_REAL(pthread_cond_destroy)(c);
}

RT_WRAPPER(int, pthread_cond_wait, (pthread_cond_t * c, pthread_mutex_t *m))
{
    int result;
    bool told = rt_cond_waiting(c, sizeof *c, m, RT_CALLER);
    pthread_cleanup_push(rt_cond_cancelled, m);
    result = RT_REAL(pthread_cond_wait)(c, m);
    pthread_cleanup_pop(0);
    rt_cond_woken(c, m, result, told, RT_CALLER);
    return result;
}

RT_WRAPPER(int, pthread_cond_timedwait,
           (pthread_cond_t * c, pthread_mutex_t *m, const struct timespec *t))
{
    int result;
    bool told = rt_cond_waiting(c, sizeof *c, m, RT_CALLER);
    pthread_cleanup_push(rt_cond_cancelled, m);
    result = RT_REAL(pthread_cond_timedwait)(c, m, t);
    pthread_cleanup_pop(0);
    rt_cond_woken(c, m, result, told, RT_CALLER);
    return result;
}

RT_WRAPPER(int, pthread_cond_clockwait,
           (pthread_cond_t * c, pthread_mutex_t *m, clockid_t k, const struct timespec *t))
{
    int result;
    bool told = rt_cond_waiting(c, sizeof *c, m, RT_CALLER);
    pthread_cleanup_push(rt_cond_cancelled, m);
    result = RT_REAL(pthread_cond_clockwait)(c, m, k, t);
    pthread_cleanup_pop(0);
    rt_cond_woken(c, m, result, told, RT_CALLER);
    return result;
}

RT_WRAPPER(int, pthread_cond_signal, (pthread_cond_t * c))
{
    RT_TELL(c, RT_SYNC_COND_SIGNAL);
    return RT_REAL(pthread_cond_signal)(c);
}

RT_WRAPPER(int, pthread_cond_broadcast, (pthread_cond_t * c))
{
    RT_TELL(c, RT_SYNC_COND_SIGNAL);
    return RT_REAL(pthread_cond_broadcast)(c);
}
