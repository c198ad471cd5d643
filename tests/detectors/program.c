/* SPDX-License-Identifier: Apache-2.0 */
/* RACE: threads that come and go add to one counter without synchronisation. */
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, ROUNDS = 5, STEPS = 20000 };

static volatile int counter;

static void *count(void *arg)
{
    for (int i = 0; i < STEPS; i++)
        counter = counter + 1;
    return arg;
}

int main(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t threads[THREADS];
        for (int i = 0; i < THREADS; i++)
            if (pthread_create(&threads[i], NULL, count, NULL))
                return 1;
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
    }
    puts("done");
    return 0;
}
