/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 20,000 short threads, half of them detached: ids are never used twice, memory stays flat, and
 * every thread that was joined is told of as ended.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

#include "harness.h"

enum { ROUNDS = 1250, JOINED = 8, DETACHED = 8, ALL = ROUNDS * (JOINED + DETACHED) };

static _Atomic uint8_t seen[ALL + 64];
static _Atomic uint32_t highest_slot;
static sem_t done;

static void note_self(void)
{
    if (!harness_is_on())
        return;
    const struct rt_thread *self = rt_thread_self();
    CHECK(self->id < sizeof seen);
    CHECK(atomic_fetch_add(&seen[self->id], 1) == 0);
    uint32_t highest = atomic_load(&highest_slot);
    while (self->slot > highest)
        if (atomic_compare_exchange_weak(&highest_slot, &highest, self->slot))
            break;
}

static void *run_joined(void *arg)
{
    note_self();
    return arg;
}

static void *run_detached(void *arg)
{
    note_self();
    CHECK(sem_post(&done) == 0);
    return arg;
}

int main(void)
{
    pthread_attr_t attr;
    pthread_t threads[JOINED], thread;
    CHECK(sem_init(&done, 0, 0) == 0);
    CHECK(pthread_attr_init(&attr) == 0);
    CHECK(pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED) == 0);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < JOINED; i++)
            CHECK(pthread_create(&threads[i], NULL, run_joined, NULL) == 0);
        for (int i = 0; i < DETACHED; i++)
            CHECK(pthread_create(&thread, &attr, run_detached, NULL) == 0);
        for (int i = 0; i < JOINED; i++)
            CHECK(pthread_join(threads[i], NULL) == 0);
        for (int i = 0; i < DETACHED; i++)
            CHECK(sem_wait(&done) == 0);
    }
    if (harness_is_on()) {
        CHECK(harness_threads_begun() == ALL + 1);
        /* At most 17 are alive, but on a busy machine many may be on their way out. */
        CHECK(harness_threads_ended() >= ALL - 2000);
        CHECK(atomic_load(&highest_slot) < 2000);
    }
    return 0;
}
