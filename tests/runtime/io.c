/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a thread sends through a descriptor orders it before the one that receives it, by whichever
 * calls and through whatever kind of descriptor; and the program sees the same results as without
 * us: partial, interrupted, refused, cancelled.
 *
 * Built with _FORTIFY_SOURCE too, where some of these are other functions.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "io_ways.h"
#include "kernel/kernel.h"

/* A channel: the descriptor that is sent to, and the one that is received from. */
struct channel {
    int to, from;
};

/* --- the order --- */

static uint32_t last_value;

struct sending {
    transfer *send;
    int fd;
    uint32_t value;
};

static void *send_in_thread(void *arg)
{
    const struct sending *s = arg;
    harness_tell(1, s->value);
    CHECK(s->send(s->fd) == (ssize_t)eight);
    return NULL;
}

/* The sender begins after the receiver, and is joined after it has looked: nothing else orders
 * them. */
static void check_order(struct channel c, transfer *send, transfer *receive)
{
    struct sending s = {send, c.to, ++last_value};
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, send_in_thread, &s) == 0);
    memset(room, 0, sizeof room);
    ssize_t got;
    do
        got = receive(c.from);
    while (got == 0); /* a file may still be empty */
    CHECK(got == (ssize_t)eight && memcmp(room, bytes, eight) == 0);
    CHECK_KNOWS(1, s.value);
    CHECK(pthread_join(thread, NULL) == 0);
}

static void check_all(struct channel c, transfer *const *sends, transfer *const *receives)
{
    for (transfer *const *s = sends; *s; s++)
        check_order(c, *s, receives[0]);
    for (transfer *const *r = receives; *r; r++)
        check_order(c, sends[0], *r);
    harness_forget();
}

static void close_both(struct channel c)
{
    CHECK(close(c.to) == 0);
    CHECK(c.to == c.from || close(c.from) == 0);
}

static struct channel make_pipe(void)
{
    int ends[2];
    CHECK(pipe(ends) == 0);
    return (struct channel){ends[1], ends[0]};
}

static void test_pipe(void)
{
    struct channel c = make_pipe();
    check_all(c, pipe_sends, pipe_receives);
    close_both(c);
    char path[] = "/tmp/racehive-io-XXXXXX";
    CHECK(mkdtemp(path));
    char name[64];
    snprintf(name, sizeof name, "%s/fifo", path);
    CHECK(mkfifo(name, 0600) == 0);
    c.from = open(name, O_RDWR);
    c.to = open(name, O_WRONLY);
    CHECK(c.from >= 0 && c.to >= 0);
    check_all(c, pipe_sends, pipe_receives);
    close_both(c);
    CHECK(unlink(name) == 0 && rmdir(path) == 0);
}

static void test_socketpair(void)
{
    static const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        int ends[2];
        CHECK(socketpair(AF_UNIX, types[i], 0, ends) == 0);
        check_all((struct channel){ends[0], ends[1]}, socket_sends,
                  types[i] == SOCK_STREAM ? socket_receives : plain_receives);
        check_all((struct channel){ends[1], ends[0]}, socket_sends, plain_receives);
        close_both((struct channel){ends[0], ends[1]});
    }
}

/* --- the internet --- */

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

/* A socket at a port of the kernel's choice, on all addresses; `to` is how to reach it. */
static int make_bound(int family, int type, union address *to, socklen_t *size)
{
    union address a = {.any.sa_family = (sa_family_t)family};
    *size = family == AF_INET ? sizeof a.v4 : sizeof a.v6;
    int fd = socket(family, type, 0);
    if (fd < 0 || bind(fd, &a.any, *size) != 0)
        return -1;
    CHECK(getsockname(fd, &to->any, size) == 0);
    if (family == AF_INET)
        to->v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    else
        to->v6.sin6_addr = in6addr_loopback;
    return fd;
}

static union address server;
static socklen_t server_size;

