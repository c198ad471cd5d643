/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel, without libc: see sys.h. */
#include "sys.h"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#define AT_CWD (-100)

static long call(long number, long a, long b, long c, long d)
{
    return rt_arch_syscall(number, a, b, c, d, 0, 0);
}

long rt_sys_write(int fd, const void *bytes, size_t size)
{
    return call(SYS_write, fd, (long)bytes, (long)size, 0);
}

long rt_sys_open(const char *path, int flags, int mode)
{
    return call(SYS_openat, AT_CWD, (long)path, flags, mode);
}

long rt_sys_close(int fd)
{
    return call(SYS_close, fd, 0, 0, 0);
}

long rt_sys_mprotect(void *start, size_t size, int prot)
{
    return call(SYS_mprotect, (long)start, (long)size, prot, 0);
}

long rt_sys_pwrite(int fd, const void *bytes, size_t size, uint64_t offset)
{
    return call(SYS_pwrite64, fd, (long)bytes, (long)size, (long)offset);
}

int32_t rt_sys_gettid(void)
{
    return (int32_t)call(SYS_gettid, 0, 0, 0, 0);
}

int32_t rt_sys_getpid(void)
{
    return (int32_t)call(SYS_getpid, 0, 0, 0, 0);
}

static long wait_while(_Atomic uint32_t *word, uint32_t expected, int64_t timeout_ns, int operation)
{
    struct timespec limit = {.tv_sec = timeout_ns / 1000000000, .tv_nsec = timeout_ns % 1000000000};
    return call(SYS_futex, (long)word, operation, expected, timeout_ns < 0 ? 0 : (long)&limit);
}

long rt_sys_futex_wait(_Atomic uint32_t *word, uint32_t expected, int64_t timeout_ns)
{
    return wait_while(word, expected, timeout_ns, FUTEX_WAIT_PRIVATE);
}

long rt_sys_futex_wake(_Atomic uint32_t *word, int count)
{
    return call(SYS_futex, (long)word, FUTEX_WAKE_PRIVATE, count, 0);
}

long rt_sys_futex_wait_shared(_Atomic uint32_t *word, uint32_t expected, int64_t timeout_ns)
{
    return wait_while(word, expected, timeout_ns, FUTEX_WAIT);
}

long rt_sys_futex_wake_shared(_Atomic uint32_t *word)
{
    return call(SYS_futex, (long)word, FUTEX_WAKE, INT32_MAX, 0);
}

void rt_sys_yield(void)
{
    call(SYS_sched_yield, 0, 0, 0, 0);
}

static int64_t read_clock(int clock)
{
    struct timespec now = {0};
    rt_arch_syscall(SYS_clock_gettime, clock, (long)&now, 0, 0, 0, 0);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The kernel refuses to store where a store of ours would be a SIGBUS. A time is a thing that it
 * stores in any process, whatever system calls a filter forbids. */
static bool store_in_kernel(uint64_t words[2])
{
    if (rt_arch_syscall(SYS_clock_gettime, CLOCK_MONOTONIC, (long)words, 0, 0, 0, 0) != 0)
        return false;
    words[0] = words[1] = 0;
    return true;
}

bool rt_sys_make_present(void *start, size_t size)
{
    char *end = (char *)start + size;
    return store_in_kernel(start) && store_in_kernel((uint64_t *)(void *)(end - 16));
}

int64_t rt_sys_monotonic_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

int64_t rt_sys_thread_ns(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

void *rt_map(size_t size)
{
    long start = rt_arch_syscall(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return start < 0 && start > -4096 ? NULL : (void *)start;
}

void rt_unmap(void *start, size_t size)
{
    call(SYS_munmap, (long)start, (long)size, 0, 0);
}

/* A process must register before its first expedited call; a forked child has to do so again, and
 * the kernel says EPERM until it has. */
long rt_sys_sync_cores(void)
{
    long done = call(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0, 0);
    if (done == 0)
        return 0;
    done = call(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0, 0);
    if (done < 0)
        return done;
    return call(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0, 0);
}

uint64_t rt_signals_block(void)
{
#define BIT(signal) (1ull << ((signal)-1))
    uint64_t old = 0, some = ~(BIT(SIGILL) | BIT(SIGTRAP) | BIT(SIGBUS) | BIT(SIGFPE) |
                               BIT(SIGSEGV) | BIT(SIGSYS));
#undef BIT
    rt_arch_syscall(SYS_rt_sigprocmask, SIG_BLOCK, (long)&some, (long)&old, sizeof some, 0, 0);
    return old;
}

void rt_signals_restore(uint64_t mask)
{
    rt_arch_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, sizeof mask, 0, 0);
}
