/* SPDX-License-Identifier: Apache-2.0 */
/* A message published by a release store and read behind the acquire load that saw it; then the
 * answer the same way back. */
#include "../program.h"
#include <sched.h>
#include <stdatomic.h>

static atomic_int flag;
static int message;

static void *answer(void *arg)
{
    while (atomic_load_explicit(&flag, memory_order_acquire) != 1)
        sched_yield();
    must(message == 42);
    message = 43;
    atomic_store_explicit(&flag, 2, memory_order_release);
    return arg;
}

int main(void)
{
    pthread_t thread;
    start(&thread, answer, NULL);
    message = 42;
    atomic_store_explicit(&flag, 1, memory_order_release);
    while (atomic_load_explicit(&flag, memory_order_acquire) != 2)
        sched_yield();
    must(message == 43);
    message = 44;
    finish(thread);
    return 0;
}
