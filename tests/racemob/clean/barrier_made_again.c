/* SPDX-License-Identifier: Apache-2.0 */
/* A barrier is destroyed by one of the threads that left it and made again, for another number of
 * threads, at the same address; the semaphores between the two lives say that all have left. */
#include "../program.h"
#include <semaphore.h>

static pthread_barrier_t barrier;
static sem_t left, made;
static long first, second;

static void *work(void *arg)
{
    first = 1;
    pthread_barrier_wait(&barrier);
    sem_post(&left);
    sem_wait(&made);
    must(first == 2);
    second = 3;
    pthread_barrier_wait(&barrier);
    return arg;
}

static void *late(void *arg)
{
    sem_wait(&made);
    must(first == 2);
    pthread_barrier_wait(&barrier);
    must(second == 3);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    sem_init(&left, 0, 0);
    sem_init(&made, 0, 0);
    pthread_barrier_init(&barrier, NULL, 2);
    start(&a, work, NULL);
    start(&b, late, NULL);
    pthread_barrier_wait(&barrier);
    must(first == 1);
    first = 2;
    sem_wait(&left);
    pthread_barrier_destroy(&barrier);
    pthread_barrier_init(&barrier, NULL, 3);
    sem_post(&made);
    sem_post(&made);
    pthread_barrier_wait(&barrier);
    must(second == 3);
    finish(a);
    finish(b);
    return 0;
}
