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

#include "kernel/kernel.h"
#include "intercept/real.h"
#include "sync.h"

static inline void before_send(int fd)
{
    if (rt_sync_is_live())
        rt_kernel_sending(fd);
}

static inline ssize_t after_receive(int fd, ssize_t result)
{
    if (rt_sync_is_live() && result >= 0)
        rt_kernel_received(fd);
    return result;
}

/* --- sending --- */

#define SENDER(result, name, parameters, arguments)                                                \
    RT_WRAPPER(result, name, parameters)                                                           \
    {                                                                                              \
        before_send(fd);                                                                           \
        return RT_REAL(name) arguments;                                                            \
    }

SENDER(ssize_t, write, (int fd, const void *p, size_t n), (fd, p, n))
SENDER(ssize_t, writev, (int fd, const struct iovec *v, int n), (fd, v, n))
SENDER(ssize_t, pwrite, (int fd, const void *p, size_t n, off_t at), (fd, p, n, at))
SENDER(ssize_t, pwrite64, (int fd, const void *p, size_t n, off64_t at), (fd, p, n, at))
SENDER(ssize_t, pwritev, (int fd, const struct iovec *v, int n, off_t at), (fd, v, n, at))
SENDER(ssize_t, pwritev64, (int fd, const struct iovec *v, int n, off64_t at), (fd, v, n, at))
SENDER(ssize_t, pwritev2, (int fd, const struct iovec *v, int n, off_t at, int flags),
       (fd, v, n, at, flags))
SENDER(ssize_t, pwritev64v2, (int fd, const struct iovec *v, int n, off64_t at, int flags),
       (fd, v, n, at, flags))
SENDER(ssize_t, send, (int fd, const void *p, size_t n, int flags), (fd, p, n, flags))
SENDER(int, eventfd_write, (int fd, eventfd_t value), (fd, value))
SENDER(int, timerfd_settime,
       (int fd, int flags, const struct itimerspec *v, struct itimerspec *old), (fd, flags, v, old))
SENDER(int, shutdown, (int fd, int how), (fd, how))
SENDER(int, close, (int fd), (fd))

RT_WRAPPER(ssize_t, sendto,
           (int fd, const void *p, size_t n, int flags, __CONST_SOCKADDR_ARG to, socklen_t size))
{
    if (rt_sync_is_live())
        rt_kernel_sending_to(fd, to.__sockaddr__, size);
    return RT_REAL(sendto)(fd, p, n, flags, to, size);
}

static void before_message(int fd, const struct msghdr *m)
{
    struct msghdr copy;
    if (rt_kernel_peek(&copy, m, sizeof copy))
        rt_kernel_sending_to(fd, copy.msg_name, copy.msg_namelen);
}

RT_WRAPPER(ssize_t, sendmsg, (int fd, const struct msghdr *m, int flags))
{
    if (rt_sync_is_live())
        before_message(fd, m);
    return RT_REAL(sendmsg)(fd, m, flags);
}

RT_WRAPPER(int, sendmmsg, (int fd, struct mmsghdr *m, unsigned n, int flags))
{
    for (unsigned i = 0; rt_sync_is_live() && i < n && i < IOV_MAX; i++)
        before_message(fd, &m[i].msg_hdr);
    return RT_REAL(sendmmsg)(fd, m, n, flags);
}

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

#define RECEIVER(result, name, parameters, arguments)                                              \
    RT_WRAPPER(result, name, parameters)                                                           \
    {                                                                                              \
        return (result)after_receive(fd, RT_REAL(name) arguments);                                 \
    }

RECEIVER(ssize_t, read, (int fd, void *p, size_t n), (fd, p, n))
RECEIVER(ssize_t, __read_chk, (int fd, void *p, size_t n, size_t room), (fd, p, n, room))
RECEIVER(ssize_t, readv, (int fd, const struct iovec *v, int n), (fd, v, n))
RECEIVER(ssize_t, pread, (int fd, void *p, size_t n, off_t at), (fd, p, n, at))
RECEIVER(ssize_t, __pread_chk, (int fd, void *p, size_t n, off_t at, size_t room),
         (fd, p, n, at, room))
RECEIVER(ssize_t, pread64, (int fd, void *p, size_t n, off64_t at), (fd, p, n, at))
RECEIVER(ssize_t, __pread64_chk, (int fd, void *p, size_t n, off64_t at, size_t room),
         (fd, p, n, at, room))
RECEIVER(ssize_t, preadv, (int fd, const struct iovec *v, int n, off_t at), (fd, v, n, at))
RECEIVER(ssize_t, preadv64, (int fd, const struct iovec *v, int n, off64_t at), (fd, v, n, at))
RECEIVER(ssize_t, preadv2, (int fd, const struct iovec *v, int n, off_t at, int flags),
         (fd, v, n, at, flags))
RECEIVER(ssize_t, preadv64v2, (int fd, const struct iovec *v, int n, off64_t at, int flags),
         (fd, v, n, at, flags))
RECEIVER(ssize_t, recv, (int fd, void *p, size_t n, int flags), (fd, p, n, flags))
RECEIVER(ssize_t, __recv_chk, (int fd, void *p, size_t n, size_t room, int flags),
         (fd, p, n, room, flags))
RECEIVER(ssize_t, recvfrom,
         (int fd, void *p, size_t n, int flags, __SOCKADDR_ARG from, socklen_t *size),
         (fd, p, n, flags, from, size))
RECEIVER(ssize_t, __recvfrom_chk,
         (int fd, void *p, size_t n, size_t room, int flags, __SOCKADDR_ARG from, socklen_t *size),
         (fd, p, n, room, flags, from, size))
RECEIVER(ssize_t, recvmsg, (int fd, struct msghdr *m, int flags), (fd, m, flags))
RECEIVER(int, recvmmsg, (int fd, struct mmsghdr *m, unsigned n, int flags, struct timespec *t),
         (fd, m, n, flags, t))
RECEIVER(int, eventfd_read, (int fd, eventfd_t *value), (fd, value))

/* --- from one descriptor to another --- */

#define MOVER(name, parameters, arguments)                                                         \
    RT_WRAPPER(ssize_t, name, parameters)                                                          \
    {                                                                                              \
        before_send(to);                                                                           \
        return after_receive(from, RT_REAL(name) arguments);                                       \
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
    return after_receive(fd, RT_REAL(vmsplice)(fd, v, n, flags));
}

/* --- connections --- */

RT_WRAPPER(int, listen, (int fd, int n))
{
    if (rt_sync_is_live())
        rt_kernel_listening(fd);
    return RT_REAL(listen)(fd, n);
}

RT_WRAPPER(int, accept, (int fd, __SOCKADDR_ARG from, socklen_t *size))
{
    return (int)after_receive(fd, RT_REAL(accept)(fd, from, size));
}

RT_WRAPPER(int, accept4, (int fd, __SOCKADDR_ARG from, socklen_t *size, int flags))
{
    return (int)after_receive(fd, RT_REAL(accept4)(fd, from, size, flags));
}

RT_WRAPPER(int, connect, (int fd, __CONST_SOCKADDR_ARG to, socklen_t size))
{
    if (rt_sync_is_live())
        rt_kernel_sending_to(fd, to.__sockaddr__, size);
    int result = RT_REAL(connect)(fd, to, size);
    if (rt_sync_is_live() && result == 0)
        rt_kernel_connected(fd);
    return result;
}
