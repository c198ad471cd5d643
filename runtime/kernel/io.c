/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What threads send to each other through descriptors (kernel.h). A send releases before, whether
 * it then succeeds or not; a receive acquires after, if it brought something or the end.
 *
 * Left to the program: the results, errno, and being cancelled or interrupted inside the real call.
 * Everything here may be called in signal handlers, as the real ones may.
 *
 * Programs that are built with _FORTIFY_SOURCE call the __*_chk functions. Not seen are system
 * calls that go past libc's names: syscall(), io_uring, and libc's own streams (stream.c).
 */
#include <limits.h>

#include "intercept/real.h"
#include "kernel/buffer.h"
#include "kernel/kernel.h"
#include "kernel/names.h"
#include "sync.h"

/* What runs only while events are live: kept out of the wrappers, which then need no frame. */
#define SLOW_PATH __attribute__((noinline))

static inline void before_send(int fd)
{
    if (rt_sync_is_live())
        rt_kernel_sending(fd);
}

/* --- sending --- */

SLOW_PATH static void sending(int fd, const void *start, size_t size, uintptr_t caller)
{
    rt_buffer_use(start, size, RT_SYNC_KERNEL_SEND, caller);
    rt_kernel_sending(fd);
}

SLOW_PATH static void sending_all(int fd, const struct iovec *buffers, int count, uintptr_t caller)
{
    rt_buffers_use(buffers, (size_t)count, SIZE_MAX, RT_SYNC_KERNEL_SEND, caller);
    rt_kernel_sending(fd);
}

#define SENDER(result, name, parameters, arguments, tell)                                          \
    RT_WRAPPER(result, name, parameters)                                                           \
    {                                                                                              \
        if (rt_sync_is_live())                                                                     \
            tell;                                                                                  \
        return RT_REAL(name) arguments;                                                            \
    }

SENDER(ssize_t, write, (int fd, const void *p, size_t n), (fd, p, n), sending(fd, p, n, RT_CALLER))
SENDER(ssize_t, pwrite, (int fd, const void *p, size_t n, off_t at), (fd, p, n, at),
       sending(fd, p, n, RT_CALLER))
SENDER(ssize_t, pwrite64, (int fd, const void *p, size_t n, off64_t at), (fd, p, n, at),
       sending(fd, p, n, RT_CALLER))
SENDER(ssize_t, send, (int fd, const void *p, size_t n, int flags), (fd, p, n, flags),
       sending(fd, p, n, RT_CALLER))
SENDER(ssize_t, writev, (int fd, const struct iovec *v, int n), (fd, v, n),
       sending_all(fd, v, n, RT_CALLER))
SENDER(ssize_t, pwritev, (int fd, const struct iovec *v, int n, off_t at), (fd, v, n, at),
       sending_all(fd, v, n, RT_CALLER))
SENDER(ssize_t, pwritev64, (int fd, const struct iovec *v, int n, off64_t at), (fd, v, n, at),
       sending_all(fd, v, n, RT_CALLER))
SENDER(ssize_t, pwritev2, (int fd, const struct iovec *v, int n, off_t at, int flags),
       (fd, v, n, at, flags), sending_all(fd, v, n, RT_CALLER))
SENDER(ssize_t, pwritev64v2, (int fd, const struct iovec *v, int n, off64_t at, int flags),
       (fd, v, n, at, flags), sending_all(fd, v, n, RT_CALLER))
SENDER(int, eventfd_write, (int fd, eventfd_t value), (fd, value), rt_kernel_sending(fd))
SENDER(int, timerfd_settime,
       (int fd, int flags, const struct itimerspec *v, struct itimerspec *old), (fd, flags, v, old),
       rt_kernel_sending(fd))
SENDER(int, shutdown, (int fd, int how), (fd, how), rt_kernel_sending(fd))
SENDER(int, close, (int fd), (fd), rt_kernel_sending(fd))

SLOW_PATH static void sending_to(int fd, const void *start, size_t size, const void *to,
                                 socklen_t to_size, uintptr_t caller)
{
    rt_buffer_use(start, size, RT_SYNC_KERNEL_SEND, caller);
    rt_kernel_sending_to(fd, to, to_size);
}

SENDER(ssize_t, sendto,
       (int fd, const void *p, size_t n, int flags, __CONST_SOCKADDR_ARG to, socklen_t size),
       (fd, p, n, flags, to, size), sending_to(fd, p, n, to.__sockaddr__, size, RT_CALLER))

SLOW_PATH static void sending_message(int fd, const struct msghdr *m, uintptr_t caller)
{
    struct msghdr copy;
    if (!rt_kernel_peek(&copy, m, sizeof copy))
        return;
    rt_buffers_use(copy.msg_iov, copy.msg_iovlen, SIZE_MAX, RT_SYNC_KERNEL_SEND, caller);
    rt_kernel_sending_to(fd, copy.msg_name, copy.msg_namelen);
}

