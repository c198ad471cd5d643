/* SPDX-License-Identifier: Apache-2.0 */
/* Two races that have nothing to do with each other, and a third access between them that is
 * guarded. */
#include "../program.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long first, guarded, second;

static void *work_a(void *arg)
{
    first = next(); // RACE: first
    pthread_mutex_lock(&lock);
    guarded += next(); // NORACE
    pthread_mutex_unlock(&lock);
    second = next(); // RACE: second
    return arg;
}

static void *work_b(void *arg)
{
    second = next(); // RACE: second
    pthread_mutex_lock(&lock);
    guarded += next(); // NORACE
    pthread_mutex_unlock(&lock);
    keep((unsigned long)first); // RACE: first
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&a, work_a, NULL);
    start(&b, work_b, NULL);
    finish(a);
    finish(b);
    keep((unsigned long)(guarded + second)); // NORACE
    return 0;
}
