/* SPDX-License-Identifier: Apache-2.0 */
/* A barrier used again and again: in each phase every thread writes its own part, in the next it
 * reads its neighbour's. */
#include "../program.h"

enum { THREADS = 3, PHASES = 8 };

static pthread_barrier_t barrier;
static long part[THREADS], sum;

static void *work(void *arg)
{
    int me = (int)(long)arg;
    for (int phase = 0; phase < PHASES; phase++) {
        part[me] = phase + me;
        if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
            sum++;
        must(part[(me + 1) % THREADS] == phase + (me + 1) % THREADS);
        pthread_barrier_wait(&barrier);
    }
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
    pthread_barrier_destroy(&barrier);
    must(sum == PHASES);
    return 0;
}
