/* SPDX-License-Identifier: Apache-2.0 */
/* A function that one thread calls under a lock, and another without: nobody may say of it that it
 * holds a lock and the other side none. */
#include "program.h"

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static int shared;

NOINLINE static void change(void)
{
    shared = next(); // RACE: itself, other
}

static void *with_lock(void *arg)
{
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&guard);
        change();
        pthread_mutex_unlock(&guard);
    }
    return arg;
}

static void *without(void *arg)
{
    for (int i = 0; i < 100; i++) {
        change();
        keep((unsigned long)shared); // RACE: other
    }
    return arg;
}

int main(void)
{
    pthread_t threads[2];
    start(&threads[0], with_lock, NULL);
    start(&threads[1], without, NULL);
    finish(threads[0]);
    finish(threads[1]);
    return 0;
}
