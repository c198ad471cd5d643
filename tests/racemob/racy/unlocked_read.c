/* SPDX-License-Identifier: Apache-2.0 */
/* A counter is written under the lock and read without it. */
#include "../program.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long counter;

static void *count(void *arg)
{
    for (int i = 0; i < 10; i++) {
        pthread_mutex_lock(&lock);
        counter++; // RACE
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

static NOINLINE long peek(void)
{
    return counter; // RACE
}

int main(void)
{
    pthread_t thread;
    start(&thread, count, NULL);
    keep((unsigned long)peek());
    finish(thread);
    keep((unsigned long)counter); // NORACE
    return 0;
}
