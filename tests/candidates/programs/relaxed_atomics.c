/* SPDX-License-Identifier: Apache-2.0 */
/* All accesses are atomic, in the weakest order. */
#include "program.h"
#include <stdatomic.h>

static atomic_int counter;
static _Atomic(int *) pointer;

static void *work(void *arg)
{
    int *old = atomic_load_explicit(&pointer, memory_order_relaxed);   // NORACE
    atomic_compare_exchange_strong(&pointer, &old, arg);               // NORACE
    atomic_fetch_add_explicit(&counter, next(), memory_order_relaxed); // NORACE
    if (atomic_load_explicit(&counter, memory_order_relaxed) > 1)      // NORACE
        atomic_store_explicit(&counter, next(), memory_order_relaxed); // NORACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    static int target;
    start(&a, work, &target);
    start(&b, work, NULL);
    finish(a);
    finish(b);
    return 0;
}
