/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A site that many threads come to, to measure what pauses there cost a run. Each thread accesses
 * bytes of its own, which no analysis can know: no two threads collide, and every pause times out.
 *
 * usage: bound cold|warm|tight THREADS MILLISECONDS
 *
 * Each thread works for that long and comes to the site once (cold), after every 200 microseconds
 * of work (warm), or in a loop that does nothing else (tight).
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_THREADS = 64, WARM_NS = 200000, NS_PER_MS = 1000000 };

static long counters[MOST_THREADS];
static volatile int nothing;
static int64_t period_ns, length_ns;

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void work_until(int64_t end)
{
    while (now_ns() < end)
        continue;
}

__attribute__((noinline)) static void touch(int which)
{
    counters[which + nothing]++;
}

static void *visit(void *arg)
{
    int64_t end = now_ns() + length_ns;
    do {
        touch((int)(intptr_t)arg);
        int64_t next = now_ns() + period_ns;
        work_until(next < end ? next : end);
    } while (now_ns() < end);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[MOST_THREADS];
    int count = argc == 4 ? atoi(argv[2]) : 0;
    if (count < 1 || count > MOST_THREADS)
        return 2;
    length_ns = (int64_t)atoi(argv[3]) * NS_PER_MS;
    period_ns = strcmp(argv[1], "cold") == 0   ? length_ns
                : strcmp(argv[1], "warm") == 0 ? WARM_NS
                                               : 0;
    for (int i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, visit, (void *)(intptr_t)i) != 0)
            abort();
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
