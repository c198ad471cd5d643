/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that epoll_wait tells of data in a pipe comes after the one that wrote it, also
 * before it has read anything. ThreadSanitizer is wrong here: to it only the read of a
 * descriptor orders. */
#include "../program.h"
#include <sys/epoll.h>
#include <unistd.h>

static int ends[2], poller;
static long data;

static void *wait_for_it(void *arg)
{
    struct epoll_event event;
    must(epoll_wait(poller, &event, 1, -1) == 1);
    must(*(long *)event.data.ptr == 1);
    data = 2;
    return arg;
}

int main(void)
{
    pthread_t thread;
    struct epoll_event event;
    must(pipe(ends) == 0);
    poller = epoll_create1(0);
    must(poller >= 0);
    memset(&event, 0, sizeof event);
    event.events = EPOLLIN;
    event.data.ptr = &data;
    must(epoll_ctl(poller, EPOLL_CTL_ADD, ends[0], &event) == 0);
    start(&thread, wait_for_it, NULL);
    data = 1;
    must(write(ends[1], "x", 1) == 1);
    finish(thread);
    must(data == 2);
    return 0;
}
// TSAN: wrong, to it only the read of a descriptor orders
