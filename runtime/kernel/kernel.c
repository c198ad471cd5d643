/* SPDX-License-Identifier: Apache-2.0 */
/* Order through the kernel: see kernel.h. */
#include "kernel/kernel.h"

#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include "budget.h"
#include "intercept/fork.h"
#include "kernel/names.h"
#include "sync.h"
#include "sys.h"

/* Like the objects of threads these are no memory, but numbers in the kernel's half of the
 * addresses, beyond those of any thread. */
const volatile void *rt_kernel_object(enum rt_kernel kind, uint64_t a, uint64_t b)
{
    enum { BITS = 12 };
    uint64_t mixed = (a ^ (b * 0xff51afd7ed558ccdull)) * 0x9e3779b97f4a7c15ull;
    uintptr_t number = (uintptr_t)kind << BITS | mixed >> (64 - BITS);
    return (const volatile void *)(UINTPTR_MAX - UINTPTR_MAX / 4 + (number << 4));
}

static void tell(enum rt_sync what, enum rt_kernel kind, uint64_t a, uint64_t b)
{
    rt_sync_event(what, rt_kernel_object(kind, a, b));
}

/* A child of vfork does things in its own table of descriptors, and one that was made without libc
 * may find our locks held by threads it does not have. */
void rt_kernel_release(enum rt_kernel kind, uint64_t a)
{
    if (rt_fork_is_home())
        tell(RT_SYNC_KERNEL_SEND, kind, a, 0);
}

void rt_kernel_acquire(enum rt_kernel kind, uint64_t a)
{
    if (rt_fork_is_home())
        tell(RT_SYNC_KERNEL_RECEIVE, kind, a, 0);
}

/* What we ask the kernel takes longer than the event that follows, and counts like one. */
static long ask(long call, long a, long b, long c, long d, long e)
{
    struct rt_thread *self = rt_thread_self();
    uint64_t began = self ? rt_meter_begin(self) : 0;
    long result = rt_arch_syscall(call, a, b, c, d, e, 0);
    if (self)
        rt_meter_end(self, rt_meter_of_events(), began);
    return result;
}

/* Above our own frame the stack is there. */
static bool is_on_own_stack(const void *from, size_t size)
{
    const struct rt_thread *self = rt_thread_self();
    uintptr_t start = (uintptr_t)from;
    return self && start > (uintptr_t)__builtin_frame_address(0) && start < self->stack_high &&
           self->stack_high - start >= size;
}

/* A pointer that the kernel would refuse must not make us crash. */
bool rt_kernel_peek(void *into, const void *from, size_t size)
{
    struct iovec local = {into, size}, remote = {(void *)(uintptr_t)from, size};
    if (!is_on_own_stack(from, size)) {
        long got = ask(SYS_process_vm_readv, rt_fork_home(), (long)&local, 1, (long)&remote, 1);
        if (got >= 0 || got == -EFAULT)
            return got == (long)size;
    }
    for (size_t i = 0; i < size; i++) /* or a sandbox does not let us ask */
        ((char *)into)[i] = ((const volatile char *)from)[i];
    return true;
}

/* --- addresses --- */

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_storage room;
};

static bool is_internet(const union address *a)
{
    return a->any.sa_family == AF_INET || a->any.sa_family == AF_INET6;
}

/* The port is at the same place in both. */
static uint16_t port_of(const union address *a)
{
    return is_internet(a) ? a->v4.sin_port : 0;
}
_Static_assert(offsetof(struct sockaddr_in, sin_port) == offsetof(struct sockaddr_in6, sin6_port),
               "port_of reads either");

/* The last four bytes of an address: all of an old one, also within a new one. */
static uint32_t tail_of(const union address *a)
{
    return a->any.sa_family == AF_INET ? a->v4.sin_addr.s_addr : a->v6.sin6_addr.s6_addr32[3];
}

/* On this machine, as far as the addresses tell: a loopback one, or that of the sender. */
static bool is_near(const union address *own, const union address *peer)
{
    enum { LOOPBACK = 127 };
    uint32_t tail = tail_of(peer);
    return tail == 0 || (ntohl(tail) >> 24) == LOOPBACK || tail == htonl(1) || tail == tail_of(own);
}

static bool ask_address(long call, int fd, union address *a)
{
    socklen_t size = sizeof *a;
    a->any.sa_family = AF_UNSPEC;
    return ask(call, fd, (long)a, (long)&size, 0, 0) == 0;
}

static bool copy_address(const void *from, size_t size, union address *a)
{
    a->any.sa_family = AF_UNSPEC;
    if (!from || size < sizeof(struct sockaddr_in))
        return false;
    return rt_kernel_peek(a, from, size < sizeof *a ? size : sizeof *a);
}

/* --- descriptors --- */

static bool is_terminal(const struct stat *file)
{
    enum { FIRST_OLD = 2, LAST_OLD = 5, FIRST_PTY = 128, LAST_PTY = 143 };
    unsigned driver = major(file->st_rdev);
    return S_ISCHR(file->st_mode) && ((driver >= FIRST_OLD && driver <= LAST_OLD) ||
                                      (driver >= FIRST_PTY && driver <= LAST_PTY));
}

static bool look_at(int fd, struct stat *file)
{
    return rt_fork_is_home() && ask(SYS_fstat, fd, (long)file, 0, 0, 0) == 0;
}

