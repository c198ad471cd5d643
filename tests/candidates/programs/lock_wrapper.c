/* SPDX-License-Identifier: Apache-2.0 */
/* Locks taken and released by functions that get them as an argument, or that know them. */
#include "program.h"

static int first, second, third;
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER;

static NOINLINE void take(pthread_mutex_t *lock)
{
    pthread_mutex_lock(lock);
}

static NOINLINE void drop(pthread_mutex_t *lock)
{
    pthread_mutex_unlock(lock);
}

static NOINLINE void enter(void)
{
    take(&one);
}

static NOINLINE void leave(void)
{
    drop(&one);
}

static void *count(void *arg)
{
    take(&one);
    first += next(); // NORACE
    drop(&one);
    take(&two);
    second += next(); // NORACE
    drop(&two);
    enter();
    first += next(); // NORACE
    leave();
    third += next(); // RACE
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&a, count, NULL);
    start(&b, count, NULL);
    finish(a);
    finish(b);
    keep((unsigned long)(first + second + third));
    return 0;
}
