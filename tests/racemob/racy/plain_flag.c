/* SPDX-License-Identifier: Apache-2.0 */
/* A flag that is no atomic, only volatile; it races, and so does what it was to guard. */
#include "../program.h"
#include <sched.h>

static volatile int ready;
static long data;

static void *send(void *arg)
{
    data = next(); // RACE: data
    ready = 1;     // RACE: flag
    return arg;
}

static void *receive(void *arg)
{
    while (!ready) // RACE: flag
        sched_yield();
    keep((unsigned long)data); // RACE: data
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&b, receive, NULL);
    start(&a, send, NULL);
    finish(a);
    finish(b);
    return 0;
}
// APART: data
