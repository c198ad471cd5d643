/* SPDX-License-Identifier: Apache-2.0 */
/* A recursive mutex is given up only by the last of its unlocks, which orders the accesses. */
#include "../program.h"

enum { ROUNDS = 50 };

static pthread_mutex_t lock;
static long counter;

static NOINLINE void add(int depth)
{
    pthread_mutex_lock(&lock);
    counter++;
    if (depth)
        add(depth - 1);
    pthread_mutex_unlock(&lock);
    if (depth)
        counter++; /* still held by the caller */
}

static void *count(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&lock);
        add(2);
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&lock, &attributes);
    start(&a, count, NULL);
    start(&b, count, NULL);
    finish(a);
    finish(b);
    must(counter == 2 * ROUNDS * 5);
    return 0;
}
