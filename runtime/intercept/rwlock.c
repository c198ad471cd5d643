/* SPDX-License-Identifier: Apache-2.0 */
/* Read-write locks. */
#include "intercept/real.h"
#include "sync.h"

RT_WRAPPER(int, pthread_rwlock_init, (pthread_rwlock_t * l, const pthread_rwlockattr_t *a))
{
    int result = RT_REAL(pthread_rwlock_init)(l, a);
    if (result == 0)
        RT_TELL(l, RT_SYNC_OBJECT_INIT);
    return result;
}

RT_WRAPPER(int, pthread_rwlock_destroy, (pthread_rwlock_t * l))
{
    RT_TELL(l, RT_SYNC_OBJECT_DESTROY);
    return RT_REAL(pthread_rwlock_destroy)(l);
}

RT_WRAPPER(int, pthread_rwlock_rdlock, (pthread_rwlock_t * l))
{
    int result = RT_REAL(pthread_rwlock_rdlock)(l);
    return RT_TELL_RESULT(l, RT_SYNC_RWLOCK_READ, result);
}

RT_WRAPPER(int, pthread_rwlock_tryrdlock, (pthread_rwlock_t * l))
{
    int result = RT_REAL(pthread_rwlock_tryrdlock)(l);
    return RT_TELL_RESULT(l, RT_SYNC_RWLOCK_READ, result);
}

RT_WRAPPER(int, pthread_rwlock_timedrdlock, (pthread_rwlock_t * l, const struct timespec *t))
{
    int result = RT_REAL(pthread_rwlock_timedrdlock)(l, t);
    return RT_TELL_RESULT(l, RT_SYNC_RWLOCK_READ, result);
}

RT_WRAPPER(int, pthread_rwlock_clockrdlock,
           (pthread_rwlock_t * l, clockid_t c, const struct timespec *t))
{
    int result = RT_REAL(pthread_rwlock_clockrdlock)(l, c, t);
    return RT_TELL_RESULT(l, RT_SYNC_RWLOCK_READ, result);
}

RT_WRAPPER(int, pthread_rwlock_wrlock, (pthread_rwlock_t * l))
{
    int result = RT_REAL(pthread_rwlock_wrlock)(l);
    return RT_TELL_RESULT(l, RT_SYNC_RWLOCK_WRITE, result);
}

RT_WRAPPER(int, pthread_rwlock_trywrlock, (pthread_rwlock_t * l))
{
    int result = RT_REAL(pthread_rwlock_trywrlock)(l);
    return RT_TELL_RESULT(l, RT_SYNC_RWLOCK_WRITE, result);
}

RT_WRAPPER(int, pthread_rwlock_timedwrlock, (pthread_rwlock_t * l, const struct timespec *t))
{
    int result = RT_REAL(pthread_rwlock_timedwrlock)(l, t);
    return RT_TELL_RESULT(l, RT_SYNC_RWLOCK_WRITE, result);
}

RT_WRAPPER(int, pthread_rwlock_clockwrlock,
           (pthread_rwlock_t * l, clockid_t c, const struct timespec *t))
{
    int result = RT_REAL(pthread_rwlock_clockwrlock)(l, c, t);
    return RT_TELL_RESULT(l, RT_SYNC_RWLOCK_WRITE, result);
}

/* Whether a reader or the writer unlocks, glibc itself decides by this comparison, so it is right
 * also for locks taken before events were live. */
__attribute__((noinline)) static void tell_unlock(const pthread_rwlock_t *lock, uintptr_t caller)
{
    const struct rt_thread *self = rt_thread_self();
    int writer = __atomic_load_n(&lock->__data.__cur_writer, __ATOMIC_RELAXED);
    bool is_writer = self && writer == self->tid;
    rt_sync_tell(lock, sizeof *lock,
                 is_writer ? RT_SYNC_RWLOCK_WRITE_UNLOCK : RT_SYNC_RWLOCK_READ_UNLOCK, caller);
}

RT_WRAPPER(int, pthread_rwlock_unlock, (pthread_rwlock_t * l))
{
    if (rt_sync_is_live())
        tell_unlock(l, RT_CALLER);
    return RT_REAL(pthread_rwlock_unlock)(l);
}
