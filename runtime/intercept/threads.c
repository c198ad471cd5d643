/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Creating, joining and detaching threads.
 *
 * pthread_exit and pthread_cancel are not wrapped: however a thread ends, libc runs its
 * thread-specific destructors, and ours is among them. It puts itself back until the last round, so
 * that destructors of the program, which may synchronise, have had their turn.
 */
#include "intercept/threads.h"

#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>

#include "intercept/exit.h"
#include "intercept/fork.h"
#include "intercept/real.h"

static pthread_key_t end_key;
static bool has_end_key;

static void end_thread(void *self)
{
    struct rt_thread *thread = self;
    if (++thread->end_rounds < PTHREAD_DESTRUCTOR_ITERATIONS)
        pthread_setspecific(end_key, thread);
    else
        rt_thread_end(thread);
}

void rt_thread_arm(struct rt_thread *self)
{
    self->armed = true;
    if (has_end_key)
        pthread_setspecific(end_key, self);
}

/* The kernel puts these random bytes above everything the program's frames use. */
static void note_main_stack(struct rt_thread *self)
{
    struct rlimit limit;
    self->stack_high = getauxval(AT_RANDOM);
    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < self->stack_high)
        self->stack_low = self->stack_high - limit.rlim_cur;
}

void rt_thread_start_main(void)
{
    has_end_key = pthread_key_create(&end_key, end_thread) == 0;
    struct rt_thread *self = rt_thread_enter_main((uintptr_t)pthread_self());
    if (self) {
        rt_thread_arm(self);
        note_main_stack(self);
    }
    rt_fork_start();
    rt_exit_start();
}

/* libc puts the thread's descriptor, whose address is the handle, at the top of its stack. A stack
 * that libc reuses may reach lower than was asked for. */
static void note_stack(struct rt_thread *self)
{
    uintptr_t page = getauxval(AT_PAGESZ);
    self->stack_high = (uintptr_t)pthread_self();
    self->stack_low = (self->stack_high - self->stack_size + page - 1) & -page;
}

void rt_thread_enter(struct rt_thread *self)
{
    note_stack(self);
    rt_thread_arm(self);
    rt_thread_begin(self, (uintptr_t)pthread_self());
}

static void *run_thread(void *thread)
{
    struct rt_thread *self = thread;
    rt_thread_enter(self);
    return self->start.posix(self->start_arg);
}

/* --- creating --- */

static bool is_joinable(const pthread_attr_t *attr)
{
    int state = PTHREAD_CREATE_JOINABLE;
    if (attr)
        pthread_attr_getdetachstate(attr, &state);
    return state == PTHREAD_CREATE_JOINABLE;
}

size_t rt_thread_stack_size(const pthread_attr_t *attr)
{
    pthread_attr_t plain;
    size_t size = 0;
    if (!attr && pthread_attr_init(&plain) == 0)
        attr = &plain;
    if (attr)
        pthread_attr_getstacksize(attr, &size);
    if (attr == &plain)
        pthread_attr_destroy(&plain);
    return size;
}

/* The mask a thread shall begin with is its creator's, unless its attributes give one. */
static uint64_t first_signals(const pthread_attr_t *attr, uint64_t creators)
{
    sigset_t mask;
    if (attr && pthread_attr_getsigmask_np(attr, &mask) == 0)
        memcpy(&creators, &mask, sizeof creators);
    return creators;
}

RT_WRAPPER(int, pthread_create,
           (pthread_t * t, const pthread_attr_t *a, void *(*f)(void *), void *arg))
{
    struct rt_creation c = rt_thread_create_begin(is_joinable(a));
    if (!c.thread)
        return RT_REAL(pthread_create)(t, a, f, arg);
    c.thread->start.posix = f;
    c.thread->start_arg = arg;
    c.thread->stack_size = rt_thread_stack_size(a);
    c.thread->signals = first_signals(a, c.signals);
    int result = RT_REAL(pthread_create)(t, a, run_thread, c.thread);
    rt_thread_create_end(&c, result == 0 ? t : NULL);
    return result;
}

/* --- joining and detaching --- */

static int after_join(struct rt_handle handle, int result)
{
    if (result == 0)
        rt_thread_joined(handle);
    return result;
}

RT_WRAPPER(int, pthread_join, (pthread_t t, void **value))
{
    struct rt_handle handle = rt_thread_find((uintptr_t)t);
    return after_join(handle, RT_REAL(pthread_join)(t, value));
}

RT_WRAPPER(int, pthread_tryjoin_np, (pthread_t t, void **value))
{
    struct rt_handle handle = rt_thread_find((uintptr_t)t);
    return after_join(handle, RT_REAL(pthread_tryjoin_np)(t, value));
}

RT_WRAPPER(int, pthread_timedjoin_np, (pthread_t t, void **value, const struct timespec *limit))
{
    struct rt_handle handle = rt_thread_find((uintptr_t)t);
    return after_join(handle, RT_REAL(pthread_timedjoin_np)(t, value, limit));
}

RT_WRAPPER(int, pthread_clockjoin_np,
           (pthread_t t, void **value, clockid_t c, const struct timespec *limit))
{
    struct rt_handle handle = rt_thread_find((uintptr_t)t);
    return after_join(handle, RT_REAL(pthread_clockjoin_np)(t, value, c, limit));
}

RT_WRAPPER(int, pthread_detach, (pthread_t t))
{
    struct rt_handle handle = rt_thread_find((uintptr_t)t);
    int result = RT_REAL(pthread_detach)(t);
    if (result == 0)
        rt_thread_detached(handle);
    return result;
}
