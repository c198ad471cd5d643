/* SPDX-License-Identifier: Apache-2.0 */
/* A mutex with priority inheritance orders the accesses. */
#include "../program.h"

enum { THREADS = 3, ROUNDS = 50 };

static pthread_mutex_t locks[2];
static struct {
    long count;
    int last;
} shared;

static void *count(void *arg)
{
    pthread_mutex_t *lock = &locks[unforeseen(1)];
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(lock);
        shared.count++;
        shared.last = next();
        pthread_mutex_unlock(lock);
    }
    return arg;
}

int main(void)
{
    pthread_mutex_t *lock = &locks[unforeseen(1)];
    pthread_t threads[THREADS];
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    must(pthread_mutex_init(lock, &attributes) == 0);
    for (int i = 0; i < THREADS; i++)
        start(&threads[i], count, NULL);
    for (int i = 0; i < THREADS; i++)
        finish(threads[i]);
    must(shared.count == THREADS * ROUNDS);
    keep((unsigned long)shared.last);
    return 0;
}
