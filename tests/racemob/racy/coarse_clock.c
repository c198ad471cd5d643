/* SPDX-License-Identifier: Apache-2.0 */
/* A thread sets a coarse clock every 30 ms, as servers do; workers read it with each request, under
 * locks that the clock's thread does not take. The write is rare and the reads are frequent, and
 * the lock of the clock's own statistics orders most of them by accident. */
#include "../program.h"

enum { TICKS = 12, WORKERS = 2, STEP_US = 30000 };

static long clock_now;
static long requests, ticks;
static int is_over;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *keep_time(void *arg)
{
    for (int i = 0; i < TICKS; i++) {
        nap(STEP_US);
        clock_now += 30; // RACE
        pthread_mutex_lock(&lock);
        ticks++;
        pthread_mutex_unlock(&lock);
    }
    tell(&is_over, 1);
    return arg;
}

static void *serve(void *arg)
{
    long *latest = arg;
    while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
        pthread_mutex_lock(&lock);
        requests++;
        pthread_mutex_unlock(&lock);
        *latest = clock_now; // RACE
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
