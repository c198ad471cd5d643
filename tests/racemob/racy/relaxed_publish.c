/* SPDX-License-Identifier: Apache-2.0 */
/* A message behind a relaxed flag: relaxed on both sides, and only on one of the two. */
#include "../program.h"
#include <sched.h>
#include <stdatomic.h>

static atomic_int both, one, none;
static int first, second, ordered;

static void *send(void *arg)
{
    first = next();                                        // RACE: first
    atomic_store_explicit(&both, 1, memory_order_relaxed); // NORACE
    second = next();                                       // RACE: second
    atomic_store_explicit(&one, 1, memory_order_release);  // NORACE
    ordered = next();                                      // NORACE
    atomic_store_explicit(&none, 1, memory_order_release); // NORACE
    return arg;
}

static void *receive(void *arg)
{
    while (!atomic_load_explicit(&both, memory_order_relaxed)) // NORACE
        sched_yield();
    keep((unsigned long)first);                               // RACE: first
    while (!atomic_load_explicit(&one, memory_order_relaxed)) // NORACE
        sched_yield();
    keep((unsigned long)second);                               // RACE: second
    while (!atomic_load_explicit(&none, memory_order_acquire)) // NORACE
        sched_yield();
    keep((unsigned long)ordered); // NORACE
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
// APART
