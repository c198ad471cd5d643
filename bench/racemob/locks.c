/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that do nothing but take locks: what does an operation cost with more and more of them?
 *
 * usage: locks THREADS OPERATIONS
 *
 * Each thread takes one of a few locks and changes what it guards, OPERATIONS times. Beside them
 * are a thread that marks a place and one that sleeps until all is done and then looks at it. That
 * is the program's only candidate: the sleeper synchronises with no one, so whoever tracks the mark
 * must look at every lock and unlock until the end. Prints processor and wall time in nanoseconds
 * per operation.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LOCKS = 8, MOST_THREADS = 1024 };

/* A line of the cache each, so that threads with different locks do not meet. */
static struct {
    _Alignas(64) pthread_mutex_t lock;
    uint64_t count;
} guarded[LOCKS];

static uint64_t operations;
static int mark;
static atomic_int is_done;

static void count_one(uint32_t n)
{
    pthread_mutex_lock(&guarded[n].lock);
    guarded[n].count++;
    pthread_mutex_unlock(&guarded[n].lock);
}

/* No thread is left when it is called; but the lock keeps the mark the only candidate. */
static uint64_t read_count(uint32_t n)
{
    pthread_mutex_lock(&guarded[n].lock);
    uint64_t count = guarded[n].count;
    pthread_mutex_unlock(&guarded[n].lock);
    return count;
}

static void *work(void *seed)
{
    uint32_t random = (uint32_t)(uintptr_t)seed * 2654435761u;
    for (uint64_t i = 0; i < operations; i++) {
        random = random * 1664525u + 1013904223u;
        count_one(random >> 29);
    }
    return NULL;
}
_Static_assert(LOCKS == 1u << (32 - 29), "the upper bits of a random number choose the lock");

/* Afterwards it takes every lock, so that all the others learn of the mark. */
static void *set_mark(void *arg)
{
    mark = 1;
    for (uint32_t i = 0; i < LOCKS; i++)
        count_one(i);
    return arg;
}

/* A relaxed load orders nothing. */
static void *sleep_on(void *arg)
{
    const struct timespec nap = {.tv_nsec = 5000000};
    while (!atomic_load_explicit(&is_done, memory_order_relaxed))
        nanosleep(&nap, NULL);
    return mark ? arg : NULL;
}

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static pthread_t start(void *(*body)(void *), uintptr_t arg)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, body, (void *)arg) != 0) {
        perror("locks: pthread_create");
        exit(1);
    }
    return thread;
}

static void run(uint32_t threads)
{
    static pthread_t workers[MOST_THREADS];
    pthread_t sleeper = start(sleep_on, 0);
    pthread_join(start(set_mark, 0), NULL);
    double processor = now(CLOCK_PROCESS_CPUTIME_ID), wall = now(CLOCK_MONOTONIC);
    for (uint32_t i = 0; i < threads; i++)
        workers[i] = start(work, i + 1);
    for (uint32_t i = 0; i < threads; i++)
        pthread_join(workers[i], NULL);
    processor = now(CLOCK_PROCESS_CPUTIME_ID) - processor;
    wall = now(CLOCK_MONOTONIC) - wall;
    atomic_store_explicit(&is_done, 1, memory_order_relaxed);
    pthread_join(sleeper, NULL);
    double all = (double)threads * (double)operations;
    printf("%.2f %.2f\n", processor / all, wall / all);
}

int main(int argc, char **argv)
{
    unsigned long threads = argc == 3 ? strtoul(argv[1], NULL, 10) : 0;
    operations = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
    if (threads == 0 || threads > MOST_THREADS || operations == 0) {
        fprintf(stderr, "usage: locks THREADS OPERATIONS\n");
        return 2;
    }
    for (int i = 0; i < LOCKS; i++)
        pthread_mutex_init(&guarded[i].lock, NULL);
    run((uint32_t)threads);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < LOCKS; i++)
        sum += read_count(i);
    if (sum != threads * operations + LOCKS) {
        fprintf(stderr, "locks: %llu counted, a lock failed\n", (unsigned long long)sum);
        return 1;
    }
    return 0;
}
