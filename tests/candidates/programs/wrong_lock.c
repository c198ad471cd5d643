/* SPDX-License-Identifier: Apache-2.0 */
/* Both sides hold a lock, but not the same one. */
#include "program.h"

static int counter, steady;
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;

static void *with_one(void *arg)
{
    pthread_mutex_lock(&one);
    counter += next(); // RACE
    steady += next();  // NORACE
    pthread_mutex_unlock(&one);
    return arg;
}

static void *with_other(void *arg)
{
    pthread_mutex_lock(&other);
    counter -= next(); // RACE
    pthread_mutex_unlock(&other);
    pthread_mutex_lock(&one);
    steady -= next(); // NORACE
    pthread_mutex_unlock(&one);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&a, with_one, NULL);
    start(&b, with_other, NULL);
    finish(a);
    finish(b);
    keep((unsigned long)(counter + steady));
    return 0;
}