static void *connect_in_thread(void *arg)
{
    int fd = socket(server.any.sa_family, SOCK_STREAM, 0);
    harness_tell(1, *(uint32_t *)arg);
    CHECK(fd >= 0 && connect(fd, &server.any, server_size) == 0);
    return (void *)(intptr_t)fd;
}

static void *listen_in_thread(void *arg)
{
    harness_tell(2, last_value);
    CHECK(listen((int)(intptr_t)arg, 5) == 0);
    return NULL;
}

/* Who can connect knows that the other listens; who accepts knows the other. */
static struct channel make_connection(int family)
{
    struct channel none = {-1, -1};
    int listener = make_bound(family, SOCK_STREAM, &server, &server_size);
    if (listener < 0)
        return none;
    pthread_t thread;
    void *connected;
    uint32_t value = ++last_value;
    CHECK(pthread_create(&thread, NULL, listen_in_thread, (void *)(intptr_t)listener) == 0);
    int early = -1;
    do {
        if (early >= 0)
            CHECK(close(early) == 0);
        early = socket(family, SOCK_STREAM, 0);
    } while (connect(early, &server.any, server_size) != 0);
    CHECK_KNOWS(2, value);
    CHECK(pthread_join(thread, NULL) == 0);
    int other = accept(listener, NULL, NULL);
    CHECK(other >= 0 && close(other) == 0 && close(early) == 0);
    CHECK(pthread_create(&thread, NULL, connect_in_thread, &value) == 0);
    int accepted = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    CHECK(accepted >= 0);
    CHECK_KNOWS(1, value);
    CHECK(pthread_join(thread, &connected) == 0 && close(listener) == 0);
    return (struct channel){(int)(intptr_t)connected, accepted};
}

static void test_stream(int family)
{
    struct channel c = make_connection(family);
    if (c.to < 0)
        return; /* no such family here */
    check_all(c, socket_sends, socket_receives);
    check_all((struct channel){c.from, c.to}, socket_sends, socket_receives);
    close_both(c);
}

static ssize_t send_to_server(int fd)
{
    return sendto(fd, bytes, eight, 0, &server.any, server_size);
}

static ssize_t send_message_to_server(int fd)
{
    struct msghdr m = {
        .msg_name = &server, .msg_namelen = server_size, .msg_iov = vector(bytes), .msg_iovlen = 1};
    return sendmsg(fd, &m, 0);
}

static ssize_t send_messages_to_server(int fd)
{
    struct mmsghdr m = {.msg_hdr = {.msg_name = &server,
                                    .msg_namelen = server_size,
                                    .msg_iov = vector(bytes),
                                    .msg_iovlen = 1}};
    return sendmmsg(fd, &m, 1, 0) == 1 ? (ssize_t)m.msg_len : -1;
}

/* Neither end is connected. */
static void test_datagrams(int family)
{
    static transfer *const sends[] = {send_to_server, send_message_to_server,
                                      send_messages_to_server, NULL};
    int receiver = make_bound(family, SOCK_DGRAM, &server, &server_size);
    if (receiver < 0)
        return;
    struct channel c = {socket(family, SOCK_DGRAM, 0), receiver};
    CHECK(c.to >= 0);
    check_all(c, sends, plain_receives);
    check_order(c, send_to_server, receive_recv);
    check_order(c, send_to_server, receive_recvfrom);
    check_order(c, send_to_server, receive_recvmsg);
    check_order(c, send_to_server, receive_recvmmsg);
    close_both(c);
}

/* Another process answers what a thread sent; a second thread receives that. */
static void check_answer(struct channel there, struct channel back)
{
    struct sending s = {send_write, there.to, ++last_value};
    pthread_t thread;
    pid_t child = fork();
    if (child == 0) {
        bool heard = receive_read(there.from) == (ssize_t)eight;
        _exit(heard && send_write(back.to) == (ssize_t)eight ? 0 : 1);
    }
    CHECK(pthread_create(&thread, NULL, send_in_thread, &s) == 0);
    CHECK(receive_read(back.from) == (ssize_t)eight);
    CHECK_KNOWS(1, s.value);
    CHECK(pthread_join(thread, NULL) == 0 && waitpid(child, NULL, 0) == child);
    close_both(there);
    harness_forget();
}

