/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory that system calls read and fill is told of as uses: what is sent before the send, as
 * much as was asked for; what is received after the receive, as much as came.
 *
 * Built with _FORTIFY_SOURCE too, where some of these are other functions.
 */
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/msg.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "kernel/kernel.h"

/* Hidden from the compiler, or it would not call the checking ones. */
static volatile size_t eight = 8, sixteen = 16;
static volatile int minus_one = -1;

static char bytes[64] = "0123456789abcdef", room[64];
static int sockets[2], file;

/* --- what the calling thread has told --- */

static bool is_use(const struct rt_use *use, bool is_write, const void *start, size_t size)
{
    return use->what == (is_write ? RT_SYNC_KERNEL_RECEIVE : RT_SYNC_KERNEL_SEND) &&
           use->is_write == is_write && use->address == (uintptr_t)start && use->size == size &&
           use->caller;
}

static void check_read(uint32_t i, const void *start, size_t size)
{
    struct rt_use use;
    if (harness_is_exact() && (use = harness_use(i), !is_use(&use, false, start, size)))
        harness_fail(__FILE__, __LINE__, "what was sent");
}

static void check_written(uint32_t i, const void *start, size_t size)
{
    struct rt_use use;
    if (harness_is_exact() && (use = harness_use(i), !is_use(&use, true, start, size)))
        harness_fail(__FILE__, __LINE__, "what was received");
}

/* --- one buffer --- */

static void test_order_of_events(void)
{
    const volatile void *local = rt_kernel_object(RT_KERNEL_FAMILY, AF_UNIX, 0);
    const volatile void *ready = rt_kernel_object(RT_KERNEL_READINESS, 0, 0);
    CHECK(write(sockets[0], bytes, eight) == 8);
    EXPECT({READ_FOR(KERNEL_SEND), bytes}, {RT_SYNC_KERNEL_SEND, local},
           {RT_SYNC_KERNEL_SEND, ready});
    CHECK(read(sockets[1], room, eight) == 8);
    EXPECT({RT_SYNC_KERNEL_RECEIVE, local}, {WRITE_FOR(KERNEL_RECEIVE), room});
}

/* Of what is asked for only as much as came; of nothing, and of an error, nothing. */
static void test_lengths(void)
{
    CHECK(write(sockets[0], bytes, 3) == 3);
    check_read(0, bytes, 3);
    harness_forget();
    CHECK(read(sockets[1], room, sixteen) == 3);
    check_written(0, room, 3);
    harness_forget();
    CHECK(write(file, bytes, 0) == 0 && lseek(file, 0, SEEK_END) >= 0);
    CHECK(read(file, room, eight) == 0 && read(-1, room, eight) == -1 && errno == EBADF);
    harness_keep_only(room);
    EXPECT_NOTHING();
}

static void test_files(void)
{
    CHECK(pwrite(file, bytes, eight, 0) == 8 && pwrite64(file, bytes + 8, eight, 8) == 8);
    check_read(0, bytes, 8);
    check_read(1, bytes + 8, 8);
    harness_forget();
    CHECK(pread(file, room, eight, 0) == 8 && pread64(file, room + 8, eight, 8) == 8);
    CHECK(memcmp(bytes, room, 16) == 0);
    check_written(0, room, 8);
    check_written(1, room + 8, 8);
    harness_forget();
}

static void test_sockets(void)
{
    CHECK(send(sockets[0], bytes, eight, 0) == 8);
    CHECK(sendto(sockets[0], bytes + 8, eight, 0, NULL, 0) == 8);
    check_read(0, bytes, 8);
    check_read(1, bytes + 8, 8);
    harness_forget();
    CHECK(recv(sockets[1], room, eight, 0) == 8);
    CHECK(recvfrom(sockets[1], room + 8, eight, 0, NULL, NULL) == 8);
    check_written(0, room, 8);
    check_written(1, room + 8, 8);
    harness_forget();
}

/* The result may be more than there was room for, and the buffer may be left alone. */
static void test_truncated(void)
{
    int pair[2];
    CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0);
    CHECK(send(pair[0], bytes, sixteen, 0) == 16);
    harness_forget();
    CHECK(recv(pair[1], room, eight, MSG_TRUNC) == 16);
    harness_keep_only(room);
    EXPECT_NOTHING();
    CHECK(close(pair[0]) == 0 && close(pair[1]) == 0);
    harness_forget();
}

/* --- several buffers --- */

/* 5, 0 and 11 bytes. */
static struct iovec *split(char *start)
{
    static struct iovec v[3];
    v[0] = (struct iovec){start, 5};
    v[1] = (struct iovec){start + 5, 0};
    v[2] = (struct iovec){start + 5, 11};
    return v;
}

static void check_split_read(void)
{
    check_read(0, bytes, 5);
    check_read(1, bytes + 5, 11);
    harness_forget();
}

/* Of `got` bytes. */
static void check_split_written(size_t got)
{
    check_written(0, room, 5);
    check_written(1, room + 5, got - 5);
    harness_forget();
}

static void test_vectors(void)
{
    CHECK(writev(sockets[0], split(bytes), 3) == 16);
    check_split_read();
    CHECK(readv(sockets[1], split(room), 3) == 16);
    check_split_written(16);
    CHECK(write(sockets[0], bytes, 7) == 7);
    harness_forget();
    CHECK(readv(sockets[1], split(room), 3) == 7);
    check_split_written(7);
}

