/* SPDX-License-Identifier: Apache-2.0 */
/* Timed waits that mostly time out: the mutex is held again afterwards all the same, and that is
 * what orders the accesses. */
#include "../program.h"
#include <errno.h>

enum { ROUNDS = 10 };

static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static long counter;

static struct timespec soon(clockid_t clock)
{
    struct timespec until;
    clock_gettime(clock, &until);
    until.tv_nsec += 500000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    return until;
}

static void *wait_by_real_time(void *arg)
{
    pthread_mutex_t *lock = &locks[unforeseen(1)];
    pthread_mutex_lock(lock);
    for (int i = 0; i < ROUNDS; i++) {
        struct timespec until = soon(CLOCK_REALTIME);
        counter++;
        int status = pthread_cond_timedwait(&never, lock, &until);
        must(status == 0 || status == ETIMEDOUT);
        counter++;
    }
    pthread_mutex_unlock(lock);
    return arg;
}

static void *wait_by_steady_time(void *arg)
{
    pthread_mutex_t *lock = &locks[unforeseen(1)];
    pthread_mutex_lock(lock);
    for (int i = 0; i < ROUNDS; i++) {
        struct timespec until = soon(CLOCK_MONOTONIC);
        counter++;
        int status = pthread_cond_clockwait(&never, lock, CLOCK_MONOTONIC, &until);
        must(status == 0 || status == ETIMEDOUT);
        counter++;
    }
    pthread_mutex_unlock(lock);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&a, wait_by_real_time, NULL);
    start(&b, wait_by_steady_time, NULL);
    finish(a);
    finish(b);
    must(counter == 4 * ROUNDS);
    return 0;
}
// OPTIONS: -D_GNU_SOURCE
