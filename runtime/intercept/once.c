/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Things done once: pthread_once, call_once, and C++'s guards of function statics. The end of the
 * function releases to the control, and whoever passes later acquires from it.
 */
#include "intercept/once.h"
#include "intercept/real.h"
#include "sync.h"
#include "sys.h"

/*
 * The real functions call ours without an argument, so what to run is found through a thread-local
 * stack. Ours takes its entry off before it runs the program's function: if that throws, nothing is
 * left to undo, the real function makes the control ready for another try as it always does, and
 * nobody has been told that it is done.
 */
static _Thread_local struct rt_once *innermost __attribute__((tls_model("initial-exec")));

void rt_once_begin(struct rt_once *once, void *control, void (*function)(void))
{
    *once = (struct rt_once){.control = control, .function = function, .outer = innermost};
    innermost = once;
}

void rt_once_run(void)
{
    const struct rt_once *once = innermost;
    void *control = once->control;
    innermost = once->outer;
    once->function();
    rt_sync(RT_SYNC_ONCE_DONE, control);
}

/* The function need not have run: another thread may have done it. */
void rt_once_end(const struct rt_once *once)
{
    innermost = once->outer;
    rt_sync(RT_SYNC_ONCE_PASS, once->control);
}

__attribute__((noinline)) static int run_or_wait(pthread_once_t *o, void (*f)(void))
{
    struct rt_once once;
    rt_once_begin(&once, o, f);
    int result = RT_REAL(pthread_once)(o, rt_once_run);
    rt_once_end(&once);
    return result;
}

__attribute__((noinline)) static int tell_pass(const pthread_once_t *o, int result)
{
    rt_sync_event(RT_SYNC_ONCE_PASS, o);
    return result;
}

/* A function that has run never runs again, so there is nothing to put on the stack. */
RT_WRAPPER(int, pthread_once, (pthread_once_t * o, void (*f)(void)))
{
    if (rt_unlikely(!rt_once_is_done(o)))
        return run_or_wait(o, f);
    int result = RT_REAL(pthread_once)(o, f);
    return rt_sync_is_live() ? tell_pass(o, result) : result;
}

/* --- guards of function statics --- */

RT_WRAPPER(int, __cxa_guard_acquire, (uint64_t * g))
{
    int must_initialise = RT_REAL(__cxa_guard_acquire)(g);
    if (!must_initialise)
        rt_sync(RT_SYNC_ONCE_PASS, g);
    return must_initialise;
}

RT_WRAPPER(void, __cxa_guard_release, (uint64_t * g))
{
    rt_sync(RT_SYNC_ONCE_DONE, g);
    RT_REAL(__cxa_guard_release)(g);
}

RT_WRAPPER(void, __cxa_guard_abort, (uint64_t * g))
{
    RT_REAL(__cxa_guard_abort)(g);
}

/*
 * For links that leave the C++ library's own out (real.h). The compiler's code looks only at the
 * first byte, which is 1 once the variable is initialised; the rest is ours: the second word is a
 * lock, 0 free, 1 initialising, 2 initialising and someone waits.
 */
static uint8_t *done_byte(uint64_t *guard)
{
    return (uint8_t *)guard;
}

static _Atomic uint32_t *lock_word(uint64_t *guard)
{
    return (_Atomic uint32_t *)guard + 1;
}

static void let_others_in(uint64_t *guard)
{
    if (atomic_exchange(lock_word(guard), 0) == 2)
        rt_sys_futex_wake(lock_word(guard), INT32_MAX);
}

int rt_guard_acquire(uint64_t *guard)
{
    uint32_t free = 0;
    bool locked = atomic_compare_exchange_strong(lock_word(guard), &free, 1);
    while (!locked) {
        locked = atomic_exchange(lock_word(guard), 2) == 0;
        if (!locked)
            rt_sys_futex_wait(lock_word(guard), 2, -1);
    }
    if (!__atomic_load_n(done_byte(guard), __ATOMIC_ACQUIRE))
        return 1;
    let_others_in(guard);
    return 0;
}

void rt_guard_release(uint64_t *guard)
{
    __atomic_store_n(done_byte(guard), 1, __ATOMIC_RELEASE);
    let_others_in(guard);
}

void rt_guard_abort(uint64_t *guard)
{
    let_others_in(guard);
}
