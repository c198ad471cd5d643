/* SPDX-License-Identifier: Apache-2.0 */
/* A thread between two others has nothing but a fence: what it acquires there is what it releases
 * there, so the first thread's access comes before the last one's. */
#include "../program.h"
#include <sched.h>
#include <stdatomic.h>

static atomic_int sent, passed_on;
static int message;

static void *send(void *arg)
{
    message = 42;
    atomic_store_explicit(&sent, 1, memory_order_release);
    return arg;
}

static void *pass_on(void *arg)
{
    while (!atomic_load_explicit(&sent, memory_order_relaxed))
        sched_yield();
    atomic_thread_fence(memory_order_acq_rel);
    atomic_store_explicit(&passed_on, 1, memory_order_relaxed);
    return arg;
}

static void *receive(void *arg)
{
    while (!atomic_load_explicit(&passed_on, memory_order_acquire))
        sched_yield();
    must(message == 42);
    message = 0;
    return arg;
}

int main(void)
{
    pthread_t a, b, c;
    start(&c, receive, NULL);
    start(&b, pass_on, NULL);
    start(&a, send, NULL);
    finish(a);
    finish(b);
    finish(c);
    return 0;
}
// TSAN: wrong, it knows no fences
