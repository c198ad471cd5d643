/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting until a descriptor is ready: acquires *readiness* (kernel.h). Who adds a descriptor to an
 * epoll set hands what belongs to it to the thread that will be woken, so that is a release; a
 * common one, because an epoll descriptor has no identity that its duplicates share.
 */
#include "intercept/real.h"
#include "kernel/kernel.h"
#include "sync.h"

static inline int after_poll(int result)
{
    if (rt_sync_is_live() && result > 0)
        rt_kernel_acquire(RT_KERNEL_READINESS, 0);
    return result;
}

#define POLLER(name, parameters, arguments)                                                        \
    RT_WRAPPER(int, name, parameters)                                                              \
    {                                                                                              \
        return after_poll(RT_REAL(name) arguments);                                                \
    }

POLLER(poll, (struct pollfd * p, nfds_t n, int timeout), (p, n, timeout))
POLLER(__poll_chk, (struct pollfd * p, nfds_t n, int timeout, size_t room), (p, n, timeout, room))
POLLER(ppoll, (struct pollfd * p, nfds_t n, const struct timespec *t, const sigset_t *s),
       (p, n, t, s))
POLLER(__ppoll_chk,
       (struct pollfd * p, nfds_t n, const struct timespec *t, const sigset_t *s, size_t room),
       (p, n, t, s, room))
POLLER(select, (int n, fd_set *r, fd_set *w, fd_set *e, struct timeval *t), (n, r, w, e, t))
POLLER(pselect,
       (int n, fd_set *r, fd_set *w, fd_set *e, const struct timespec *t, const sigset_t *s),
       (n, r, w, e, t, s))
POLLER(epoll_wait, (int fd, struct epoll_event *e, int n, int timeout), (fd, e, n, timeout))
POLLER(epoll_pwait, (int fd, struct epoll_event *e, int n, int timeout, const sigset_t *s),
       (fd, e, n, timeout, s))
POLLER(epoll_pwait2,
       (int fd, struct epoll_event *e, int n, const struct timespec *t, const sigset_t *s),
       (fd, e, n, t, s))

RT_WRAPPER(int, epoll_ctl, (int set, int what, int fd, struct epoll_event *e))
{
    if (rt_sync_is_live())
        rt_kernel_release(RT_KERNEL_READINESS, 0);
    return RT_REAL(epoll_ctl)(set, what, fd, e);
}
