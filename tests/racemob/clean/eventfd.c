/* SPDX-License-Identifier: Apache-2.0 */
/* An eventfd, by read and write and by eventfd_read and eventfd_write, hands the data over. */
#include "../program.h"
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int there, back;
static long data;

static void *answer(void *arg)
{
    uint64_t count;
    must(read(there, &count, sizeof count) == sizeof count && count == 1);
    must(data == 1);
    data = 2;
    must(eventfd_write(back, 3) == 0);
    return arg;
}

int main(void)
{
    pthread_t thread;
    uint64_t one = 1;
    eventfd_t count;
    there = eventfd(0, 0);
    back = eventfd(0, 0);
    must(there >= 0 && back >= 0);
    start(&thread, answer, NULL);
    data = 1;
    must(write(there, &one, sizeof one) == sizeof one);
    must(eventfd_read(back, &count) == 0 && count == 3);
    must(data == 2);
    data = 3;
    finish(thread);
    return 0;
}