SLOW_PATH static void sending_messages(int fd, const struct mmsghdr *m, unsigned count,
                                       uintptr_t caller)
{
    for (unsigned i = 0; i < count && i < IOV_MAX; i++)
        sending_message(fd, &m[i].msg_hdr, caller);
}

SENDER(ssize_t, sendmsg, (int fd, const struct msghdr *m, int flags), (fd, m, flags),
       sending_message(fd, m, RT_CALLER))
SENDER(int, sendmmsg, (int fd, struct mmsghdr *m, unsigned n, int flags), (fd, m, n, flags),
       sending_messages(fd, m, n, RT_CALLER))

/* The descriptor that is replaced is closed. */
RT_WRAPPER(int, dup2, (int from, int to))
{
    if (from != to)
        before_send(to);
    return RT_REAL(dup2)(from, to);
}

RT_WRAPPER(int, dup3, (int from, int to, int flags))
{
    if (from != to)
        before_send(to);
    return RT_REAL(dup3)(from, to, flags);
}

/* --- receiving --- */

/* Each returns what the real call did. */

SLOW_PATH static ssize_t received(int fd, ssize_t got)
{
    if (got >= 0)
        rt_kernel_received(fd);
    return got;
}

SLOW_PATH static ssize_t received_with(int fd, const void *start, size_t size, int flags,
                                       ssize_t got, uintptr_t caller)
{
    received(fd, got);
    if (got > 0)
        rt_buffer_use(start, rt_buffer_filled(size, (size_t)got, flags), RT_SYNC_KERNEL_RECEIVE,
                      caller);
    return got;
}

SLOW_PATH static ssize_t received_into(int fd, const void *start, size_t size, ssize_t got,
                                       uintptr_t caller)
{
    return received_with(fd, start, size, 0, got, caller);
}

SLOW_PATH static ssize_t received_all(int fd, const struct iovec *buffers, int count, ssize_t got,
                                      uintptr_t caller)
{
    received(fd, got);
    if (got > 0)
        rt_buffers_use(buffers, (size_t)count, (size_t)got, RT_SYNC_KERNEL_RECEIVE, caller);
    return got;
}

#define RECEIVER(result, name, parameters, arguments, tell)                                        \
    RT_WRAPPER(result, name, parameters)                                                           \
    {                                                                                              \
        result got = RT_REAL(name) arguments;                                                      \
        return rt_sync_is_live() ? (result)tell : got;                                             \
    }

RECEIVER(ssize_t, read, (int fd, void *p, size_t n), (fd, p, n),
         received_into(fd, p, n, got, RT_CALLER))
RECEIVER(ssize_t, __read_chk, (int fd, void *p, size_t n, size_t room), (fd, p, n, room),
         received_into(fd, p, n, got, RT_CALLER))
RECEIVER(ssize_t, pread, (int fd, void *p, size_t n, off_t at), (fd, p, n, at),
         received_into(fd, p, n, got, RT_CALLER))
RECEIVER(ssize_t, __pread_chk, (int fd, void *p, size_t n, off_t at, size_t room),
         (fd, p, n, at, room), received_into(fd, p, n, got, RT_CALLER))
RECEIVER(ssize_t, pread64, (int fd, void *p, size_t n, off64_t at), (fd, p, n, at),
         received_into(fd, p, n, got, RT_CALLER))
RECEIVER(ssize_t, __pread64_chk, (int fd, void *p, size_t n, off64_t at, size_t room),
         (fd, p, n, at, room), received_into(fd, p, n, got, RT_CALLER))
RECEIVER(ssize_t, readv, (int fd, const struct iovec *v, int n), (fd, v, n),
         received_all(fd, v, n, got, RT_CALLER))
RECEIVER(ssize_t, preadv, (int fd, const struct iovec *v, int n, off_t at), (fd, v, n, at),
         received_all(fd, v, n, got, RT_CALLER))
RECEIVER(ssize_t, preadv64, (int fd, const struct iovec *v, int n, off64_t at), (fd, v, n, at),
         received_all(fd, v, n, got, RT_CALLER))
RECEIVER(ssize_t, preadv2, (int fd, const struct iovec *v, int n, off_t at, int flags),
         (fd, v, n, at, flags), received_all(fd, v, n, got, RT_CALLER))
RECEIVER(ssize_t, preadv64v2, (int fd, const struct iovec *v, int n, off64_t at, int flags),
         (fd, v, n, at, flags), received_all(fd, v, n, got, RT_CALLER))
