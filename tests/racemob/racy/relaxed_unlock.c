/* SPDX-License-Identifier: Apache-2.0 */
/* A lock made of atomics that is given up by a relaxed store. */
#include "../program.h"
#include <sched.h>
#include <stdatomic.h>

static atomic_int locked;
static long counter;

static void *count(void *arg)
{
    for (int i = 0; i < 10; i++) {
        int expected = 0;
        while (!atomic_compare_exchange_weak_explicit(&locked, &expected, 1, memory_order_acquire,
                                                      memory_order_relaxed)) { // NORACE
            expected = 0;
            sched_yield();
        }
        counter++;                                               // RACE
        atomic_store_explicit(&locked, 0, memory_order_relaxed); // NORACE
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&a, count, NULL);
    start(&b, count, NULL);
    finish(a);
    finish(b);
    keep((unsigned long)counter); // NORACE
    return 0;
}
// APART
