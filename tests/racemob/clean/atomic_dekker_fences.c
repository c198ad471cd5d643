/* SPDX-License-Identifier: Apache-2.0 */
/* The same handshake once, with relaxed accesses around sequentially consistent fences: the thread
 * that comes second does not touch the data, whichever it is; main reads it behind the joins. */
#include "../program.h"
#include <stdatomic.h>

static atomic_int left, right, winners;
static long data;

static void *go_left(void *arg)
{
    atomic_store_explicit(&left, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    if (!atomic_load_explicit(&right, memory_order_relaxed)) {
        data = 1;
        atomic_fetch_add_explicit(&winners, 1, memory_order_relaxed);
    }
    return arg;
}

static void *go_right(void *arg)
{
    atomic_store_explicit(&right, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    if (!atomic_load_explicit(&left, memory_order_relaxed)) {
        data = 2;
        atomic_fetch_add_explicit(&winners, 1, memory_order_relaxed);
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&a, go_left, NULL);
    start(&b, go_right, NULL);
    finish(a);
    finish(b);
    must(winners <= 1);
    keep((unsigned long)data);
    return 0;
}
