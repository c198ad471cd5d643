/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's message queues, semaphores and locks of files.
 *
 * Locks of lockf, and of fcntl with F_SETLK and F_SETLKW, belong to the process: they never keep
 * one of its threads from another, so they order nothing here. Locks of flock and of fcntl's F_OFD_
 * commands belong to an open file, and two threads may have opened it each for itself.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/shm.h>

#include "intercept/real.h"
#include "kernel/buffer.h"
#include "kernel/kernel.h"
#include "opaque.h"
#include "sync.h"

/* --- queues of messages --- */

/* To stat it is a plain file, but it can be polled. */
static void before_message(mqd_t q, const char *start, size_t size, uintptr_t caller)
{
    if (!rt_sync_is_live())
        return;
    rt_buffer_use(start, size, RT_SYNC_KERNEL_SEND, caller);
    rt_kernel_sending(q);
    rt_kernel_release(RT_KERNEL_READINESS, 0);
}

static ssize_t after_message(mqd_t q, const char *start, ssize_t got, uintptr_t caller)
{
    if (rt_sync_is_live() && got >= 0) {
        rt_kernel_received(q);
        rt_buffer_use(start, (size_t)got, RT_SYNC_KERNEL_RECEIVE, caller);
    }
    return got;
}

RT_WRAPPER(int, mq_send, (mqd_t q, const char *p, size_t n, unsigned priority))
{
    before_message(q, p, n, RT_CALLER);
    return RT_REAL(mq_send)(q, p, n, priority);
}

RT_WRAPPER(int, mq_timedsend,
           (mqd_t q, const char *p, size_t n, unsigned priority, const struct timespec *t))
{
    before_message(q, p, n, RT_CALLER);
    return RT_REAL(mq_timedsend)(q, p, n, priority, t);
}

RT_WRAPPER(ssize_t, mq_receive, (mqd_t q, char *p, size_t n, unsigned *priority))
{
    return after_message(q, p, RT_REAL(mq_receive)(q, p, n, priority), RT_CALLER);
}

RT_WRAPPER(ssize_t, mq_timedreceive,
           (mqd_t q, char *p, size_t n, unsigned *priority, const struct timespec *t))
{
    return after_message(q, p, RT_REAL(mq_timedreceive)(q, p, n, priority, t), RT_CALLER);
}

/* A message begins with its type, which its size does not count. */

RT_WRAPPER(int, msgsnd, (int q, const void *m, size_t n, int flags))
{
    if (rt_sync_is_live()) {
        rt_buffer_use(m, sizeof(long) + n, RT_SYNC_KERNEL_SEND, RT_CALLER);
        rt_kernel_release(RT_KERNEL_MESSAGES, (uint64_t)q);
    }
    return RT_REAL(msgsnd)(q, m, n, flags);
}

RT_WRAPPER(ssize_t, msgrcv, (int q, void *m, size_t n, long type, int flags))
{
    ssize_t result = RT_REAL(msgrcv)(q, m, n, type, flags);
    if (rt_sync_is_live() && result >= 0) {
        rt_kernel_acquire(RT_KERNEL_MESSAGES, (uint64_t)q);
        rt_buffer_use(m, sizeof(long) + (size_t)result, RT_SYNC_KERNEL_RECEIVE, RT_CALLER);
    }
    return result;
}

/* --- sets of semaphores: one call may take some and give others --- */

static void before_semaphores(int id)
{
    if (rt_sync_is_live())
        rt_kernel_release(RT_KERNEL_SEMAPHORES, (uint64_t)id);
}

static int after_semaphores(int id, int result)
{
    if (rt_sync_is_live() && result == 0)
        rt_kernel_acquire(RT_KERNEL_SEMAPHORES, (uint64_t)id);
    return result;
}

RT_WRAPPER(int, semop, (int id, struct sembuf *o, size_t n))
{
    before_semaphores(id);
    return after_semaphores(id, RT_REAL(semop)(id, o, n));
}

RT_WRAPPER(int, semtimedop, (int id, struct sembuf *o, size_t n, const struct timespec *t))
{
    before_semaphores(id);
    return after_semaphores(id, RT_REAL(semtimedop)(id, o, n, t));
}

/* Where a command takes nothing more, `more` is what a register happened to hold; libc passes it on
 * or not by the command. The union that some take is passed like a pointer. */
#define TAKE_MORE(last, more)                                                                      \
    va_list list;                                                                                  \
    va_start(list, last);                                                                          \
    void *more = va_arg(list, void *);                                                             \
    va_end(list)

RT_WRAPPER(int, semctl, (int id, int number, int what, ...))
{
    TAKE_MORE(what, more);
    before_semaphores(id);
    return RT_REAL(semctl)(id, number, what, more);
}

/* --- memory --- */

/* See the wrapper of mmap. */
RT_WRAPPER(void *, shmat, (int id, const void *at, int flags))
{
    if (!(flags & SHM_RDONLY))
        rt_opaque(RH_OPAQUE_SHARED);
    return RT_REAL(shmat)(id, at, flags);
}

/* --- locks of files --- */

/* A shared lock may take the place of an exclusive one. */
RT_WRAPPER(int, flock, (int fd, int what))
{
    if (rt_sync_is_live() && (what & (LOCK_UN | LOCK_SH)))
        rt_kernel_sending(fd);
    int result = RT_REAL(flock)(fd, what);
    if (rt_sync_is_live() && result == 0 && !(what & LOCK_UN))
        rt_kernel_received(fd);
    return result;
}

/* Whether it locks or unlocks stands in memory that only the kernel may trust: told as both. */
static inline bool is_lock(int what)
{
    return what == F_OFD_SETLK || what == F_OFD_SETLKW;
}

static inline void before_lock(int fd, int what)
{
    if (rt_sync_is_live() && is_lock(what))
        rt_kernel_sending(fd);
}

static inline int after_lock(int fd, int what, int result)
{
    if (rt_sync_is_live() && is_lock(what) && result == 0)
        rt_kernel_received(fd);
    return result;
}

RT_WRAPPER(int, fcntl, (int fd, int what, ...))
{
    TAKE_MORE(what, more);
    before_lock(fd, what);
    return after_lock(fd, what, RT_REAL(fcntl)(fd, what, more));
}

RT_WRAPPER(int, fcntl64, (int fd, int what, ...))
{
    TAKE_MORE(what, more);
    before_lock(fd, what);
    return after_lock(fd, what, RT_REAL(fcntl64)(fd, what, more));
}
