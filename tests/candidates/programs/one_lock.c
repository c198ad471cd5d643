/* SPDX-License-Identifier: Apache-2.0 */
/* Two threads count under one lock: the twin of no_lock.c. */
#include "program.h"

static int counter;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *count(void *arg)
{
    pthread_mutex_lock(&lock);
    counter += next(); // NORACE
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&a, count, NULL);
    start(&b, count, NULL);
    finish(a);
    finish(b);
    keep((unsigned long)counter); // NORACE
    return 0;
}
