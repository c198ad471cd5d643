/* SPDX-License-Identifier: Apache-2.0 */
/* Mutexes, spin locks and the locks of stdio's files. */
#include <errno.h>

#include "arch/x86_64/acquire.h"
#include "intercept/real.h"
#include "sync.h"

/* Bits of a mutex's kind as glibc keeps them beside its type. */
enum { KIND_TYPE = 3, KIND_ROBUST = 16, KIND_INHERITS_PRIORITY = 32 };
/* The owner in the lock word of robust and priority-inheriting mutexes. */
enum { LOCK_OWNER = 0x3fffffff };

static int kind_of(const pthread_mutex_t *mutex)
{
    return __atomic_load_n(&mutex->__data.__kind, __ATOMIC_RELAXED);
}

static bool is_nested(const pthread_mutex_t *mutex, int kind)
{
    return (kind & KIND_TYPE) == PTHREAD_MUTEX_RECURSIVE_NP && mutex->__data.__count > 1;
}

/* Only some kinds know their owner and refuse an unlock by another thread; a robust mutex whose
 * last owner died says so in its owner field, and keeps the new one only in the lock word. */
static bool refuses(const pthread_mutex_t *mutex, int kind, int32_t tid)
{
    if (kind & (KIND_ROBUST | KIND_INHERITS_PRIORITY))
        return (__atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED) & LOCK_OWNER) != tid;
    int type = kind & KIND_TYPE;
    return (type == PTHREAD_MUTEX_RECURSIVE_NP || type == PTHREAD_MUTEX_ERRORCHECK_NP) &&
           __atomic_load_n(&mutex->__data.__owner, __ATOMIC_RELAXED) != tid;
}

void rt_mutex_locked(const pthread_mutex_t *mutex)
{
    if (!is_nested(mutex, kind_of(mutex)))
        rt_sync_event(RT_SYNC_MUTEX_LOCK, mutex);
}

bool rt_mutex_unlocking(const pthread_mutex_t *mutex)
{
    const struct rt_thread *self = rt_thread_self();
    int kind = kind_of(mutex);
    if (!self || refuses(mutex, kind, self->tid) || is_nested(mutex, kind))
        return false;
    rt_sync_event(RT_SYNC_MUTEX_UNLOCK, mutex);
    return true;
}

/* EOWNERDEAD: locked, and the owner before died with it. */
RT_HIDDEN int rt_mutex_tell_lock(const pthread_mutex_t *mutex, int result, uintptr_t caller);

int rt_mutex_tell_lock(const pthread_mutex_t *mutex, int result, uintptr_t caller)
{
    rt_sync_use(mutex, sizeof *mutex, RT_SYNC_MUTEX_LOCK, caller);
    if (result == EOWNERDEAD)
        rt_sync_event(RT_SYNC_OWNER_DIED, rt_dead_owners());
    if (result == 0 || result == EOWNERDEAD)
        rt_mutex_locked(mutex);
    return result;
}

/* The one that programs call most. */
__attribute__((naked))
RT_WRAPPER(int, pthread_mutex_lock, (pthread_mutex_t * m __attribute__((unused))))
{
    RT_ARCH_ACQUIRE(pthread_mutex_lock, rt_mutex_tell_lock);
}

RT_WRAPPER(int, pthread_mutex_trylock, (pthread_mutex_t * m))
{
    int result = RT_REAL(pthread_mutex_trylock)(m);
    return rt_sync_is_live() ? rt_mutex_tell_lock(m, result, RT_CALLER) : result;
}

RT_WRAPPER(int, pthread_mutex_timedlock, (pthread_mutex_t * m, const struct timespec *t))
{
    int result = RT_REAL(pthread_mutex_timedlock)(m, t);
    return rt_sync_is_live() ? rt_mutex_tell_lock(m, result, RT_CALLER) : result;
}

RT_WRAPPER(int, pthread_mutex_clocklock,
           (pthread_mutex_t * m, clockid_t c, const struct timespec *t))
{
    int result = RT_REAL(pthread_mutex_clocklock)(m, c, t);
    return rt_sync_is_live() ? rt_mutex_tell_lock(m, result, RT_CALLER) : result;
}

__attribute__((noinline)) static void tell_unlock(const pthread_mutex_t *mutex, uintptr_t caller)
{
    rt_sync_use(mutex, sizeof *mutex, RT_SYNC_MUTEX_UNLOCK, caller);
    rt_mutex_unlocking(mutex);
}

RT_WRAPPER(int, pthread_mutex_unlock, (pthread_mutex_t * m))
{
    if (rt_sync_is_live())
        tell_unlock(m, RT_CALLER);
    return RT_REAL(pthread_mutex_unlock)(m);
}

RT_WRAPPER(int, pthread_mutex_init, (pthread_mutex_t * m, const pthread_mutexattr_t *a))
{
    int result = RT_REAL(pthread_mutex_init)(m, a);
    if (result == 0)
        RT_TELL(m, RT_SYNC_OBJECT_INIT);
    return result;
}

/* One that is locked may refuse; that it was to be destroyed is told all the same. */
RT_WRAPPER(int, pthread_mutex_destroy, (pthread_mutex_t * m))
{
    int result = RT_REAL(pthread_mutex_destroy)(m);
    return RT_TELL_RESULT(m, RT_SYNC_OBJECT_DESTROY, result);
}

/* --- spin locks --- */

RT_WRAPPER(int, pthread_spin_init, (pthread_spinlock_t * s, int shared))
{
    int result = RT_REAL(pthread_spin_init)(s, shared);
    if (result == 0)
        RT_TELL(s, RT_SYNC_OBJECT_INIT);
    return result;
}

RT_WRAPPER(int, pthread_spin_destroy, (pthread_spinlock_t * s))
{
    RT_TELL(s, RT_SYNC_OBJECT_DESTROY);
    return RT_REAL(pthread_spin_destroy)(s);
}

RT_WRAPPER(int, pthread_spin_lock, (pthread_spinlock_t * s))
{
    int result = RT_REAL(pthread_spin_lock)(s);
    return RT_TELL_RESULT(s, RT_SYNC_SPIN_LOCK, result);
}

RT_WRAPPER(int, pthread_spin_trylock, (pthread_spinlock_t * s))
{
    int result = RT_REAL(pthread_spin_trylock)(s);
    return RT_TELL_RESULT(s, RT_SYNC_SPIN_LOCK, result);
}

RT_WRAPPER(int, pthread_spin_unlock, (pthread_spinlock_t * s))
{
    RT_TELL(s, RT_SYNC_SPIN_UNLOCK);
    return RT_REAL(pthread_spin_unlock)(s);
}

/* --- files: nested locks are events too, and only the list of held locks tells them apart --- */

RT_WRAPPER(void, flockfile, (FILE * f))
{
    RT_REAL(flockfile)(f);
    rt_sync(RT_SYNC_MUTEX_LOCK, f);
}

RT_WRAPPER(int, ftrylockfile, (FILE * f))
{
    int result = RT_REAL(ftrylockfile)(f);
    if (result == 0)
        rt_sync(RT_SYNC_MUTEX_LOCK, f);
    return result;
}

RT_WRAPPER(void, funlockfile, (FILE * f))
{
    rt_sync(RT_SYNC_MUTEX_UNLOCK, f);
    RT_REAL(funlockfile)(f);
}
