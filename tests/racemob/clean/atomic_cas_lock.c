/* SPDX-License-Identifier: Apache-2.0 */
/* A lock made of compare_exchange (acquire) and a release store. */
#include "../program.h"
#include <sched.h>
#include <stdatomic.h>

enum { THREADS = 3, ROUNDS = 40 };

static atomic_int locked;
static long counter;

static NOINLINE void take(void)
{
    int expected = 0;
    while (!atomic_compare_exchange_weak_explicit(&locked, &expected, 1, memory_order_acquire,
                                                  memory_order_relaxed)) {
        expected = 0;
        sched_yield();
    }
}

static NOINLINE void give_up(void)
{
    atomic_store_explicit(&locked, 0, memory_order_release);
}

static void *count(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        take();
        counter++;
        give_up();
    }
    return arg;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        start(&threads[i], count, NULL);
    for (int i = 0; i < THREADS; i++)
        finish(threads[i]);
    must(counter == THREADS * ROUNDS);
    return 0;
}
