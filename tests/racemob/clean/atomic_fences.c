/* SPDX-License-Identifier: Apache-2.0 */
/* A release fence before a relaxed store, and an acquire fence after the relaxed load that saw it,
 * order what is around them. ThreadSanitizer is wrong here: it knows no fences. */
#include "../program.h"
#include <sched.h>
#include <stdatomic.h>

static atomic_int flag;
static int message;

static void *send(void *arg)
{
    message = 42;
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
    return arg;
}

static void *receive(void *arg)
{
    while (!atomic_load_explicit(&flag, memory_order_relaxed))
        sched_yield();
    atomic_thread_fence(memory_order_acquire);
    must(message == 42);
    message = 0;
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
// TSAN: wrong, it knows no fences
