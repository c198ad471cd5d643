/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C11 threads. glibc's functions do the work of their pthread cousins inside libc, without calling
 * the names we wrap, so each needs a wrapper and none is told of twice. An mtx_t is a
 * pthread_mutex_t there, and a thrd_t a pthread_t.
 */
#include <errno.h>

#include "intercept/cond.h"
#include "intercept/once.h"
#include "intercept/real.h"
#include "intercept/threads.h"
#include "sync.h"

_Static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t), "seen as one");
_Static_assert(sizeof(thrd_t) == sizeof(pthread_t), "seen as one");
_Static_assert(sizeof(once_flag) == sizeof(pthread_once_t), "seen as one");

/* --- threads --- */

static int run_thread(void *thread)
{
    struct rt_thread *self = thread;
    rt_thread_enter(self);
    return self->start.c11(self->start_arg);
}

RT_WRAPPER(int, thrd_create, (thrd_t * t, thrd_start_t f, void *arg))
{
    struct rt_creation c = rt_thread_create_begin(true);
    if (!c.thread)
        return RT_REAL(thrd_create)(t, f, arg);
    c.thread->start.c11 = f;
    c.thread->start_arg = arg;
    c.thread->stack_size = rt_thread_stack_size(NULL);
    int result = RT_REAL(thrd_create)(t, run_thread, c.thread);
    rt_thread_create_end(&c, result == thrd_success ? (const pthread_t *)t : NULL);
    return result;
}

RT_WRAPPER(int, thrd_join, (thrd_t t, int *value))
{
    struct rt_handle handle = rt_thread_find((uintptr_t)t);
    int result = RT_REAL(thrd_join)(t, value);
    if (result == thrd_success)
        rt_thread_joined(handle);
    return result;
}

RT_WRAPPER(int, thrd_detach, (thrd_t t))
{
    struct rt_handle handle = rt_thread_find((uintptr_t)t);
    int result = RT_REAL(thrd_detach)(t);
    if (result == thrd_success)
        rt_thread_detached(handle);
    return result;
}

RT_WRAPPER(void, call_once, (once_flag * o, void (*f)(void)))
{
    struct rt_once once;
    if (rt_likely(rt_once_is_done((const int *)o))) {
        RT_REAL(call_once)(o, f);
        rt_sync(RT_SYNC_ONCE_PASS, o);
        return;
    }
    rt_once_begin(&once, o, f);
    RT_REAL(call_once)(o, rt_once_run);
    rt_once_end(&once);
}

/* --- mutexes --- */

static const pthread_mutex_t *mutex_of(const mtx_t *m)
{
    return (const pthread_mutex_t *)m;
}

__attribute__((noinline)) static int tell_lock(const mtx_t *m, int result, uintptr_t caller)
{
    rt_sync_use(m, sizeof *m, RT_SYNC_MUTEX_LOCK, caller);
    if (result == thrd_success)
        rt_mutex_locked(mutex_of(m));
    return result;
}

__attribute__((noinline)) static void tell_unlock(const mtx_t *m, uintptr_t caller)
{
    rt_sync_use(m, sizeof *m, RT_SYNC_MUTEX_UNLOCK, caller);
    rt_mutex_unlocking(mutex_of(m));
}

RT_WRAPPER(int, mtx_init, (mtx_t * m, int type))
{
    int result = RT_REAL(mtx_init)(m, type);
    if (result == thrd_success)
        RT_TELL(m, RT_SYNC_OBJECT_INIT);
    return result;
}

RT_WRAPPER(void, mtx_destroy, (mtx_t * m))
{
    RT_TELL(m, RT_SYNC_OBJECT_DESTROY);
    RT_REAL(mtx_destroy)(m);
}

RT_WRAPPER(int, mtx_lock, (mtx_t * m))
{
    int result = RT_REAL(mtx_lock)(m);
    return rt_sync_is_live() ? tell_lock(m, result, RT_CALLER) : result;
}

RT_WRAPPER(int, mtx_trylock, (mtx_t * m))
{
    int result = RT_REAL(mtx_trylock)(m);
    return rt_sync_is_live() ? tell_lock(m, result, RT_CALLER) : result;
}

RT_WRAPPER(int, mtx_timedlock, (mtx_t *restrict m, const struct timespec *restrict t))
{
    int result = RT_REAL(mtx_timedlock)(m, t);
    return rt_sync_is_live() ? tell_lock(m, result, RT_CALLER) : result;
}

RT_WRAPPER(int, mtx_unlock, (mtx_t * m))
{
    if (rt_sync_is_live())
        tell_unlock(m, RT_CALLER);
    return RT_REAL(mtx_unlock)(m);
}

/* --- condition variables --- */

static int errno_of(int result)
{
    switch (result) {
    case thrd_success:
        return 0;
    case thrd_timedout:
        return ETIMEDOUT;
    default:
        return EINVAL;
    }
}

RT_WRAPPER(int, cnd_init, (cnd_t * c))
{
    int result = RT_REAL(cnd_init)(c);
    if (result == thrd_success)
        RT_TELL(c, RT_SYNC_OBJECT_INIT);
    return result;
}

RT_WRAPPER(void, cnd_destroy, (cnd_t * c))
{
    RT_TELL(c, RT_SYNC_OBJECT_DESTROY);
    RT_REAL(cnd_destroy)(c);
}

RT_WRAPPER(int, cnd_wait, (cnd_t * c, mtx_t *m))
{
    int result;
    bool told = rt_cond_waiting(c, sizeof *c, mutex_of(m), RT_CALLER);
    pthread_cleanup_push(rt_cond_cancelled, m);
    result = RT_REAL(cnd_wait)(c, m);
    pthread_cleanup_pop(0);
    rt_cond_woken(c, mutex_of(m), errno_of(result), told, RT_CALLER);
    return result;
}

RT_WRAPPER(int, cnd_timedwait,
           (cnd_t *restrict c, mtx_t *restrict m, const struct timespec *restrict t))
{
    int result;
    bool told = rt_cond_waiting(c, sizeof *c, mutex_of(m), RT_CALLER);
    pthread_cleanup_push(rt_cond_cancelled, m);
    result = RT_REAL(cnd_timedwait)(c, m, t);
    pthread_cleanup_pop(0);
    rt_cond_woken(c, mutex_of(m), errno_of(result), told, RT_CALLER);
    return result;
}

RT_WRAPPER(int, cnd_signal, (cnd_t * c))
{
    RT_TELL(c, RT_SYNC_COND_SIGNAL);
    return RT_REAL(cnd_signal)(c);
}

RT_WRAPPER(int, cnd_broadcast, (cnd_t * c))
{
    RT_TELL(c, RT_SYNC_COND_SIGNAL);
    return RT_REAL(cnd_broadcast)(c);
}
