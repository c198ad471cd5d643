/* SPDX-License-Identifier: Apache-2.0 */
/* A library with a thread of its own, which its constructor starts, and a program without any. Both
 * change a variable that the library exports. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

extern long ticks;

#ifndef LIBRARY

int main(void)
{
    struct timespec nap = {.tv_nsec = 100000};
    for (int i = 0; i < 200; i++) {
        ticks++; // RACE
        nanosleep(&nap, NULL);
    }
    return 0;
}

#else

long ticks;
static pthread_t ticker;
static int stop;

static void *tick(void *arg)
{
    struct timespec nap = {.tv_nsec = 100000};
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
        ticks++; // RACE
        nanosleep(&nap, NULL);
    }
    return arg;
}

__attribute__((constructor)) static void begin(void)
{
    if (pthread_create(&ticker, NULL, tick, NULL))
        abort();
}

__attribute__((destructor)) static void end(void)
{
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    pthread_join(ticker, NULL);
}

#endif
