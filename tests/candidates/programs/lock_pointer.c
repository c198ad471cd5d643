/* SPDX-License-Identifier: Apache-2.0 */
/* Locks reached through pointers: one that never changes, one that is replaced while threads run.
 */
#include "program.h"

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t *fixed, *changing;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static int steady, shaky;

static NOINLINE pthread_mutex_t *current(void)
{
    pthread_mutex_lock(&gate);
    pthread_mutex_t *lock = changing;
    changing = lock == &first ? &second : &first;
    pthread_mutex_unlock(&gate);
    return lock;
}

static void *work(void *arg)
{
    pthread_mutex_lock(fixed);
    steady += next(); // NORACE
    pthread_mutex_unlock(fixed);
    pthread_mutex_t *lock = current();
    pthread_mutex_lock(lock);
    shaky += next(); // RACE
    pthread_mutex_unlock(lock);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    fixed = malloc(sizeof *fixed);
    if (!fixed)
        return 1;
    pthread_mutex_init(fixed, NULL);
    changing = &first;
    start(&a, work, NULL);
    start(&b, work, NULL);
    finish(a);
    finish(b);
    keep((unsigned long)(steady + shaky)); // NORACE
    return 0;
}
