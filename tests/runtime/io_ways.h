/* SPDX-License-Identifier: Apache-2.0 */
/* The ways to send and to receive eight bytes through a descriptor, and for which kind of it. */
#ifndef TESTS_RUNTIME_IO_WAYS_H
#define TESTS_RUNTIME_IO_WAYS_H

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "harness.h"

/* How many bytes there are is hidden from the compiler, or it would not call the checking ones. */
static volatile size_t eight = 8;

static char bytes[64] = "1234567";
static __thread char room[64];

static struct iovec *vector(void *start)
{
    static __thread struct iovec v;
    v = (struct iovec){start, eight};
    return &v;
}

static ssize_t send_write(int fd)
{
    return write(fd, bytes, eight);
}

static ssize_t send_writev(int fd)
{
    return writev(fd, vector(bytes), 1);
}

static ssize_t send_send(int fd)
{
    return send(fd, bytes, eight, 0);
}

static ssize_t send_sendto(int fd)
{
    return sendto(fd, bytes, eight, 0, NULL, 0);
}

static ssize_t send_sendmsg(int fd)
{
    struct msghdr m = {.msg_iov = vector(bytes), .msg_iovlen = 1};
    return sendmsg(fd, &m, 0);
}

static ssize_t send_sendmmsg(int fd)
{
    struct mmsghdr m = {.msg_hdr = {.msg_iov = vector(bytes), .msg_iovlen = 1}};
    return sendmmsg(fd, &m, 1, 0) == 1 ? (ssize_t)m.msg_len : -1;
}

static ssize_t send_vmsplice(int fd)
{
    return vmsplice(fd, vector(bytes), 1, 0);
}

static ssize_t send_pwrite(int fd)
{
    return pwrite(fd, bytes, eight, 0);
}

static ssize_t send_pwrite64(int fd)
{
    return pwrite64(fd, bytes, eight, 0);
}

static ssize_t send_pwritev(int fd)
{
    return pwritev(fd, vector(bytes), 1, 0);
}

static ssize_t send_pwritev64(int fd)
{
    return pwritev64(fd, vector(bytes), 1, 0);
}

static ssize_t send_pwritev2(int fd)
{
    return pwritev2(fd, vector(bytes), 1, 0, 0);
}

static ssize_t send_pwritev64v2(int fd)
{
    return pwritev64v2(fd, vector(bytes), 1, 0, 0);
}

static ssize_t receive_read(int fd)
{
    return read(fd, room, eight);
}

static ssize_t receive_readv(int fd)
{
    return readv(fd, vector(room), 1);
}

static ssize_t receive_recv(int fd)
{
    return recv(fd, room, eight, 0);
}

static ssize_t receive_recvfrom(int fd)
{
    return recvfrom(fd, room, eight, 0, NULL, NULL);
}

static ssize_t receive_recvmsg(int fd)
{
    struct msghdr m = {.msg_iov = vector(room), .msg_iovlen = 1};
    return recvmsg(fd, &m, 0);
}

static ssize_t receive_recvmmsg(int fd)
{
    struct mmsghdr m = {.msg_hdr = {.msg_iov = vector(room), .msg_iovlen = 1}};
    return recvmmsg(fd, &m, 1, 0, NULL) == 1 ? (ssize_t)m.msg_len : -1;
}

static ssize_t receive_pread(int fd)
{
    return pread(fd, room, eight, 0);
}

static ssize_t receive_pread64(int fd)
{
    return pread64(fd, room, eight, 0);
}

static ssize_t receive_preadv(int fd)
{
    return preadv(fd, vector(room), 1, 0);
}

static ssize_t receive_preadv64(int fd)
{
    return preadv64(fd, vector(room), 1, 0);
}

static ssize_t receive_preadv2(int fd)
{
    return preadv2(fd, vector(room), 1, 0, 0);
}

static ssize_t receive_preadv64v2(int fd)
{
    return preadv64v2(fd, vector(room), 1, 0, 0);
}

/* Moves what is there through a pipe, and reads it there. */
static ssize_t receive_splice(int fd)
{
    int ends[2];
    CHECK(pipe(ends) == 0);
    ssize_t moved = splice(fd, NULL, ends[1], NULL, eight, 0);
    CHECK(read(ends[0], room, eight) == moved);
    CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
    return moved;
}

static ssize_t receive_sendfile(int fd)
{
    int ends[2];
    off_t at = 0;
    off64_t at64 = 0;
    CHECK(pipe(ends) == 0);
    ssize_t moved = sendfile(ends[1], fd, &at, eight);
    CHECK(moved == 0 || sendfile64(ends[1], fd, &at64, eight) == moved);
    CHECK(moved == 0 || read(ends[0], room, eight) == moved);
    CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
    return moved;
}

typedef ssize_t transfer(int fd);

static transfer *const plain_receives[] = {receive_read, receive_readv, NULL};
static transfer *const pipe_sends[] = {send_write, send_writev, send_vmsplice, NULL};
static transfer *const pipe_receives[] = {receive_read, receive_readv, receive_splice, NULL};
static transfer *const socket_sends[] = {send_write,   send_writev,   send_send, send_sendto,
                                         send_sendmsg, send_sendmmsg, NULL};
static transfer *const socket_receives[] = {
    receive_read,    receive_readv,    receive_recv,   receive_recvfrom,
    receive_recvmsg, receive_recvmmsg, receive_splice, NULL};
static transfer *const file_sends[] = {
    send_pwrite,   send_pwrite64,    send_pwritev, send_pwritev64,
    send_pwritev2, send_pwritev64v2, NULL};
static transfer *const file_receives[] = {
    receive_pread,   receive_pread64,    receive_preadv,   receive_preadv64,
    receive_preadv2, receive_preadv64v2, receive_sendfile, NULL};

#endif
