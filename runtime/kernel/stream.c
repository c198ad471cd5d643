/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What libc does below our wrappers, and what makes the process opaque: streams of stdio on pipes
 * and sockets, which libc reads and writes by its own names, and work that libc does in threads of
 * its own making.
 *
 * A stream may be opened long before events are live, so this is noted in every process that a
 * detector runs in. One that is put on a descriptor that only later becomes a pipe (dup2) is not.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "intercept/real.h"
#include "kernel/kernel.h"
#include "opaque.h"
#include "sync.h"
#include "sys.h"

static inline bool is_watched(void)
{
    return rt_unlikely(atomic_load_explicit(&rt_mode, memory_order_relaxed) == RT_MODE_LIVE);
}

static void look_at(int fd)
{
    struct stat file;
    if (rt_arch_syscall(SYS_fstat, fd, (long)&file, 0, 0, 0, 0) == 0 &&
        (S_ISFIFO(file.st_mode) || S_ISSOCK(file.st_mode)))
        rt_opaque(RH_OPAQUE_STREAM);
}

static inline FILE *after_open(FILE *stream)
{
    if (is_watched() && stream)
        look_at(fileno_unlocked(stream));
    return stream;
}

RT_WRAPPER(FILE *, fopen, (const char *path, const char *mode))
{
    return after_open(RT_REAL(fopen)(path, mode));
}

RT_WRAPPER(FILE *, fopen64, (const char *path, const char *mode))
{
    return after_open(RT_REAL(fopen64)(path, mode));
}

RT_WRAPPER(FILE *, freopen, (const char *path, const char *mode, FILE *f))
{
    return after_open(RT_REAL(freopen)(path, mode, f));
}

RT_WRAPPER(FILE *, freopen64, (const char *path, const char *mode, FILE *f))
{
    return after_open(RT_REAL(freopen64)(path, mode, f));
}

RT_WRAPPER(FILE *, fdopen, (int fd, const char *mode))
{
    return after_open(RT_REAL(fdopen)(fd, mode));
}

RT_WRAPPER(FILE *, popen, (const char *command, const char *mode))
{
    if (rt_sync_is_live())
        rt_kernel_release(RT_KERNEL_CHILDREN, 0);
    return after_open(RT_REAL(popen)(command, mode));
}

/* --- threads of libc's own --- */

#define HELPED(name, parameters, arguments)                                                        \
    RT_WRAPPER(int, name, parameters)                                                              \
    {                                                                                              \
        rt_opaque(RH_OPAQUE_HELPER);                                                               \
        return RT_REAL(name) arguments;                                                            \
    }

HELPED(aio_read, (struct aiocb * c), (c))
HELPED(aio_read64, (struct aiocb64 * c), (c))
HELPED(aio_write, (struct aiocb * c), (c))
HELPED(aio_write64, (struct aiocb64 * c), (c))
HELPED(aio_fsync, (int what, struct aiocb *c), (what, c))
HELPED(aio_fsync64, (int what, struct aiocb64 *c), (what, c))
HELPED(lio_listio, (int mode, struct aiocb *const v[], int n, struct sigevent *e), (mode, v, n, e))
HELPED(lio_listio64, (int mode, struct aiocb64 *const v[], int n, struct sigevent *e),
       (mode, v, n, e))
HELPED(getaddrinfo_a, (int mode, struct gaicb *v[], int n, struct sigevent *e), (mode, v, n, e))

static void note_notification(const struct sigevent *e)
{
    if (e && e->sigev_notify == SIGEV_THREAD)
        rt_opaque(RH_OPAQUE_HELPER);
}

RT_WRAPPER(int, timer_create, (clockid_t c, struct sigevent *e, timer_t *t))
{
    note_notification(e);
    return RT_REAL(timer_create)(c, e, t);
}

RT_WRAPPER(int, mq_notify, (mqd_t q, const struct sigevent *e))
{
    note_notification(e);
    return RT_REAL(mq_notify)(q, e);
}