/* On the same socket, or on another pipe. */
static void test_answer(void)
{
    struct channel c = make_connection(AF_INET), other = make_pipe();
    check_answer(c, (struct channel){c.from, c.to});
    check_answer(make_pipe(), other);
    close_both(other);
}

/* --- files and counters --- */

static void test_file(void)
{
    char path[] = "/tmp/racehive-io-XXXXXX";
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    struct channel c = {fd, open(path, O_RDONLY)};
    CHECK(c.from >= 0 && unlink(path) == 0);
    for (transfer *const *s = file_sends; *s; s++) {
        CHECK(ftruncate(fd, 0) == 0);
        check_order(c, *s, file_receives[0]);
    }
    for (transfer *const *r = file_receives; *r; r++) {
        CHECK(ftruncate(fd, 0) == 0);
        check_order(c, file_sends[0], *r);
    }
    int copy = open("/tmp", O_TMPFILE | O_RDWR, 0600);
    if (copy >= 0) {
        off64_t at = 0;
        CHECK(copy_file_range(fd, &at, copy, NULL, eight, 0) == (ssize_t)eight || errno);
        CHECK(close(copy) == 0);
    }
    close_both(c);
    harness_forget();
}

static ssize_t send_count(int fd)
{
    return eventfd_write(fd, 1) == 0 ? (ssize_t)eight : -1;
}

static ssize_t receive_count(int fd)
{
    eventfd_t value;
    memcpy(room, bytes, eight);
    return eventfd_read(fd, &value) == 0 ? (ssize_t)eight : -1;
}

static ssize_t receive_number(int fd)
{
    ssize_t got = receive_read(fd);
    memcpy(room, bytes, eight);
    return got;
}

static ssize_t send_number(int fd)
{
    static const uint64_t one = 1;
    return write(fd, &one, sizeof one);
}

static void test_eventfd(void)
{
    int fd = eventfd(0, 0);
    CHECK(fd >= 0);
    check_order((struct channel){fd, fd}, send_count, receive_count);
    check_order((struct channel){fd, fd}, send_number, receive_number);
    CHECK(close(fd) == 0);
    harness_forget();
}

/* --- the end of a channel is received too --- */

static void *close_in_thread(void *fd)
{
    harness_tell(1, last_value);
    CHECK(close(*(int *)fd) == 0);
    return NULL;
}

static void *shut_in_thread(void *fd)
{
    harness_tell(1, last_value);
    CHECK(shutdown(*(int *)fd, SHUT_WR) == 0);
    return NULL;
}

static void *replace_in_thread(void *fd)
{
    harness_tell(1, last_value);
    int other = open("/dev/null", O_WRONLY);
    CHECK(other >= 0 && dup2(other, *(int *)fd) == *(int *)fd && close(other) == 0);
    return NULL;
}

static void *replace_anew_in_thread(void *fd)
{
    harness_tell(1, last_value);
    int other = open("/dev/null", O_WRONLY);
    CHECK(other >= 0 && dup3(other, *(int *)fd, O_CLOEXEC) == *(int *)fd && close(other) == 0);
    return NULL;
}

static void check_end(struct channel c, void *(*end)(void *))
{
    pthread_t thread;
    uint32_t value = ++last_value;
    CHECK(pthread_create(&thread, NULL, end, &c.to) == 0);
    CHECK(receive_read(c.from) == 0);
    CHECK_KNOWS(1, value);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(close(c.from) == 0);
    close(c.to);
    harness_forget();
}

