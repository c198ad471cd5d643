/* SPDX-License-Identifier: Apache-2.0 */
/* A ring buffer for one producer and one consumer: each index is released by one of the two and
 * acquired by the other, and that orders the places of the ring in both directions. */
#include "../program.h"
#include <sched.h>
#include <stdatomic.h>

enum { PLACES = 4, ITEMS = 60 };

static int ring[PLACES];
static atomic_uint head, tail;

static void *produce(void *arg)
{
    for (unsigned i = 0; i < ITEMS; i++) {
        while (i - atomic_load_explicit(&tail, memory_order_acquire) == PLACES)
            sched_yield();
        ring[i % PLACES] = (int)i;
        atomic_store_explicit(&head, i + 1, memory_order_release);
    }
    return arg;
}

static void *consume(void *arg)
{
    for (unsigned i = 0; i < ITEMS; i++) {
        while (atomic_load_explicit(&head, memory_order_acquire) == i)
            sched_yield();
        must(ring[i % PLACES] == (int)i);
        atomic_store_explicit(&tail, i + 1, memory_order_release);
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&a, produce, NULL);
    start(&b, consume, NULL);
    finish(a);
    finish(b);
    return 0;
}
