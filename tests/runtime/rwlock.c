/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read-write locks: the unlock of a reader and of the writer are told apart, failed locks are no
 * events.
 */
#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "harness.h"

static const struct timespec past = {.tv_sec = 1};
static pthread_rwlock_t lock;

static void test_readers(void)
{
    CHECK(pthread_rwlock_rdlock(&lock) == 0);
    CHECK(pthread_rwlock_tryrdlock(&lock) == 0);
    CHECK(pthread_rwlock_timedrdlock(&lock, &past) == 0);
    CHECK(pthread_rwlock_clockrdlock(&lock, CLOCK_MONOTONIC, &past) == 0);
    EXPECT({RT_SYNC_RWLOCK_READ, &lock}, {RT_SYNC_RWLOCK_READ, &lock}, {RT_SYNC_RWLOCK_READ, &lock},
           {RT_SYNC_RWLOCK_READ, &lock});
    CHECK(pthread_rwlock_trywrlock(&lock) == EBUSY);
    CHECK(pthread_rwlock_timedwrlock(&lock, &past) == ETIMEDOUT);
    CHECK(pthread_rwlock_clockwrlock(&lock, CLOCK_REALTIME, &past) == ETIMEDOUT);
    EXPECT_NOTHING();
    for (int i = 0; i < 4; i++)
        CHECK(pthread_rwlock_unlock(&lock) == 0);
    EXPECT({RT_SYNC_RWLOCK_READ_UNLOCK, &lock}, {RT_SYNC_RWLOCK_READ_UNLOCK, &lock},
           {RT_SYNC_RWLOCK_READ_UNLOCK, &lock}, {RT_SYNC_RWLOCK_READ_UNLOCK, &lock});
}

static void check_write(int result)
{
    const struct timespec nonsense = {.tv_nsec = 1000000000};
    CHECK(result == 0);
    EXPECT({RT_SYNC_RWLOCK_WRITE, &lock});
    CHECK(pthread_rwlock_rdlock(&lock) == EDEADLK);
    CHECK(pthread_rwlock_wrlock(&lock) == EDEADLK);
    CHECK(pthread_rwlock_tryrdlock(&lock) == EBUSY);
    CHECK(pthread_rwlock_timedrdlock(&lock, &nonsense) == EINVAL);
    EXPECT_NOTHING();
    CHECK(pthread_rwlock_unlock(&lock) == 0);
    EXPECT({RT_SYNC_RWLOCK_WRITE_UNLOCK, &lock});
}

static void test_writer(void)
{
    check_write(pthread_rwlock_wrlock(&lock));
    check_write(pthread_rwlock_trywrlock(&lock));
    check_write(pthread_rwlock_timedwrlock(&lock, &past));
    check_write(pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &past));
}

/* Locks taken before events are live are told apart as well. */
static void test_taken_before(void)
{
    if (!harness_is_exact())
        return;
    rt_sync_switch(false);
    CHECK(pthread_rwlock_wrlock(&lock) == 0);
    rt_sync_switch(true);
    CHECK(pthread_rwlock_unlock(&lock) == 0);
    rt_sync_switch(false);
    CHECK(pthread_rwlock_rdlock(&lock) == 0);
    rt_sync_switch(true);
    CHECK(pthread_rwlock_unlock(&lock) == 0);
    EXPECT({RT_SYNC_RWLOCK_WRITE_UNLOCK, &lock}, {RT_SYNC_RWLOCK_READ_UNLOCK, &lock});
}

/* A lock that was noted as held, and let go while events were off, is forgotten. */
static void test_stale_held(void)
{
    if (!harness_is_exact())
        return;
    CHECK(pthread_rwlock_rdlock(&lock) == 0);
    CHECK(harness_held_count() == 1);
    rt_sync_switch(false);
    CHECK(pthread_rwlock_unlock(&lock) == 0);
    rt_sync_switch(true);
    CHECK(pthread_rwlock_wrlock(&lock) == 0);
    CHECK(harness_held_count() == 1 && rt_thread_self()->held[0].mode == RT_HELD_EXCLUSIVE);
    CHECK(pthread_rwlock_unlock(&lock) == 0);
    CHECK(harness_held_count() == 0);
    harness_forget();
}

static void *write_it(void *number)
{
    CHECK(pthread_rwlock_wrlock(&lock) == 0);
    CHECK_KNOWS((int)(intptr_t)number, 3);
    CHECK(pthread_rwlock_unlock(&lock) == 0);
    return NULL;
}

/* A writer knows what both kinds of holders before it knew. */
static void test_order(void)
{
    pthread_t thread;
    CHECK(pthread_rwlock_wrlock(&lock) == 0);
    CHECK(pthread_create(&thread, NULL, write_it, (void *)1) == 0);
    harness_tell(1, 3);
    CHECK(pthread_rwlock_unlock(&lock) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(pthread_rwlock_rdlock(&lock) == 0);
    CHECK(pthread_create(&thread, NULL, write_it, (void *)2) == 0);
    harness_tell(2, 3);
    CHECK(pthread_rwlock_unlock(&lock) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    harness_forget();
}

int main(void)
{
    harness_forget();
    CHECK(pthread_rwlock_init(&lock, NULL) == 0);
    EXPECT({RT_SYNC_OBJECT_INIT, &lock});
    test_readers();
    test_writer();
    test_taken_before();
    test_stale_held();
    test_order();
    CHECK(pthread_rwlock_destroy(&lock) == 0);
    EXPECT({RT_SYNC_OBJECT_DESTROY, &lock});
    return 0;
}