static void test_vectors_of_files(void)
{
    CHECK(pwritev(file, split(bytes), 3, 0) == 16);
    check_split_read();
    CHECK(pwritev64(file, split(bytes), 3, 0) == 16);
    check_split_read();
    CHECK(pwritev2(file, split(bytes), 3, 0, 0) == 16);
    check_split_read();
    CHECK(pwritev64v2(file, split(bytes), 3, 0, 0) == 16);
    check_split_read();
    CHECK(ftruncate(file, 12) == 0);
    CHECK(preadv(file, split(room), 3, 0) == 12);
    check_split_written(12);
    CHECK(preadv64(file, split(room), 3, 0) == 12);
    check_split_written(12);
    CHECK(preadv2(file, split(room), 3, 0, 0) == 12);
    check_split_written(12);
    CHECK(preadv64v2(file, split(room), 3, 0, 0) == 12);
    check_split_written(12);
}

/* More than are looked at in one go. */
static void test_many(void)
{
    enum { COUNT = 40 };
    struct iovec out[COUNT], in[COUNT];
    for (int i = 0; i < COUNT; i++) {
        out[i] = (struct iovec){bytes + i, 1};
        in[i] = (struct iovec){room + i, 1};
    }
    CHECK(writev(sockets[0], out, COUNT) == COUNT);
    for (uint32_t i = 0; i < COUNT; i++)
        check_read(i, bytes + i, 1);
    harness_forget();
    CHECK(readv(sockets[1], in, COUNT) == COUNT);
    for (uint32_t i = 0; i < COUNT; i++)
        check_written(i, room + i, 1);
    harness_forget();
}

static void test_messages(void)
{
    struct msghdr out = {.msg_iov = split(bytes), .msg_iovlen = 3};
    CHECK(sendmsg(sockets[0], &out, 0) == 16);
    check_split_read();
    struct msghdr in = {.msg_iov = split(room), .msg_iovlen = 3};
    CHECK(recvmsg(sockets[1], &in, 0) == 16);
    check_split_written(16);
}

static void test_lists_of_messages(void)
{
    int pair[2];
    CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0);
    struct iovec first = {bytes, 5}, second = {bytes + 5, 11};
    struct mmsghdr m[] = {{.msg_hdr = {.msg_iov = &first, .msg_iovlen = 1}},
                          {.msg_hdr = {.msg_iov = &second, .msg_iovlen = 1}}};
    CHECK(sendmmsg(pair[0], m, 2, 0) == 2);
    check_split_read();
    first = (struct iovec){room, 32};
    second = (struct iovec){room + 32, 32};
    CHECK(recvmmsg(pair[1], m, 2, MSG_DONTWAIT, NULL) == 2);
    check_written(0, room, 5);
    check_written(1, room + 32, 11);
    CHECK(close(pair[0]) == 0 && close(pair[1]) == 0);
    harness_forget();
}

/* --- queues, where the system has them --- */

static void test_queue(void)
{
    char name[64];
    struct mq_attr attributes = {.mq_maxmsg = 2, .mq_msgsize = sizeof room};
    snprintf(name, sizeof name, "/racehive-buffers-%d", (int)getpid());
    mqd_t q = mq_open(name, O_CREAT | O_RDWR, 0600, &attributes);
    if (q == -1)
        return;
    CHECK(mq_unlink(name) == 0);
    harness_forget();
    CHECK(mq_send(q, bytes, 5, 0) == 0);
    check_read(0, bytes, 5);
    harness_forget();
    CHECK(mq_receive(q, room, sizeof room, NULL) == 5);
    check_written(0, room, 5);
    CHECK(mq_close(q) == 0);
    harness_forget();
}

/* The type in front is moved too. */
static void test_system_v_queue(void)
{
    struct {
        long type;
        char text[16];
    } out = {1, "message"}, in;
    int q = msgget(IPC_PRIVATE, 0600);
    if (q == -1)
        return;
    CHECK(msgsnd(q, &out, 8, 0) == 0);
    check_read(0, &out, sizeof out.type + 8);
    harness_forget();
    CHECK(msgrcv(q, &in, sizeof in.text, 0, 0) == 8);
    check_written(0, &in, sizeof in.type + 8);
    CHECK(msgctl(q, IPC_RMID, NULL) == 0);
    harness_forget();
}

/* --- nonsense --- */

/* What the kernel would refuse is never followed. */
static void test_nonsense(void)
{
    struct iovec v = {(void *)16, 8};
    CHECK(write(sockets[0], (void *)(uintptr_t)eight, eight) == -1 && errno == EFAULT);
    CHECK(writev(sockets[0], (void *)(uintptr_t)eight, 1) == -1 && errno == EFAULT);
    CHECK(writev(sockets[0], &v, 1) == -1 && errno == EFAULT);
    CHECK(writev(sockets[0], &v, minus_one) == -1 && errno == EINVAL);
    CHECK(readv(sockets[1], (void *)(uintptr_t)eight, 1) == -1 && errno == EFAULT);
    CHECK(sendmsg(sockets[0], (void *)(uintptr_t)eight, 0) == -1 && errno == EFAULT);
    harness_forget();
}

/* A child that shares our memory has nothing to say. */
static void test_vfork(void)
{
    harness_forget();
    pid_t child = vfork();
    if (child == 0) {
        if (write(sockets[0], bytes, 8) != 8)
            _exit(1);
        _exit(0);
    }
    harness_keep_only(bytes);
    EXPECT_NOTHING();
    int status;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    CHECK(read(sockets[1], room, eight) == 8);
    harness_forget();
}

int main(void)
{
    char path[] = "/tmp/racehive_buffers_XXXXXX";
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
    CHECK((file = mkstemp(path)) >= 0 && unlink(path) == 0);
    harness_record_uses();
    harness_forget();
    test_order_of_events();
    test_lengths();
    test_files();
    test_sockets();
    test_truncated();
    test_vectors();
    test_vectors_of_files();
    test_many();
    test_messages();
    test_lists_of_messages();
    test_queue();
    test_system_v_queue();
    test_nonsense();
    test_vfork();
    return 0;
}
