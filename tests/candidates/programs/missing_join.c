/* SPDX-License-Identifier: Apache-2.0 */
/* Threads are created in a loop and joined in one that leaves out the first. */
#include "program.h"

enum { THREADS = 3 };

static int results[THREADS], early;

static NOINLINE void deliver(int number)
{
    results[number] = next(); // RACE
}

static void *work(void *arg)
{
    deliver(*(int *)arg);
    return NULL;
}

static NOINLINE int collect(int number)
{
    return results[number]; // RACE
}

int main(void)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];
    early = next(); // NORACE
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        start(&threads[i], work, &numbers[i]);
    }
    for (int i = 1; i < THREADS; i++)
        finish(threads[i]);
    for (int i = 0; i < THREADS; i++)
        keep((unsigned long)(collect(i) + early));
    finish(threads[0]);
    return 0;
}
