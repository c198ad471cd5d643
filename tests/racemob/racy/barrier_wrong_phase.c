/* SPDX-License-Identifier: Apache-2.0 */
/* Each thread clears its neighbour's part one barrier too early. */
#include "../program.h"

enum { THREADS = 2 };

static pthread_barrier_t barrier;
static long part[THREADS], whole[THREADS];

static void *work(void *arg)
{
    int me = (int)(long)arg;
    part[me] = next(); // NORACE
    pthread_barrier_wait(&barrier);
    whole[me] = part[me] + next(); // RACE
    part[!me] = 0;                 // RACE
    pthread_barrier_wait(&barrier);
    keep((unsigned long)whole[!me]); // NORACE
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        start(&threads[i], work, (void *)(long)i);
    for (int i = 0; i < THREADS; i++)
        finish(threads[i]);
    keep((unsigned long)part[0]); // NORACE
    return 0;
}
// TSAN: misses, a thread that has reached the next phase seems to come before one still leaving
