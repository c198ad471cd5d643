/* SPDX-License-Identifier: Apache-2.0 */
/* Data that is read only behind a flag, acquired before: a compiler that reads it anyway, and throws
 * away what it read, would make a race that is not in the source. */
#include "../program.h"
#include <stdatomic.h>

enum { ROUNDS = 400 };

static int data, table[4];
static atomic_int is_ready;

static NOINLINE int choose(void)
{
    return atomic_load_explicit(&is_ready, memory_order_acquire) ? data : -1;
}

static NOINLINE int read_if(int may)
{
    int value = 0;
    if (may)
        value = table[2];
    return value;
}

static NOINLINE int add_if(int may, int rounds)
{
    int sum = 0;
    for (int i = 0; i < rounds; i++)
        if (may)
            sum += table[3];
    return sum;
}

static void *make(void *arg)
{
    nap(2000);
    data = next();
    table[2] = next();
    table[3] = next();
    atomic_store_explicit(&is_ready, 1, memory_order_release);
    return arg;
}

int main(void)
{
    pthread_t thread;
    long sum = 0;
    start(&thread, make, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        int may = atomic_load_explicit(&is_ready, memory_order_acquire);
        sum += choose() + read_if(may) + add_if(may, 3);
        if (i % 20 == 0)
            nap(100);
    }
    finish(thread);
    keep((unsigned long)sum);
    return 0;
}
