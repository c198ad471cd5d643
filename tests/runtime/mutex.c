/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mutexes of every kind, spin locks and file locks: an event for each lock and unlock that took
 * effect, none for those that failed or were nested.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "harness.h"
#include "sync.h"

static const struct timespec past = {.tv_sec = 1};

static void make(pthread_mutex_t *m, int type, int robust, int protocol)
{
    pthread_mutexattr_t attr;
    CHECK(pthread_mutexattr_init(&attr) == 0);
    CHECK(pthread_mutexattr_settype(&attr, type) == 0);
    CHECK(pthread_mutexattr_setrobust(&attr, robust) == 0);
    CHECK(pthread_mutexattr_setprotocol(&attr, protocol) == 0);
    CHECK(pthread_mutex_init(m, &attr) == 0);
    EXPECT({RT_SYNC_OBJECT_INIT, m});
}

static void check_lock_unlock(pthread_mutex_t *m)
{
    CHECK(pthread_mutex_lock(m) == 0);
    EXPECT({RT_SYNC_MUTEX_LOCK, m});
    CHECK(!harness_is_exact() || harness_held_count() == 1);
    CHECK(pthread_mutex_unlock(m) == 0);
    EXPECT({RT_SYNC_MUTEX_UNLOCK, m});
    CHECK(!harness_is_exact() || harness_held_count() == 0);
    CHECK(pthread_mutex_trylock(m) == 0);
    CHECK(pthread_mutex_unlock(m) == 0);
    CHECK(pthread_mutex_timedlock(m, &past) == 0);
    CHECK(pthread_mutex_unlock(m) == 0);
    CHECK(pthread_mutex_clocklock(m, CLOCK_REALTIME, &past) == 0);
    CHECK(pthread_mutex_unlock(m) == 0);
    EXPECT({RT_SYNC_MUTEX_LOCK, m}, {RT_SYNC_MUTEX_UNLOCK, m}, {RT_SYNC_MUTEX_LOCK, m},
           {RT_SYNC_MUTEX_UNLOCK, m}, {RT_SYNC_MUTEX_LOCK, m}, {RT_SYNC_MUTEX_UNLOCK, m});
}

static void destroy(pthread_mutex_t *m)
{
    CHECK(pthread_mutex_destroy(m) == 0);
    EXPECT({RT_SYNC_OBJECT_DESTROY, m});
}

/* Not by its owner: EBUSY and ETIMEDOUT are no locks, EPERM is no unlock. */
static void *meddle(void *arg)
{
    pthread_mutex_t *m = arg;
    harness_forget();
    CHECK(pthread_mutex_trylock(m) == EBUSY);
    CHECK(pthread_mutex_timedlock(m, &past) == ETIMEDOUT);
    EXPECT_NOTHING();
    return NULL;
}

static void *meddle_and_unlock(void *arg)
{
    meddle(arg);
    CHECK(pthread_mutex_unlock(arg) == EPERM);
    EXPECT_NOTHING();
    return NULL;
}

static void run(void *(*function)(void *), void *arg)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, function, arg) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    harness_forget();
}

static void test_normal(void)
{
    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    check_lock_unlock(&m);
    CHECK(pthread_mutex_lock(&m) == 0);
    CHECK(pthread_mutex_destroy(&m) == EBUSY);
    EXPECT({RT_SYNC_MUTEX_LOCK, &m});
    run(meddle, &m);
    CHECK(pthread_mutex_unlock(&m) == 0);
    EXPECT({RT_SYNC_MUTEX_UNLOCK, &m});
    destroy(&m);
}

