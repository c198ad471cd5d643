/* SPDX-License-Identifier: Apache-2.0 */
/* A seqlock whose data is atomic, as the language asks: readers may see a torn pair, and then throw
 * it away; a plain counter is touched under the writers' side only, which is a lock. */
#include "../program.h"
#include <sched.h>
#include <stdatomic.h>

enum { ROUNDS = 20 };

static atomic_uint sequence;
static atomic_long left, right;
static long writes;

static void *write_pair(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        unsigned even;
        do {
            even = atomic_load_explicit(&sequence, memory_order_relaxed) & ~1u;
            sched_yield();
        } while (!atomic_compare_exchange_weak_explicit(
            &sequence, &even, even + 1, memory_order_acquire, memory_order_relaxed));
        atomic_thread_fence(memory_order_release);
        atomic_store_explicit(&left, i, memory_order_relaxed);
        atomic_store_explicit(&right, i, memory_order_relaxed);
        writes++;
        atomic_store_explicit(&sequence, even + 2, memory_order_release);
    }
    return arg;
}

static void *read_pair(void *arg)
{
    for (int good = 0; good < ROUNDS;) {
        unsigned before = atomic_load_explicit(&sequence, memory_order_acquire);
        long l = atomic_load_explicit(&left, memory_order_relaxed);
        long r = atomic_load_explicit(&right, memory_order_relaxed);
        atomic_thread_fence(memory_order_acquire);
        unsigned after = atomic_load_explicit(&sequence, memory_order_relaxed);
        if (before % 2 || before != after) {
            sched_yield();
            continue;
        }
        must(l == r);
        good++;
    }
    return arg;
}

int main(void)
{
    pthread_t a, b, c;
    start(&a, write_pair, NULL);
    start(&b, read_pair, NULL);
    start(&c, write_pair, NULL);
    finish(a);
    finish(b);
    finish(c);
    must(writes == 2 * ROUNDS);
    return 0;
}
