/* SPDX-License-Identifier: Apache-2.0 */
/* The result of trylock is not looked at: the lock may not be held. */
#include "program.h"

static int counter;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static NOINLINE void add(void)
{
    counter += next(); // RACE: both, mine
}

static void *attempt(void *arg)
{
    int taken = pthread_mutex_trylock(&lock) == 0;
    add();
    if (taken)
        pthread_mutex_unlock(&lock);
    return arg;
}

static void *hold(void *arg)
{
    pthread_mutex_lock(&lock);
    counter -= next(); // RACE: both
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    pthread_t a, b, c;
    start(&a, attempt, NULL);
    start(&b, attempt, NULL);
    start(&c, hold, NULL);
    finish(a);
    finish(b);
    finish(c);
    keep((unsigned long)counter);
    return 0;
}
// TSAN: misses, most schedules let trylock succeed
