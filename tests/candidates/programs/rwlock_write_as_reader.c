/* SPDX-License-Identifier: Apache-2.0 */
/* A write under the lock's reading side: readers at the same time are let in. */
#include "program.h"

static int setting;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void *read_it(void *arg)
{
    pthread_rwlock_rdlock(&lock);
    keep((unsigned long)setting); // RACE
    pthread_rwlock_unlock(&lock);
    return arg;
}

static void *write_it(void *arg)
{
    pthread_rwlock_rdlock(&lock);
    setting = next(); // RACE
    pthread_rwlock_unlock(&lock);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&a, read_it, NULL);
    start(&b, write_it, NULL);
    finish(a);
    finish(b);
    return 0;
}
