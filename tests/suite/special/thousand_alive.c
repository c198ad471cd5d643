/* SPDX-License-Identifier: Apache-2.0 */
/* A thousand threads alive at a time count under a lock, and two of them race. */
#include <pthread.h>

enum { THREADS = 1000, ROUNDS = 10, STACK = 1 << 17 };

static pthread_t threads[THREADS];
static pthread_barrier_t all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile long counted, shared;

static void *count(void *arg)
{
    pthread_barrier_wait(&all);
    if ((long)arg < 2)
        shared++; // RACE: early
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&lock);
        counted++;
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void)
{
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, STACK);
    pthread_barrier_init(&all, NULL, THREADS);
    for (long i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], &small, count, (void *)i))
            return 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return counted != (long)THREADS * ROUNDS;
}
