/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the wrappers cost while no events are wanted: nanoseconds per operation, the least of as
 * many rounds as the argument says. Built with the runtime (idle_bench) and without
 * (idle_bench_native); check_idle_instructions.py counts the instructions of both.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

void seen_lock_often(pthread_mutex_t *mutex, long times);

enum { ROUNDS = 3000, TIMES = 1000, FEW = 10 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_spinlock_t spin;
static sem_t sem;

/* Each is found by its name in what callgrind writes. */
#define BENCH __attribute__((noinline)) static void

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void do_nothing(void)
{
}

static void *end_at_once(void *arg)
{
    return arg;
}

BENCH bench_mutex(long times)
{
    for (long i = 0; i < times; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
}

#ifndef IS_STATIC
BENCH bench_mutex_in_library(long times)
{
    seen_lock_often(&mutex, times);
    __asm__ volatile(""); /* no tail call, or the count would not be this function's */
}
#endif

BENCH bench_read(long times)
{
    for (long i = 0; i < times; i++) {
        pthread_rwlock_rdlock(&rwlock);
        pthread_rwlock_unlock(&rwlock);
    }
}

BENCH bench_spin(long times)
{
    for (long i = 0; i < times; i++) {
        pthread_spin_lock(&spin);
        pthread_spin_unlock(&spin);
    }
}

BENCH bench_sem(long times)
{
    for (long i = 0; i < times; i++) {
        sem_post(&sem);
        sem_wait(&sem);
    }
}

BENCH bench_signal(long times)
{
    for (long i = 0; i < times; i++)
        pthread_cond_signal(&cond);
}

BENCH bench_timedwait(long times)
{
    const struct timespec past = {.tv_sec = 1};
    pthread_mutex_lock(&mutex);
    for (long i = 0; i < times; i++)
        pthread_cond_timedwait(&cond, &mutex, &past);
    pthread_mutex_unlock(&mutex);
}

BENCH bench_once(long times)
{
    for (long i = 0; i < times; i++)
        pthread_once(&once, do_nothing);
}

BENCH bench_barrier(long times)
{
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, NULL, 1);
    for (long i = 0; i < times; i++)
        pthread_barrier_wait(&barrier);
    pthread_barrier_destroy(&barrier);
}

BENCH bench_threads(long times)
{
    pthread_t thread;
    for (long i = 0; i < times; i++)
        if (pthread_create(&thread, NULL, end_at_once, NULL) == 0)
            pthread_join(thread, NULL);
}

BENCH bench_heap(long times)
{
    for (long i = 0; i < times; i++) {
        void *block = malloc(32);
        __asm__ volatile("" : "+r"(block));
        free(block);
    }
}

BENCH bench_free_nothing(long times)
{
    for (long i = 0; i < times; i++) {
        void *block = NULL;
        __asm__ volatile("" : "+r"(block));
        free(block);
    }
}

BENCH bench_realloc(long times)
{
    static void *block;
    for (long i = 0; i < times; i++)
        block = realloc(block, 100 + (size_t)(i & 1));
}

static int ends[2];

BENCH bench_pipe(long times)
{
    char byte = 0;
    for (long i = 0; i < times; i++)
        if (write(ends[1], &byte, 1) != 1 || read(ends[0], &byte, 1) != 1)
            abort();
}

BENCH bench_refused_read(long times)
{
    char byte;
    for (long i = 0; i < times; i++)
        if (read(-1, &byte, 1) != -1)
            abort();
}

static long rounds = ROUNDS;

static void measure(const char *name, void (*bench)(long), long times)
{
    double least = 1e300;
    for (long i = 0; i < rounds; i++) {
        double start = now();
        bench(times);
        double took = (now() - start) / (double)times;
        least = took < least ? took : least;
    }
    printf("%-40s %10.1f ns\n", name, least);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        rounds = atol(argv[1]);
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    sem_init(&sem, 0, 0);
    measure("mutex lock, unlock", bench_mutex, TIMES);
#ifndef IS_STATIC
    measure("the same in a library", bench_mutex_in_library, TIMES);
#endif
    measure("rwlock read lock, unlock", bench_read, TIMES);
    measure("spin lock, unlock", bench_spin, TIMES);
    measure("semaphore post, wait", bench_sem, TIMES);
    measure("condition signal", bench_signal, TIMES);
    measure("condition wait that times out at once", bench_timedwait, FEW);
    measure("once, done before", bench_once, TIMES);
    measure("barrier of one", bench_barrier, FEW);
    measure("malloc, free", bench_heap, TIMES);
    measure("free of nothing", bench_free_nothing, TIMES);
    measure("realloc in place", bench_realloc, TIMES);
    if (pipe(ends) == 0)
        measure("write to a pipe, read", bench_pipe, FEW);
    measure("read that is refused", bench_refused_read, FEW);
    measure("thread create, join", bench_threads, 1);
    return 0;
}
