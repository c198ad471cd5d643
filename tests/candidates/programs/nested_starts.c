/* SPDX-License-Identifier: Apache-2.0 */
/* One function starts both a thread and the thread that this one starts: two of one class. */
#include "program.h"

static int counter;

static NOINLINE void start_it(pthread_t *thread, void *(*entry)(void *), void *arg)
{
    if (pthread_create(thread, NULL, entry, arg))
        abort();
}

static NOINLINE void touch(void)
{
    counter += next(); // RACE
}

static void *inner(void *arg)
{
    touch();
    return arg;
}

static void *outer(void *arg)
{
    pthread_t thread;
    start_it(&thread, inner, arg);
    touch();
    finish(thread);
    return arg;
}

int main(void)
{
    pthread_t thread;
    counter = next(); // NORACE
    start_it(&thread, outer, NULL);
    finish(thread);
    keep((unsigned long)counter);
    return 0;
}
