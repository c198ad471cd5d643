/* SPDX-License-Identifier: Apache-2.0 */
/* A library that is built without bitcode: runs a function in threads of its own, which it starts,
 * synchronises and ends by means of its own, atomics and futexes of the compiler's. */
#include "pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

struct pool_run {
    void (*body)(int index, void *arg);
    void *arg;
    int count;
    _Atomic int next, done;
};

static void *work(void *data)
{
    struct pool_run *run = data;
    for (int i; (i = atomic_fetch_add(&run->next, 1)) < run->count;)
        run->body(i, run->arg);
    atomic_fetch_add(&run->done, 1);
    return NULL;
}

void pool_for_each(int count, void (*body)(int index, void *arg), void *arg)
{
    enum { THREADS = 3 };
    struct pool_run *run = calloc(1, sizeof *run); /* the threads outlive the call by a moment */
    pthread_t thread;
    if (!run)
        abort();
    run->body = body;
    run->arg = arg;
    run->count = count;
    for (int i = 0; i < THREADS; i++) {
        if (pthread_create(&thread, NULL, work, run))
            abort();
        pthread_detach(thread);
    }
    while (atomic_load(&run->done) < THREADS)
        sched_yield();
}

static atomic_flag flag = ATOMIC_FLAG_INIT;

void pool_lock(void)
{
    while (atomic_flag_test_and_set(&flag))
        sched_yield();
}

void pool_unlock(void)
{
    atomic_flag_clear(&flag);
}