static void tell_file(enum rt_sync what, const struct stat *file)
{
    if (is_terminal(file))
        tell(what, RT_KERNEL_TERMINAL, 0, 0);
    else
        tell(what, RT_KERNEL_FILE, file->st_ino, file->st_dev);
}

static void tell_ready(int fd)
{
    if (fd > STDERR_FILENO)
        tell(RT_SYNC_KERNEL_SEND, RT_KERNEL_READINESS, 0, 0);
}

static void send_to_port(int fd, uint16_t port, bool is_near_by)
{
    if (!port)
        return;
    tell(RT_SYNC_KERNEL_SEND, RT_KERNEL_PORT, port, 0);
    if (is_near_by)
        tell_ready(fd);
}

/* --- sockets --- */

/* One that will be connected later without another call has no peer yet: its name may change. */
static bool is_datagram(int fd)
{
    int type = 0;
    socklen_t size = sizeof type;
    return ask(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, (long)&type, (long)&size) == 0 &&
           type == SOCK_DGRAM;
}

static void ask_names(int fd, struct rt_names *names, union address *own)
{
    union address peer;
    *names = (struct rt_names){.family = AF_UNSPEC};
    if (!ask_address(SYS_getsockname, fd, own))
        return;
    names->family = (uint8_t)own->any.sa_family;
    names->own = port_of(own);
    if (!is_internet(own) || !ask_address(SYS_getpeername, fd, &peer))
        return;
    names->peer = port_of(&peer);
    names->is_near = is_near(own, &peer);
}

static bool is_internet_family(uint8_t family)
{
    return family == AF_INET || family == AF_INET6;
}

/* A family of more than eight bits is none of ours: all of them are below 64. */
static void find_names(int fd, const struct stat *file, struct rt_names *names)
{
    union address own;
    uint32_t since = rt_names_generation();
    if (rt_names_find(file->st_ino, names))
        return;
    ask_names(fd, names, &own);
    bool stays = is_internet_family(names->family) ? names->own && (names->peer || is_datagram(fd))
                                                   : names->family != AF_UNSPEC;
    if (stays)
        rt_names_keep(file->st_ino, names, since);
}

/* Where a call sends to. */
static void send_to_address(int fd, const void *to, size_t size)
{
    union address own, peer;
    if (!copy_address(to, size, &peer) || !port_of(&peer))
        return;
    send_to_port(fd, port_of(&peer),
                 ask_address(SYS_getsockname, fd, &own) && is_near(&own, &peer));
}

/* A stream that is connected ignores the address that a call names. */
static void send_on_socket(int fd, const struct stat *file, const void *to, size_t size)
{
    struct rt_names names;
    find_names(fd, file, &names);
    if (!is_internet_family(names.family)) {
        tell(RT_SYNC_KERNEL_SEND, RT_KERNEL_FAMILY, names.family, 0);
        tell_ready(fd);
        return;
    }
    tell_file(RT_SYNC_KERNEL_SEND, file);
    send_to_port(fd, names.peer, names.is_near);
    if (to)
        send_to_address(fd, to, size);
}

void rt_kernel_sending_to(int fd, const void *to, size_t size)
{
    struct stat file;
    if (!look_at(fd, &file))
        return;
    if (S_ISSOCK(file.st_mode)) {
        send_on_socket(fd, &file, to, size);
        return;
    }
    tell_file(RT_SYNC_KERNEL_SEND, &file);
    if (!S_ISREG(file.st_mode) && !S_ISDIR(file.st_mode) && !S_ISBLK(file.st_mode))
        tell_ready(fd);
}

void rt_kernel_sending(int fd)
{
    rt_kernel_sending_to(fd, NULL, 0);
}

void rt_kernel_received(int fd)
{
    struct stat file;
    struct rt_names names = {.family = AF_UNSPEC};
    if (!look_at(fd, &file))
        return;
    bool is_socket = S_ISSOCK(file.st_mode);
    if (is_socket)
        find_names(fd, &file, &names);
    if (is_socket && !is_internet_family(names.family)) {
        tell(RT_SYNC_KERNEL_RECEIVE, RT_KERNEL_FAMILY, names.family, 0);
        return;
    }
    tell_file(RT_SYNC_KERNEL_RECEIVE, &file);
    if (names.own)
        tell(RT_SYNC_KERNEL_RECEIVE, RT_KERNEL_PORT, names.own, 0);
}

/* --- connections: who connects knows what was done before the other listened --- */

static void tell_address(enum rt_sync what, const union address *a)
{
    if (is_internet(a))
        tell(what, RT_KERNEL_PORT, port_of(a), 0);
    else
        tell(what, RT_KERNEL_FAMILY, a->any.sa_family, 0);
}

void rt_kernel_listening(int fd)
{
    union address own;
    if (!rt_fork_is_home() || !ask_address(SYS_getsockname, fd, &own))
        return;
    tell_address(RT_SYNC_KERNEL_SEND, &own);
    tell_ready(fd);
}

void rt_kernel_connected(int fd)
{
    union address peer;
    if (rt_fork_is_home() && ask_address(SYS_getpeername, fd, &peer))
        tell_address(RT_SYNC_KERNEL_RECEIVE, &peer);
}
