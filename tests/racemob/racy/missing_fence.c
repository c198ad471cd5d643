/* SPDX-License-Identifier: Apache-2.0 */
/* A release fence without the acquire fence on the other side. */
#include "../program.h"
#include <sched.h>
#include <stdatomic.h>

static atomic_int flag;
static int message;

static void *send(void *arg)
{
    message = next(); // RACE
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&flag, 1, memory_order_relaxed); // NORACE
    return arg;
}

static void *receive(void *arg)
{
    while (!atomic_load_explicit(&flag, memory_order_relaxed)) // NORACE
        sched_yield();
    keep((unsigned long)message); // RACE
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
// APART
