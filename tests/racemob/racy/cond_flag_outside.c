/* SPDX-License-Identifier: Apache-2.0 */
/* The flag of a condition variable is set without its lock. */
#include "../program.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static volatile int ready;

static void *wait_for_it(void *arg)
{
    struct timespec until;
    pthread_mutex_lock(&lock);
    while (!ready) { // RACE
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec = (until.tv_nsec + 5000000) % 1000000000;
        pthread_cond_timedwait(&changed, &lock, &until);
    }
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *announce(void *arg)
{
    ready = 1; // RACE
    pthread_mutex_lock(&lock);
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&a, wait_for_it, NULL);
    start(&b, announce, NULL);
    finish(a);
    finish(b);
    return 0;
}
