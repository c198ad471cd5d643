/* SPDX-License-Identifier: Apache-2.0 */
/* One of two writers forgets the lock. */
#include "../program.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long counter, guarded;

static void *careful(void *arg)
{
    pthread_mutex_lock(&lock);
    counter += next(); // RACE
    guarded += next(); // NORACE
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *careless(void *arg)
{
    counter += next(); // RACE
    pthread_mutex_lock(&lock);
    guarded += next(); // NORACE
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&a, careful, NULL);
    start(&b, careless, NULL);
    finish(a);
    finish(b);
    keep((unsigned long)(counter + guarded)); // NORACE
    return 0;
}
