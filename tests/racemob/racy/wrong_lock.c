/* SPDX-License-Identifier: Apache-2.0 */
/* Two threads guard the same data with two different locks. */
#include "../program.h"

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static long data;

static void *with_first(void *arg)
{
    pthread_mutex_lock(&first);
    data += next(); // RACE
    pthread_mutex_unlock(&first);
    return arg;
}

static void *with_second(void *arg)
{
    pthread_mutex_lock(&second);
    data += next(); // RACE
    pthread_mutex_unlock(&second);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    data = next(); // NORACE
    start(&a, with_first, NULL);
    start(&b, with_second, NULL);
    finish(a);
    finish(b);
    keep((unsigned long)data); // NORACE
    return 0;
}
