/* SPDX-License-Identifier: Apache-2.0 */
/* Many threads one after the other, as many as the argument says, and at the end two that race. */
#include <pthread.h>
#include <stdlib.h>

static volatile long counted, shared;

static void *count(void *arg)
{
    counted++;
    return arg;
}

static void *race(void *arg)
{
    for (int i = 0; i < 1000; i++)
        shared++; // RACE: end
    return arg;
}

int main(int argc, char **argv)
{
    long threads = argc > 1 ? atol(argv[1]) : 100000;
    pthread_t a, b;
    for (long i = 0; i < threads; i++)
        if (pthread_create(&a, NULL, count, NULL) || pthread_join(a, NULL))
            return 1;
    if (pthread_create(&a, NULL, race, NULL) || pthread_create(&b, NULL, race, NULL))
        return 1;
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return counted != threads;
}
