/* SPDX-License-Identifier: Apache-2.0 */
/* A read-write lock taken by try, timed and clock variants for reading and for writing. What fails
 * or times out is followed by no access. */
#include "../program.h"
#include <errno.h>
#include <sched.h>

enum { ROUNDS = 10 };

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static long value;

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

static void *write_it(void *arg)
{
    for (int done = 0; done < ROUNDS;) {
        struct timespec real = soon(CLOCK_REALTIME), steady = soon(CLOCK_MONOTONIC);
        int status = done % 3 == 0   ? pthread_rwlock_trywrlock(&lock)
                     : done % 3 == 1 ? pthread_rwlock_timedwrlock(&lock, &real)
                                     : pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &steady);
        if (status) {
            must(status == EBUSY || status == ETIMEDOUT);
            sched_yield();
            continue;
        }
        value++;
        done++;
        pthread_rwlock_unlock(&lock);
    }
    return arg;
}

static void *read_it(void *arg)
{
    for (int done = 0; done < ROUNDS;) {
        struct timespec real = soon(CLOCK_REALTIME), steady = soon(CLOCK_MONOTONIC);
        int status = done % 3 == 0   ? pthread_rwlock_tryrdlock(&lock)
                     : done % 3 == 1 ? pthread_rwlock_timedrdlock(&lock, &real)
                                     : pthread_rwlock_clockrdlock(&lock, CLOCK_MONOTONIC, &steady);
        if (status) {
            must(status == EBUSY || status == ETIMEDOUT);
            sched_yield();
            continue;
        }
        keep((unsigned long)value);
        done++;
        pthread_rwlock_unlock(&lock);
    }
    return arg;
}

int main(void)
{
    pthread_t a, b, c;
    start(&a, write_it, NULL);
    start(&b, read_it, NULL);
    start(&c, write_it, NULL);
    finish(a);
    finish(b);
    finish(c);
    must(value == 2 * ROUNDS);
    return 0;
}
// OPTIONS: -D_GNU_SOURCE