static void test_end(void)
{
    check_end(make_pipe(), close_in_thread);
    check_end(make_pipe(), replace_in_thread);
    check_end(make_pipe(), replace_anew_in_thread);
    check_end(make_connection(AF_INET), close_in_thread);
    check_end(make_connection(AF_INET), shut_in_thread);
    int ends[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    check_end((struct channel){ends[0], ends[1]}, shut_in_thread);
}

/* --- as little as can be --- */

static const volatile void *object_of(int fd)
{
    struct stat file;
    CHECK(fstat(fd, &file) == 0);
    return rt_kernel_object(RT_KERNEL_FILE, file.st_ino, file.st_dev);
}

static void test_events(void)
{
    const volatile void *ready = rt_kernel_object(RT_KERNEL_READINESS, 0, 0);
    struct channel c = make_pipe();
    harness_forget();
    CHECK(write(c.to, "x", 1) == 1);
    EXPECT({RT_SYNC_KERNEL_SEND, object_of(c.to)}, {RT_SYNC_KERNEL_SEND, ready});
    CHECK(object_of(c.to) == object_of(c.from));
    CHECK(read(c.from, room, sizeof room) == 1);
    EXPECT({RT_SYNC_KERNEL_RECEIVE, object_of(c.from)});
    CHECK(read(-1, room, 1) == -1 && errno == EBADF);
    CHECK(write(-1, room, 1) == -1 && errno == EBADF);
    CHECK(close(-1) == -1 && errno == EBADF);
    EXPECT_NOTHING();
    int file = open("/tmp", O_TMPFILE | O_RDWR, 0600);
    harness_forget();
    if (file >= 0) {
        CHECK(write(file, "x", 1) == 1);
        EXPECT({RT_SYNC_KERNEL_SEND, object_of(file)});
        CHECK(close(file) == 0);
    }
    close_both(c);
    harness_forget();
}

/* Two pipes are two objects. */
static void test_two(void)
{
    struct channel a = make_pipe(), b = make_pipe();
    struct sending s = {send_write, a.to, ++last_value};
    pthread_t thread;
    CHECK(send_write(b.to) == (ssize_t)eight);
    CHECK(pthread_create(&thread, NULL, send_in_thread, &s) == 0);
    int there = 0;
    while (there < (int)eight) /* not poll, which would learn */
        CHECK(ioctl(a.from, FIONREAD, &there) == 0);
    CHECK(receive_read(b.from) == (ssize_t)eight);
    if (harness_is_exact() && object_of(a.from) != object_of(b.from))
        CHECK(harness_knows(1) < s.value);
    CHECK(receive_read(a.from) == (ssize_t)eight);
    CHECK_KNOWS(1, s.value);
    CHECK(pthread_join(thread, NULL) == 0);
    close_both(a);
    close_both(b);
    harness_forget();
}

/* --- what the program sees --- */

static _Atomic bool was_interrupted;

static void handle(int signal)
{
    (void)signal;
}

/* Until it is seen: the first one may come before the call. */
static void *interrupt(void *thread)
{
    while (!atomic_load(&was_interrupted)) {
        CHECK(pthread_kill(*(pthread_t *)thread, SIGUSR1) == 0);
        usleep(1000);
    }
    return NULL;
}

static void test_interrupted(void)
{
    struct channel c = make_pipe();
    struct sigaction action = {.sa_handler = handle}, old;
    pthread_t self = pthread_self(), thread;
    CHECK(sigaction(SIGUSR1, &action, &old) == 0);
    CHECK(pthread_create(&thread, NULL, interrupt, &self) == 0);
    harness_forget();
    errno = 0;
    CHECK(read(c.from, room, eight) == -1 && errno == EINTR);
    atomic_store(&was_interrupted, true);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(sigaction(SIGUSR1, &old, NULL) == 0);
    close_both(c);
    harness_forget();
}

static void test_partial(void)
{
    struct channel c = make_pipe();
    static char much[1 << 20];
    CHECK(fcntl(c.to, F_SETFL, O_NONBLOCK) == 0 && fcntl(c.to, F_GETFL) & O_NONBLOCK);
    ssize_t part = write(c.to, much, sizeof much);
    CHECK(part > 0 && part < (ssize_t)sizeof much);
    CHECK(write(c.to, much, sizeof much) == -1 && errno == EAGAIN);
    CHECK(read(c.from, much, sizeof much) == part);
    CHECK(fcntl(c.from, F_SETFL, O_NONBLOCK) == 0);
    errno = 0;
    harness_forget();
    CHECK(read(c.from, much, sizeof much) == -1 && errno == EAGAIN);
    EXPECT_NOTHING();
    errno = 99;
    CHECK(write(c.to, "x", 1) == 1 && read(c.from, much, 9) == 1 && errno == 99);
    close_both(c);
    harness_forget();
}

/* Pointers that the kernel refuses. */
static void test_nonsense(void)
{
    void *volatile nowhere = (void *)16;
    union address to;
    socklen_t size;
    int fd = make_bound(AF_INET, SOCK_DGRAM, &to, &size);
    CHECK(fd >= 0);
    CHECK(sendto(fd, bytes, eight, 0, nowhere, size) == -1 && errno == EFAULT);
    CHECK(sendmsg(fd, nowhere, 0) == -1 && errno == EFAULT);
    CHECK(sendmmsg(fd, nowhere, 2, 0) == -1 && errno == EFAULT);
    CHECK(connect(fd, nowhere, size) == -1 && errno == EFAULT);
    CHECK(write(fd, nowhere, eight) == -1);
    CHECK(sendto(-1, bytes, eight, 0, &to.any, size) == -1 && errno == EBADF);
    CHECK(accept(fd, NULL, NULL) == -1 && errno == EOPNOTSUPP);
    CHECK(listen(-1, 1) == -1 && errno == EBADF);
    CHECK(close(fd) == 0);
    harness_forget();
}

static _Atomic int cleaned;

static void clean(void *arg)
{
    (void)arg;
    CHECK_KNOWS(3, last_value);
    atomic_fetch_add(&cleaned, 1);
}

static void *read_until_cancelled(void *fd)
{
    pthread_cleanup_push(clean, NULL);
    CHECK(read(*(int *)fd, room, eight) == 0);
    CHECK(!"cancelled before");
    pthread_cleanup_pop(0);
    return NULL;
}

/* Its cleanup handlers know what the one who cancels knew. */
static void test_cancelled(void)
{
    struct channel c = make_pipe();
    pthread_t thread;
    void *result;
    CHECK(pthread_create(&thread, NULL, read_until_cancelled, &c.from) == 0);
    harness_tell(3, ++last_value);
    CHECK(pthread_cancel(thread) == 0);
    CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
    CHECK(atomic_load(&cleaned) == 1);
    close_both(c);
    harness_forget();
}

/* A child that borrows our memory has descriptors of its own: nothing is told. */
static void test_vfork(void)
{
    struct channel c = make_pipe();
    harness_forget();
    uint64_t before = harness_count(RT_SYNC_KERNEL_SEND);
    pid_t child = vfork();
    if (child == 0) {
        if (write(c.to, "x", 1) != 1)
            _exit(1);
        _exit(0);
    }
    CHECK(!harness_is_exact() || harness_count(RT_SYNC_KERNEL_SEND) == before);
    CHECK(waitpid(child, NULL, 0) == child);
    CHECK(read(c.from, room, eight) == 1);
    close_both(c);
}

int main(void)
{
    harness_forget();
    test_pipe();
    test_socketpair();
    test_stream(AF_INET);
    test_stream(AF_INET6);
    test_datagrams(AF_INET);
    test_datagrams(AF_INET6);
    test_file();
    test_eventfd();
    test_end();
    test_events();
    test_two();
    test_answer(); /* from here on there is a child */
    test_interrupted();
    test_partial();
    test_nonsense();
    test_cancelled();
    test_vfork();
    return 0;
}
