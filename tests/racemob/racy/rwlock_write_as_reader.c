/* SPDX-License-Identifier: Apache-2.0 */
/* A write under the read lock, which another reader may hold at the same time. */
#include "../program.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static long value, cached;

static void *look(void *arg)
{
    pthread_rwlock_rdlock(&lock);
    keep((unsigned long)value); // NORACE
    cached = next();            // RACE
    pthread_rwlock_unlock(&lock);
    return arg;
}

static void *change(void *arg)
{
    pthread_rwlock_wrlock(&lock);
    value = next(); // NORACE
    pthread_rwlock_unlock(&lock);
    return arg;
}

int main(void)
{
    pthread_t a, b, c;
    start(&a, look, NULL);
    start(&b, look, NULL);
    start(&c, change, NULL);
    finish(a);
    finish(b);
    finish(c);
    keep((unsigned long)cached); // NORACE
    return 0;
}
