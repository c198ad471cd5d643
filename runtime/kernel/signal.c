/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals: what a thread did before it sent one is known to the handler, and to who waits for it
 * with sigwait or a signalfd. The handler may run in any instruction of the thread that gets it, so
 * there is no moment at which that thread could be said to acquire: it learns when the signal is
 * sent (SIGNAL_SEND, whose object is the thread, or NULL if it may be any). That is earlier than it
 * is true, and hides a race at worst.
 *
 * The same holds for who sets a handler or starts a timer, and for who cancels a thread, whose
 * cleanup handlers run. raise is left out: it sends to the calling thread.
 *
 * Not seen: signals that input and output bring (F_SETOWN, mq_notify), and those that the kernel
 * sends for what another thread did.
 */
#include <signal.h>

#include "intercept/fork.h"
#include "intercept/real.h"
#include "kernel/kernel.h"
#include "sync.h"
#include "sys.h"
#include "thread.h"

static void tell_signal(uint32_t id)
{
    if (rt_fork_is_home())
        rt_sync_event(RT_SYNC_SIGNAL_SEND, id ? rt_thread_object(id) : NULL);
}

/* --- to a process --- */

/* Zero and negative numbers are groups, which may have us among them. To another process a signal
 * may mean its end, which someone waits for (child.c). */
static void before_kill(pid_t process, int signal)
{
    if (!signal)
        return;
    if (process <= 0 || process == rt_sys_getpid())
        tell_signal(0);
    if (process != rt_sys_getpid())
        rt_kernel_release(RT_KERNEL_CHILDREN, 0);
}

RT_WRAPPER(int, kill, (pid_t p, int s))
{
    if (rt_sync_is_live())
        before_kill(p, s);
    return RT_REAL(kill)(p, s);
}

RT_WRAPPER(int, killpg, (pid_t p, int s))
{
    if (rt_sync_is_live())
        before_kill(-p, s);
    return RT_REAL(killpg)(p, s);
}

RT_WRAPPER(int, sigqueue, (pid_t p, int s, const union sigval v))
{
    if (rt_sync_is_live())
        before_kill(p, s);
    return RT_REAL(sigqueue)(p, s, v);
}

/* --- to a thread --- */

/* One that is not known by its handle any more, because it is detached, could be any. */
static void before_thread_signal(pthread_t thread)
{
    tell_signal(rt_thread_find((uintptr_t)thread).id);
}

RT_WRAPPER(int, pthread_kill, (pthread_t t, int s))
{
    if (rt_sync_is_live() && s)
        before_thread_signal(t);
    return RT_REAL(pthread_kill)(t, s);
}

RT_WRAPPER(int, pthread_sigqueue, (pthread_t t, int s, const union sigval v))
{
    if (rt_sync_is_live() && s)
        before_thread_signal(t);
    return RT_REAL(pthread_sigqueue)(t, s, v);
}

RT_WRAPPER(int, pthread_cancel, (pthread_t t))
{
    if (rt_sync_is_live())
        before_thread_signal(t);
    return RT_REAL(pthread_cancel)(t);
}

struct search {
    int32_t tid;
    uint32_t id;
};

static bool is_other(struct rt_thread *thread, void *arg)
{
    struct search *search = arg;
    if (thread->tid != search->tid)
        return true;
    search->id = thread->id;
    return false;
}

static void before_tgkill(pid_t process, pid_t tid)
{
    struct search search = {.tid = tid};
    if (process != rt_sys_getpid())
        return;
    rt_thread_each(is_other, &search);
    tell_signal(search.id);
}

RT_WRAPPER(int, tgkill, (pid_t p, pid_t t, int s))
{
    if (rt_sync_is_live() && s)
        before_tgkill(p, t);
    return RT_REAL(tgkill)(p, t, s);
}

/* --- handlers and timers --- */

RT_WRAPPER(int, sigaction, (int s, const struct sigaction *a, struct sigaction *old))
{
    if (rt_sync_is_live() && a)
        tell_signal(0);
    return RT_REAL(sigaction)(s, a, old);
}

#define ANNOUNCER(result, name, parameters, arguments)                                             \
    RT_WRAPPER(result, name, parameters)                                                           \
    {                                                                                              \
        if (rt_sync_is_live())                                                                     \
            tell_signal(0);                                                                        \
        return RT_REAL(name) arguments;                                                            \
    }

ANNOUNCER(sighandler_t, signal, (int s, sighandler_t f), (s, f))
ANNOUNCER(sighandler_t, bsd_signal, (int s, sighandler_t f), (s, f))
ANNOUNCER(sighandler_t, sysv_signal, (int s, sighandler_t f), (s, f))
ANNOUNCER(sighandler_t, __sysv_signal, (int s, sighandler_t f), (s, f))
ANNOUNCER(sighandler_t, sigset, (int s, sighandler_t f), (s, f))
ANNOUNCER(unsigned, alarm, (unsigned seconds), (seconds))
ANNOUNCER(int, setitimer, (__itimer_which_t w, const struct itimerval *v, struct itimerval *old),
          (w, v, old))
ANNOUNCER(int, timer_settime,
          (timer_t t, int flags, const struct itimerspec *v, struct itimerspec *old),
          (t, flags, v, old))
