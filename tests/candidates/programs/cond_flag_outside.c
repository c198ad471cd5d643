/* SPDX-License-Identifier: Apache-2.0 */
/* A flag set under the lock is tested before the lock is taken. */
#include "program.h"

static int ready;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static NOINLINE int is_ready(void)
{
    return ready; // RACE
}

static void *wait_for_it(void *arg)
{
    if (is_ready())
        return arg;
    pthread_mutex_lock(&lock);
    while (!ready) // NORACE
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *announce(void *arg)
{
    pthread_mutex_lock(&lock);
    ready = 1; // RACE
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&b, announce, NULL);
    start(&a, wait_for_it, NULL);
    finish(a);
    finish(b);
    return 0;
}
