/* SPDX-License-Identifier: Apache-2.0 */
/* A mutex taken by timedlock and by clocklock orders the accesses; the locks that time out are
 * followed by no access. */
#include "../program.h"
#include <errno.h>

enum { ROUNDS = 20 };

static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static long counter;
static int held;

static struct timespec soon(clockid_t clock)
{
    struct timespec until;
    clock_gettime(clock, &until);
    until.tv_nsec += 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    return until;
}

static void *wait_by_real_time(void *arg)
{
    pthread_mutex_t *lock = &locks[unforeseen(1)];
    await(&held, 1);
    for (int done = 0; done < ROUNDS;) {
        struct timespec until = soon(CLOCK_REALTIME);
        int status = pthread_mutex_timedlock(lock, &until);
        if (status == ETIMEDOUT)
            continue;
        must(status == 0);
        counter++;
        done++;
        pthread_mutex_unlock(lock);
    }
    return arg;
}

static void *wait_by_steady_time(void *arg)
{
    pthread_mutex_t *lock = &locks[unforeseen(1)];
    await(&held, 1);
    for (int done = 0; done < ROUNDS;) {
        struct timespec until = soon(CLOCK_MONOTONIC);
        int status = pthread_mutex_clocklock(lock, CLOCK_MONOTONIC, &until);
        if (status == ETIMEDOUT)
            continue;
        must(status == 0);
        counter++;
        done++;
        pthread_mutex_unlock(lock);
    }
    return arg;
}

int main(void)
{
    pthread_mutex_t *lock = &locks[unforeseen(1)];
    pthread_t a, b;
    start(&a, wait_by_real_time, NULL);
    start(&b, wait_by_steady_time, NULL);
    pthread_mutex_lock(lock);
    tell(&held, 1);
    nap(5000);
    counter++;
    pthread_mutex_unlock(lock);
    finish(a);
    finish(b);
    must(counter == 2 * ROUNDS + 1);
    return 0;
}
// OPTIONS: -D_GNU_SOURCE
