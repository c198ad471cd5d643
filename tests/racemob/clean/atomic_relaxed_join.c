/* SPDX-License-Identifier: Apache-2.0 */
/* Relaxed counters: the last thread to count down is not ordered by that, so it touches nothing;
 * only the joins order what main reads. */
#include "../program.h"
#include <stdatomic.h>

enum { THREADS = 3, ROUNDS = 50 };

static atomic_long counter;
static long part[THREADS];

static void *count(void *arg)
{
    int me = (int)(long)arg;
    for (int i = 0; i < ROUNDS; i++) {
        atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed);
        part[me]++;
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    long sum = 0;
    for (int i = 0; i < THREADS; i++) {
        part[i] = 1;
        start(&threads[i], count, (void *)(long)i);
    }
    for (int i = 0; i < THREADS; i++) {
        finish(threads[i]);
        sum += part[i];
    }
    must(sum == THREADS * (ROUNDS + 1));
    must(atomic_load_explicit(&counter, memory_order_relaxed) == THREADS * ROUNDS);
    return 0;
}
