/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that has functions of its own under names we wrap, one of them with other parameters:
 * it links, and calls its own.
 */
#include <pthread.h>

#include "harness.h"

static int own_locks, own_sum;

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    (void)mutex;
    own_locks++;
    return 0;
}

/* As in some kernels; not C11's. */
void mtx_lock(void *mutex, int flags, int more);
void mtx_lock(void *mutex, int flags, int more)
{
    (void)mutex;
    own_sum += flags + more;
}

int main(void)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    harness_forget();
    CHECK(pthread_mutex_lock(&mutex) == 0 && own_locks == 1);
    mtx_lock(&mutex, 2, 3);
    CHECK(own_sum == 5);
    EXPECT_NOTHING();
    CHECK(pthread_mutex_trylock(&mutex) == 0);
    EXPECT({RT_SYNC_MUTEX_LOCK, &mutex});
    return 0;
}
