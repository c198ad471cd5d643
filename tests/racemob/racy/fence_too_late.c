/* SPDX-License-Identifier: Apache-2.0 */
/* The release fence stands behind the relaxed store that was to be ordered by it. */
#include "../program.h"
#include <sched.h>
#include <stdatomic.h>

static atomic_int flag;
static int message;

static void *send(void *arg)
{
    message = next();                                      // RACE
    atomic_store_explicit(&flag, 1, memory_order_relaxed); // NORACE
    atomic_thread_fence(memory_order_release);
    return arg;
}

static void *receive(void *arg)
{
    while (!atomic_load_explicit(&flag, memory_order_relaxed)) // NORACE
        sched_yield();
    atomic_thread_fence(memory_order_acquire);
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