RECEIVER(ssize_t, recv, (int fd, void *p, size_t n, int flags), (fd, p, n, flags),
         received_with(fd, p, n, flags, got, RT_CALLER))
RECEIVER(ssize_t, __recv_chk, (int fd, void *p, size_t n, size_t room, int flags),
         (fd, p, n, room, flags), received_with(fd, p, n, flags, got, RT_CALLER))
RECEIVER(ssize_t, recvfrom,
         (int fd, void *p, size_t n, int flags, __SOCKADDR_ARG from, socklen_t *size),
         (fd, p, n, flags, from, size), received_with(fd, p, n, flags, got, RT_CALLER))
RECEIVER(ssize_t, __recvfrom_chk,
         (int fd, void *p, size_t n, size_t room, int flags, __SOCKADDR_ARG from, socklen_t *size),
         (fd, p, n, room, flags, from, size), received_with(fd, p, n, flags, got, RT_CALLER))
RECEIVER(int, eventfd_read, (int fd, eventfd_t *value), (fd, value), received(fd, got))

static void fill_message(const struct msghdr *m, size_t got, int flags, uintptr_t caller)
{
    struct msghdr copy;
    if (rt_sync_wants_uses() && rt_kernel_peek(&copy, m, sizeof copy))
        rt_buffers_use(copy.msg_iov, copy.msg_iovlen, rt_buffer_filled(SIZE_MAX, got, flags),
                       RT_SYNC_KERNEL_RECEIVE, caller);
}

SLOW_PATH static ssize_t received_message(int fd, const struct msghdr *m, int flags, ssize_t got,
                                          uintptr_t caller)
{
    received(fd, got);
    if (got > 0)
        fill_message(m, (size_t)got, flags, caller);
    return got;
}

/* `got` counts messages; each knows its length. */
SLOW_PATH static int received_messages(int fd, const struct mmsghdr *m, int flags, int got,
                                       uintptr_t caller)
{
    received(fd, got);
    for (int i = 0; i < got; i++)
        fill_message(&m[i].msg_hdr, m[i].msg_len, flags, caller);
    return got;
}

RECEIVER(ssize_t, recvmsg, (int fd, struct msghdr *m, int flags), (fd, m, flags),
         received_message(fd, m, flags, got, RT_CALLER))
RECEIVER(int, recvmmsg, (int fd, struct mmsghdr *m, unsigned n, int flags, struct timespec *t),
         (fd, m, n, flags, t), received_messages(fd, m, flags, got, RT_CALLER))

/* --- from one descriptor to another --- */

#define MOVER(name, parameters, arguments)                                                         \
    RT_WRAPPER(ssize_t, name, parameters)                                                          \
    {                                                                                              \
        before_send(to);                                                                           \
        ssize_t got = RT_REAL(name) arguments;                                                     \
        return rt_sync_is_live() ? received(from, got) : got;                                      \
    }

MOVER(splice, (int from, off64_t *f, int to, off64_t *t, size_t n, unsigned flags),
      (from, f, to, t, n, flags))
MOVER(tee, (int from, int to, size_t n, unsigned flags), (from, to, n, flags))
MOVER(sendfile, (int to, int from, off_t *at, size_t n), (to, from, at, n))
MOVER(sendfile64, (int to, int from, off64_t *at, size_t n), (to, from, at, n))
MOVER(copy_file_range, (int from, off64_t *f, int to, off64_t *t, size_t n, unsigned flags),
      (from, f, to, t, n, flags))

/* Into a pipe or out of it, whichever end it is. */
RT_WRAPPER(ssize_t, vmsplice, (int fd, const struct iovec *v, size_t n, unsigned flags))
{
    before_send(fd);
    ssize_t got = RT_REAL(vmsplice)(fd, v, n, flags);
    return rt_sync_is_live() ? received(fd, got) : got;
}

/* --- connections --- */

RT_WRAPPER(int, listen, (int fd, int n))
{
    if (rt_sync_is_live())
        rt_kernel_listening(fd);
    return RT_REAL(listen)(fd, n);
}

RECEIVER(int, accept, (int fd, __SOCKADDR_ARG from, socklen_t *size), (fd, from, size),
         received(fd, got))

RECEIVER(int, accept4, (int fd, __SOCKADDR_ARG from, socklen_t *size, int flags),
         (fd, from, size, flags), received(fd, got))

RT_WRAPPER(int, connect, (int fd, __CONST_SOCKADDR_ARG to, socklen_t size))
{
    if (rt_sync_is_live())
        rt_kernel_sending_to(fd, to.__sockaddr__, size);
    int result = RT_REAL(connect)(fd, to, size);
    rt_names_forget();
    if (rt_sync_is_live() && result == 0)
        rt_kernel_connected(fd);
    return result;
}
