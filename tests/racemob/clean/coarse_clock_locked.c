/* SPDX-License-Identifier: Apache-2.0 */
/* A thread sets a coarse clock every 30 ms, as servers do; workers read it with each request. The
 * write is rare and the reads are frequent, and each is made under the lock. */
#include "../program.h"

enum { TICKS = 12, WORKERS = 2, STEP_US = 30000 };

static long clock_now;
static long requests, ticks;
static int is_over;
static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

static void *keep_time(void *arg)
{
    for (int i = 0; i < TICKS; i++) {
        nap(STEP_US);
        pthread_mutex_lock(&locks[unforeseen(0)]);
        clock_now += 30;
        ticks++;
        pthread_mutex_unlock(&locks[unforeseen(0)]);
    }
    tell(&is_over, 1);
    return arg;
}

static void *serve(void *arg)
{
    long *latest = arg;
    while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
        pthread_mutex_lock(&locks[unforeseen(0)]);
        requests++;
        *latest = clock_now;
        pthread_mutex_unlock(&locks[unforeseen(0)]);
    }
    return NULL;
}

int main(void)
{
    pthread_t clock, workers[WORKERS];
    long latest[WORKERS];
    start(&clock, keep_time, NULL);
    for (int i = 0; i < WORKERS; i++)
        start(&workers[i], serve, &latest[i]);
    finish(clock);
    for (int i = 0; i < WORKERS; i++)
        finish(workers[i]);
    keep((unsigned long)(clock_now + requests + ticks));
    return 0;
}
