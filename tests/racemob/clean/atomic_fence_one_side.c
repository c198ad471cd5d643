/* SPDX-License-Identifier: Apache-2.0 */
/* A fence on one side only, meeting an ordered operation on the other: release fence with acquire
 * load, and release store with acquire fence. ThreadSanitizer is wrong here: it knows no fences. */
#include "../program.h"
#include <sched.h>
#include <stdatomic.h>

static atomic_int there, back;
static int message;

static void *answer(void *arg)
{
    while (!atomic_load_explicit(&there, memory_order_acquire))
        sched_yield();
    must(message == 1);
    message = 2;
    atomic_store_explicit(&back, 1, memory_order_release);
    return arg;
}

static void *ask(void *arg)
{
    message = 1;
    atomic_thread_fence(memory_order_acq_rel);
    atomic_store_explicit(&there, 1, memory_order_relaxed);
    while (!atomic_load_explicit(&back, memory_order_relaxed))
        sched_yield();
    atomic_thread_fence(memory_order_seq_cst);
    must(message == 2);
    message = 3;
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&a, answer, NULL);
    start(&b, ask, NULL);
    finish(a);
    finish(b);
    return 0;
}
// TSAN: wrong, it knows no fences
