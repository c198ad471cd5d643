/* SPDX-License-Identifier: Apache-2.0 */
/* A pair of sockets, by send and recv, then by sendmsg and recvmsg: who has received comes after
 * who has sent. */
#include "../program.h"
#include <sys/socket.h>
#include <sys/uio.h>

static int ends[2];
static long question, reply;

static void *answer(void *arg)
{
    char byte;
    struct iovec part = {&byte, 1};
    struct msghdr message;
    must(recv(ends[1], &byte, 1, 0) == 1);
    must(question == 1);
    question = 0;
    reply = 2;
    memset(&message, 0, sizeof message);
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    must(sendmsg(ends[1], &message, 0) == 1);
    return arg;
}

int main(void)
{
    pthread_t thread;
    char byte;
    struct iovec part = {&byte, 1};
    struct msghdr message;
    must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    start(&thread, answer, NULL);
    question = 1;
    must(send(ends[0], "q", 1, 0) == 1);
    memset(&message, 0, sizeof message);
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    must(recvmsg(ends[0], &message, 0) == 1);
    must(reply == 2 && question == 0);
    question = reply = 3;
    finish(thread);
    return 0;
}
