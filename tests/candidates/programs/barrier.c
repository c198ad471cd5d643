/* SPDX-License-Identifier: Apache-2.0 */
/* A barrier orders two phases; within one phase the threads still race. */
#include "program.h"

enum { THREADS = 2 };

static int part[THREADS], shared;
static pthread_barrier_t barrier;

static void *work(void *arg)
{
    int me = *(int *)arg;
    part[me] = next();
    pthread_barrier_wait(&barrier);
    keep((unsigned long)part[1 - me]);
    shared += next(); // RACE
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        start(&threads[i], work, &numbers[i]);
    }
    for (int i = 0; i < THREADS; i++)
        finish(threads[i]);
    keep((unsigned long)shared); // NORACE
    return 0;
}
