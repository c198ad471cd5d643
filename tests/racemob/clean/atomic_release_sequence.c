/* SPDX-License-Identifier: Apache-2.0 */
/* A release sequence: the acquire load reads what a relaxed read-modify-write of a third thread
 * left, and is still ordered behind the release store that heads the sequence. */
#include "../program.h"
#include <sched.h>
#include <stdatomic.h>

static atomic_int flag;
static int message;

static void *head(void *arg)
{
    message = 42;
    atomic_store_explicit(&flag, 1, memory_order_release);
    return arg;
}

static void *middle(void *arg)
{
    int seen;
    do {
        seen = 1;
    } while (!atomic_compare_exchange_weak_explicit(&flag, &seen, 2, memory_order_relaxed,
                                                    memory_order_relaxed));
    atomic_fetch_add_explicit(&flag, 1, memory_order_relaxed);
    return arg;
}

static void *tail(void *arg)
{
    while (atomic_load_explicit(&flag, memory_order_acquire) != 3)
        sched_yield();
    must(message == 42);
    message = 0;
    return arg;
}

int main(void)
{
    pthread_t a, b, c;
    start(&c, tail, NULL);
    start(&b, middle, NULL);
    start(&a, head, NULL);
    finish(a);
    finish(b);
    finish(c);
    return 0;
}
