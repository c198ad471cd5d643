/* SPDX-License-Identifier: Apache-2.0 */
/* A thread spins on a plain flag, then reads what was written before it was set. */
#include "program.h"
#include <sched.h>

static volatile int flag;
static int message;

static void *send(void *arg)
{
    message = next(); // RACE: message
    flag = 1;         // RACE: flag
    return arg;
}

static void *receive(void *arg)
{
    while (!flag) // RACE: flag
        sched_yield();
    keep((unsigned long)message); // RACE: message
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&a, send, NULL);
    start(&b, receive, NULL);
    finish(a);
    finish(b);
    return 0;
}
