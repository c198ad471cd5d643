/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that take work from a shared list under a lock, and count it without one: a race, which
 * litehb follows through every lock, and where racechaser pauses a thread now and then. With
 * `apart` each thread has a counter of its own, which no analysis can know: every pause times out.
 *
 * usage: scaling shared|apart THREADS ROUNDS    prints the seconds that it took
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_THREADS = 64, LOCKS = 16, WORK = 60 };

static struct {
    pthread_mutex_t lock;
    unsigned long taken;
} lists[LOCKS];
static long done[MOST_THREADS];
static volatile int first; /* of the threads' own counters */
static int is_apart;
static long rounds;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static unsigned long work(unsigned long seed)
{
    for (int i = 0; i < WORK; i++)
        seed = seed * 6364136223846793005ul + 1442695040888963407ul;
    return seed;
}

__attribute__((noinline)) static void count(int which)
{
    done[first + which]++;
}

static void *serve(void *arg)
{
    unsigned long seed = (unsigned long)arg;
    int own = is_apart ? (int)seed - 1 : 0;
    for (long i = 0; i < rounds; i++) {
        seed = work(seed);
        pthread_mutex_lock(&lists[seed >> 60].lock);
        lists[seed >> 60].taken += seed & 1;
        pthread_mutex_unlock(&lists[seed >> 60].lock);
        if (i % 64 == 0)
            count(own);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[MOST_THREADS];
    int count_of = argc == 4 ? atoi(argv[2]) : 0;
    if (count_of < 1 || count_of > MOST_THREADS)
        return 2;
    is_apart = strcmp(argv[1], "apart") == 0;
    rounds = atol(argv[3]);
    for (int i = 0; i < LOCKS; i++)
        pthread_mutex_init(&lists[i].lock, NULL);
    double began = now();
    for (long i = 0; i < count_of; i++)
        if (pthread_create(&threads[i], NULL, serve, (void *)(i + 1)) != 0)
            abort();
    for (int i = 0; i < count_of; i++)
        pthread_join(threads[i], NULL);
    printf("%.6f\n", now() - began);
    return 0;
}