static void test_recursive(int robust, int protocol)
{
    pthread_mutex_t m;
    make(&m, PTHREAD_MUTEX_RECURSIVE, robust, protocol);
    check_lock_unlock(&m);
    CHECK(pthread_mutex_unlock(&m) == EPERM);
    EXPECT_NOTHING();
    CHECK(pthread_mutex_lock(&m) == 0);
    EXPECT({RT_SYNC_MUTEX_LOCK, &m});
    CHECK(pthread_mutex_lock(&m) == 0);
    CHECK(pthread_mutex_trylock(&m) == 0);
    EXPECT_NOTHING();
    run(meddle_and_unlock, &m);
    CHECK(pthread_mutex_unlock(&m) == 0);
    CHECK(pthread_mutex_unlock(&m) == 0);
    EXPECT_NOTHING();
    CHECK(pthread_mutex_unlock(&m) == 0);
    EXPECT({RT_SYNC_MUTEX_UNLOCK, &m});
    destroy(&m);
}

static void test_errorcheck(int robust, int protocol)
{
    pthread_mutex_t m;
    make(&m, PTHREAD_MUTEX_ERRORCHECK, robust, protocol);
    check_lock_unlock(&m);
    CHECK(pthread_mutex_unlock(&m) == EPERM);
    EXPECT_NOTHING();
    CHECK(pthread_mutex_lock(&m) == 0);
    CHECK(pthread_mutex_lock(&m) == EDEADLK);
    CHECK(pthread_mutex_clocklock(&m, CLOCK_MONOTONIC, &past) == EDEADLK);
    EXPECT({RT_SYNC_MUTEX_LOCK, &m});
    run(meddle_and_unlock, &m);
    CHECK(pthread_mutex_unlock(&m) == 0);
    EXPECT({RT_SYNC_MUTEX_UNLOCK, &m});
    destroy(&m);
}

static void *lock_and_die(void *m)
{
    CHECK(pthread_mutex_lock(m) == 0);
    return NULL;
}

/* The owner died: EOWNERDEAD is a lock. Made consistent it is as before; unlocked without that it
 * can never be locked again, and ENOTRECOVERABLE is no lock. */
static void test_robust(int type, int protocol)
{
    pthread_mutex_t m;
    make(&m, type, PTHREAD_MUTEX_ROBUST, protocol);
    run(lock_and_die, &m);
    CHECK(pthread_mutex_lock(&m) == EOWNERDEAD);
    EXPECT({RT_SYNC_OWNER_DIED, rt_dead_owners()}, {RT_SYNC_MUTEX_LOCK, &m});
    run(meddle_and_unlock, &m);
    CHECK(pthread_mutex_consistent(&m) == 0);
    CHECK(pthread_mutex_unlock(&m) == 0);
    EXPECT({RT_SYNC_MUTEX_UNLOCK, &m});
    check_lock_unlock(&m);
    run(lock_and_die, &m);
    CHECK(pthread_mutex_trylock(&m) == EOWNERDEAD);
    CHECK(pthread_mutex_unlock(&m) == 0);
    EXPECT({RT_SYNC_OWNER_DIED, rt_dead_owners()}, {RT_SYNC_MUTEX_LOCK, &m},
           {RT_SYNC_MUTEX_UNLOCK, &m});
    CHECK(pthread_mutex_lock(&m) == ENOTRECOVERABLE);
    CHECK(pthread_mutex_trylock(&m) == ENOTRECOVERABLE);
    EXPECT_NOTHING();
    destroy(&m);
}

static void test_invalid(void)
{
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    const struct timespec nonsense = {.tv_nsec = -1};
    CHECK(pthread_mutex_lock(&m) == 0);
    EXPECT({RT_SYNC_MUTEX_LOCK, &m});
    CHECK(pthread_mutex_timedlock(&m, &nonsense) == EINVAL);
    CHECK(pthread_mutex_clocklock(&m, CLOCK_PROCESS_CPUTIME_ID, &past) == EINVAL);
    EXPECT_NOTHING();
    CHECK(pthread_mutex_unlock(&m) == 0);
    EXPECT({RT_SYNC_MUTEX_UNLOCK, &m});
}

static void *try_spin(void *s)
{
    harness_forget();
    CHECK(pthread_spin_trylock(s) == EBUSY);
    EXPECT_NOTHING();
    return NULL;
}

