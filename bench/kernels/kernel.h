/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels share: arguments, threads, a random sequence, and how a kernel fails.
 *
 * A kernel is called `KERNEL SIZE THREADS`, works on data that it makes itself, checks its own
 * result and ends with 0 if that is right. Its known races stand in comments
 * (tests/candidates/annotations.py says how); they are of the kind that the paper's program had,
 * and never change the result. */
#ifndef BENCH_KERNEL_H
#define BENCH_KERNEL_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_THREADS 64

static inline void check(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "wrong: %s\n", what);
        exit(1);
    }
}

/* A number of the command line, counted from 1. */
static inline long argument(int argc, char **argv, int index, long least, long most)
{
    char *end = NULL;
    long value = index < argc ? strtol(argv[index], &end, 10) : least - 1;
    if (value < least || value > most || *end) {
        fprintf(stderr, "usage: %s SIZE THREADS\n", argv[0]);
        exit(2);
    }
    return value;
}

/* The SplitMix64 sequence: any state is a good one. */
static inline uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Between 0 and 1. */
static inline double next_fraction(uint64_t *state)
{
    return (double)(next_random(state) >> 11) * 0x1p-53;
}

static inline void *allocate(size_t count, size_t size)
{
    void *block = calloc(count, size);
    check(block != NULL, "no memory");
    return block;
}

static inline void start(pthread_t *thread, void *(*entry)(void *), void *arg)
{
    check(pthread_create(thread, NULL, entry, arg) == 0, "no thread");
}

static inline void finish(pthread_t thread)
{
    check(pthread_join(thread, NULL) == 0, "no join");
}

/* Runs `entry` in so many threads at a time, each with its number, and waits for all. */
static inline void run_threads(long threads, void *(*entry)(void *))
{
    pthread_t started[MOST_THREADS];
    for (long i = 0; i < threads; i++)
        start(&started[i], entry, (void *)i);
    for (long i = 0; i < threads; i++)
        finish(started[i]);
}

/* The part of `count` things that thread `self` of `threads` has: from *first up to before *end. */
static inline void share(long count, long self, long threads, long *first, long *end)
{
    *first = count * self / threads;
    *end = count * (self + 1) / threads;
}

#endif
