/* SPDX-License-Identifier: Apache-2.0 */
/* A message published by a release store and read behind an acquire load; a second one whose flag
 * is relaxed. */
#include "program.h"
#include <sched.h>
#include <stdatomic.h>

static atomic_int strong, weak;
static int ordered, unordered;

static void *send(void *arg)
{
    unordered = next();                                    // RACE
    atomic_store_explicit(&weak, 1, memory_order_relaxed); // NORACE
    ordered = next();
    atomic_store_explicit(&strong, 1, memory_order_release); // NORACE
    return arg;
}

static void *receive(void *arg)
{
    while (!atomic_load_explicit(&weak, memory_order_relaxed)) // NORACE
        sched_yield();
    keep((unsigned long)unordered);                              // RACE
    while (!atomic_load_explicit(&strong, memory_order_acquire)) // NORACE
        sched_yield();
    keep((unsigned long)ordered);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&a, send, NULL);
    start(&b, receive, NULL);
    finish(a);
    finish(b);
    return 0;
}
