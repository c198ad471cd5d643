/* SPDX-License-Identifier: Apache-2.0 */
/* A lock that is waited for only a while is held where the call returns 0. */
#include "program.h"
#include <time.h>

static int guarded;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *count(void *arg)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1000;
    if (pthread_mutex_timedlock(&lock, &until) != 0)
        return NULL;
    guarded += next(); // NORACE
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&a, count, NULL);
    start(&b, count, NULL);
    finish(a);
    finish(b);
    keep((unsigned long)guarded); // NORACE
    return 0;
}
