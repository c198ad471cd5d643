/* SPDX-License-Identifier: Apache-2.0 */
/* RACE with an uninstrumented access that no watchpoint sees: the kernel writes, for another
 * thread's read. */
#include "subject.h"

static long value;
static int over, ends[2];

static void *reset(void *arg)
{
    value = 0;
    return arg;
}

static void *look(void *arg)
{
    for (int i = 0; i < LOOKS; i++) {
        keep((unsigned long)value); // UNINSTRUMENTED
        rest();
    }
    tell(&over, 1);
    return arg;
}

static void *receive(void *arg)
{
    for (long i = 1; !__atomic_load_n(&over, __ATOMIC_RELAXED); i++) {
        must(write(ends[1], &i, sizeof i) == sizeof i);
        must(read_of_libc(ends[0], &value, sizeof value) == sizeof value);
        rest();
    }
    return arg;
}

int main(void)
{
    pthread_t a, b, never;
    must(pipe(ends) == 0);
    if (unforeseen(0))
        start(&never, reset, NULL);
    start(&a, look, NULL);
    start(&b, receive, NULL);
    finish(a);
    finish(b);
    return 0;
}
