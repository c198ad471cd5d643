/* SPDX-License-Identifier: Apache-2.0 */
/* One way out of a function leaves the lock held, the other does not. */
#include "program.h"

static int value, limit = 3;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Returns with the lock held if there is room. */
static NOINLINE int reserve(int wanted)
{
    pthread_mutex_lock(&lock);
    if (wanted > limit) {
        pthread_mutex_unlock(&lock);
        return 0;
    }
    return 1;
}

static void *work(void *arg)
{
    int wanted = arg ? 5 : 1;
    int room = reserve(wanted);
    value += next(); // RACE
    if (room)
        pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    start(&a, work, &limit);
    start(&b, work, NULL);
    finish(a);
    finish(b);
    keep((unsigned long)value);
    return 0;
}