static void test_spin(void)
{
    static pthread_spinlock_t s;
    CHECK(pthread_spin_init(&s, PTHREAD_PROCESS_PRIVATE) == 0);
    EXPECT({RT_SYNC_OBJECT_INIT, &s});
    CHECK(pthread_spin_lock(&s) == 0);
    EXPECT({RT_SYNC_SPIN_LOCK, &s});
    run(try_spin, (void *)(uintptr_t)&s);
    CHECK(pthread_spin_unlock(&s) == 0);
    CHECK(pthread_spin_trylock(&s) == 0);
    CHECK(pthread_spin_unlock(&s) == 0);
    CHECK(pthread_spin_destroy(&s) == 0);
    EXPECT({RT_SYNC_SPIN_UNLOCK, &s}, {RT_SYNC_SPIN_LOCK, &s}, {RT_SYNC_SPIN_UNLOCK, &s},
           {RT_SYNC_OBJECT_DESTROY, &s});
}

static void *try_file(void *file)
{
    harness_forget();
    CHECK(ftrylockfile(file) != 0);
    EXPECT_NOTHING();
    return NULL;
}

/* File locks nest; the list of held locks has the file once. */
static void test_file(void)
{
    flockfile(stdout);
    CHECK(ftrylockfile(stdout) == 0);
    EXPECT({RT_SYNC_MUTEX_LOCK, stdout}, {RT_SYNC_MUTEX_LOCK, stdout});
    CHECK(!harness_is_exact() || harness_held_count() == 1);
    run(try_file, stdout);
    funlockfile(stdout);
    CHECK(!harness_is_exact() || harness_held_count() == 1);
    funlockfile(stdout);
    EXPECT({RT_SYNC_MUTEX_UNLOCK, stdout}, {RT_SYNC_MUTEX_UNLOCK, stdout});
    CHECK(!harness_is_exact() || harness_held_count() == 0);
}

/* More locks than the list keeps are counted, and the count comes back to zero. */
static void test_many_held(void)
{
    enum { COUNT = 40 };
    static pthread_mutex_t many[COUNT];
    for (int i = 0; i < COUNT; i++)
        CHECK(pthread_mutex_init(&many[i], NULL) == 0 && pthread_mutex_lock(&many[i]) == 0);
    CHECK(!harness_is_exact() || harness_held_count() == COUNT);
    for (int i = 0; i < COUNT; i++)
        CHECK(pthread_mutex_unlock(&many[(i * 7) % COUNT]) == 0);
    CHECK(!harness_is_exact() || harness_held_count() == 0);
    harness_forget();
}

/* What a thread knew when it unlocked, the next one to lock knows. */
static pthread_mutex_t handed = PTHREAD_MUTEX_INITIALIZER;

static void *learn(void *arg)
{
    (void)arg;
    CHECK(pthread_mutex_lock(&handed) == 0);
    CHECK_KNOWS(1, 7);
    CHECK(pthread_mutex_unlock(&handed) == 0);
    return NULL;
}

static void test_order(void)
{
    pthread_t thread;
    CHECK(pthread_mutex_lock(&handed) == 0);
    CHECK(pthread_create(&thread, NULL, learn, NULL) == 0);
    harness_tell(1, 7);
    CHECK(pthread_mutex_unlock(&handed) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    harness_forget();
}

int main(void)
{
    harness_forget();
    test_normal();
    test_invalid();
    for (int protocol = PTHREAD_PRIO_NONE; protocol <= PTHREAD_PRIO_INHERIT; protocol++) {
        test_recursive(PTHREAD_MUTEX_STALLED, protocol);
        test_recursive(PTHREAD_MUTEX_ROBUST, protocol);
        test_errorcheck(PTHREAD_MUTEX_STALLED, protocol);
        test_errorcheck(PTHREAD_MUTEX_ROBUST, protocol);
        test_robust(PTHREAD_MUTEX_NORMAL, protocol);
        test_robust(PTHREAD_MUTEX_RECURSIVE, protocol);
        test_robust(PTHREAD_MUTEX_ERRORCHECK, protocol);
    }
    test_spin();
    test_file();
    test_many_held();
    test_order();
    return 0;
}
