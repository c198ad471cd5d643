/* SPDX-License-Identifier: Apache-2.0 */
/* A ticket lock: tickets are drawn relaxed; only the release of the number served and the acquire
 * of one's own number order the accesses. */
#include "../program.h"
#include <sched.h>
#include <stdatomic.h>

enum { THREADS = 3, ROUNDS = 20 };

static atomic_uint next_ticket, now_served;
static long counter;

static void *count(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        unsigned mine = atomic_fetch_add_explicit(&next_ticket, 1, memory_order_relaxed);
        while (atomic_load_explicit(&now_served, memory_order_acquire) != mine)
            sched_yield();
        counter++;
        atomic_store_explicit(&now_served, mine + 1, memory_order_release);
    }
    return arg;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        start(&threads[i], count, NULL);
    for (int i = 0; i < THREADS; i++)
        finish(threads[i]);
    must(counter == THREADS * ROUNDS);
    return 0;
}
