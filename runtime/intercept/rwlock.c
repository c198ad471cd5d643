/* Read-write locks. */
#include "intercept/real.h"
#include "sync.h"

static int after_read(const pthread_rwlock_t *lock, int result)
{
    if (result == 0)
        rt_sync(RT_SYNC_RWLOCK_READ, lock);
    return result;
}

static int after_write(const pthread_rwlock_t *lock, int result)
{
    if (result == 0)
        rt_sync(RT_SYNC_RWLOCK_WRITE, lock);
    return result;
}

RT_WRAPPER(int, pthread_rwlock_init, (pthread_rwlock_t * l, const pthread_rwlockattr_t *a))
{
    int result = RT_REAL(pthread_rwlock_init)(l, a);
    if (result == 0)
        rt_sync(RT_SYNC_OBJECT_INIT, l);
    return result;
}

RT_WRAPPER(int, pthread_rwlock_destroy, (pthread_rwlock_t * l))
{
    rt_sync(RT_SYNC_OBJECT_DESTROY, l);
    return RT_REAL(pthread_rwlock_destroy)(l);
}

RT_WRAPPER(int, pthread_rwlock_rdlock, (pthread_rwlock_t * l))
{
    return after_read(l, RT_REAL(pthread_rwlock_rdlock)(l));
}

RT_WRAPPER(int, pthread_rwlock_tryrdlock, (pthread_rwlock_t * l))
{
    return after_read(l, RT_REAL(pthread_rwlock_tryrdlock)(l));
}

RT_WRAPPER(int, pthread_rwlock_timedrdlock, (pthread_rwlock_t * l, const struct timespec *t))
{
    return after_read(l, RT_REAL(pthread_rwlock_timedrdlock)(l, t));
}

RT_WRAPPER(int, pthread_rwlock_clockrdlock,
           (pthread_rwlock_t * l, clockid_t c, const struct timespec *t))
{
    return after_read(l, RT_REAL(pthread_rwlock_clockrdlock)(l, c, t));
}

RT_WRAPPER(int, pthread_rwlock_wrlock, (pthread_rwlock_t * l))
{
    return after_write(l, RT_REAL(pthread_rwlock_wrlock)(l));
}

RT_WRAPPER(int, pthread_rwlock_trywrlock, (pthread_rwlock_t * l))
{
    return after_write(l, RT_REAL(pthread_rwlock_trywrlock)(l));
}

RT_WRAPPER(int, pthread_rwlock_timedwrlock, (pthread_rwlock_t * l, const struct timespec *t))
{
    return after_write(l, RT_REAL(pthread_rwlock_timedwrlock)(l, t));
}

RT_WRAPPER(int, pthread_rwlock_clockwrlock,
           (pthread_rwlock_t * l, clockid_t c, const struct timespec *t))
{
    return after_write(l, RT_REAL(pthread_rwlock_clockwrlock)(l, c, t));
}

/* Whether a reader or the writer unlocks, glibc itself decides by this comparison, so it is right
 * also for locks taken before events were live. */
static void tell_unlock(const pthread_rwlock_t *lock)
{
    const struct rt_thread *self = rt_thread_self();
    int writer = __atomic_load_n(&lock->__data.__cur_writer, __ATOMIC_RELAXED);
    bool is_writer = self && writer == self->tid;
    rt_sync_event(is_writer ? RT_SYNC_RWLOCK_WRITE_UNLOCK : RT_SYNC_RWLOCK_READ_UNLOCK, lock);
}

RT_WRAPPER(int, pthread_rwlock_unlock, (pthread_rwlock_t * l))
{
    if (rt_sync_is_live())
        tell_unlock(l);
    return RT_REAL(pthread_rwlock_unlock)(l);
}
