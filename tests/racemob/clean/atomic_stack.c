/* SPDX-License-Identifier: Apache-2.0 */
/* A lock-free stack of nodes in an array, its head an index with a tag in one 64-bit word: a push
 * releases the node's value, a pop acquires it. Links are atomic, because a pop that will fail may
 * read one that is being changed. */
#include "../program.h"
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

enum { NODES = 8, ROUNDS = 40 };

static struct {
    atomic_uint next;
    long value;
} nodes[NODES + 1];
static _Atomic uint64_t head; /* tag << 32 | index; index 0 is the end */

static NOINLINE void push(uint32_t index)
{
    uint64_t old = atomic_load_explicit(&head, memory_order_relaxed), new;
    do {
        atomic_store_explicit(&nodes[index].next, (uint32_t)old, memory_order_relaxed);
        new = ((old >> 32) + 1) << 32 | index;
    } while (!atomic_compare_exchange_weak_explicit(&head, &old, new, memory_order_release,
                                                    memory_order_relaxed));
}

static NOINLINE uint32_t pop(void)
{
    uint64_t old = atomic_load_explicit(&head, memory_order_acquire), new;
    do {
        if (!(uint32_t)old)
            return 0;
        new = ((old >> 32) + 1) << 32 |
              atomic_load_explicit(&nodes[(uint32_t)old].next, memory_order_relaxed);
    } while (!atomic_compare_exchange_weak_explicit(&head, &old, new, memory_order_acq_rel,
                                                    memory_order_acquire));
    return (uint32_t)old;
}

static void *work(void *arg)
{
    for (int i = 0; i < ROUNDS;) {
        uint32_t index = pop();
        if (!index) {
            sched_yield();
            continue;
        }
        nodes[index].value++;
        push(index);
        i++;
    }
    return arg;
}

int main(void)
{
    pthread_t a, b, c;
    long sum = 0;
    for (uint32_t i = 1; i <= NODES; i++)
        push(i);
    start(&a, work, NULL);
    start(&b, work, NULL);
    start(&c, work, NULL);
    finish(a);
    finish(b);
    finish(c);
    for (int i = 1; i <= NODES; i++)
        sum += nodes[i].value;
    must(sum == 3 * ROUNDS);
    return 0;
}
