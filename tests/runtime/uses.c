/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whoever calls a function on a synchronisation object uses it: a read before the event of the same
 * call, a write by init and destroy, also where the call fails and there is no event; with the
 * object's size and the place that called.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>
#include <time.h>

#include "harness.h"
#include "sync.h"

static const struct timespec past = {.tv_sec = 1};

static void test_mutex(void)
{
    pthread_mutex_t m;
    CHECK(pthread_mutex_init(&m, NULL) == 0);
    EXPECT({WRITE_FOR(OBJECT_INIT), &m}, {RT_SYNC_OBJECT_INIT, &m});
    CHECK(pthread_mutex_lock(&m) == 0);
    EXPECT({READ_FOR(MUTEX_LOCK), &m}, {RT_SYNC_MUTEX_LOCK, &m});
    CHECK(pthread_mutex_trylock(&m) == EBUSY && pthread_mutex_timedlock(&m, &past) == ETIMEDOUT);
    CHECK(pthread_mutex_clocklock(&m, CLOCK_REALTIME, &past) == ETIMEDOUT);
    EXPECT({READ_FOR(MUTEX_LOCK), &m}, {READ_FOR(MUTEX_LOCK), &m}, {READ_FOR(MUTEX_LOCK), &m});
    CHECK(pthread_mutex_destroy(&m) == EBUSY);
    EXPECT({WRITE_FOR(OBJECT_DESTROY), &m});
    CHECK(pthread_mutex_unlock(&m) == 0);
    EXPECT({READ_FOR(MUTEX_UNLOCK), &m}, {RT_SYNC_MUTEX_UNLOCK, &m});
    CHECK(pthread_mutex_destroy(&m) == 0);
    EXPECT({WRITE_FOR(OBJECT_DESTROY), &m}, {RT_SYNC_OBJECT_DESTROY, &m});
}

/* What is no event, because nothing changes hands, is a use all the same. */
static void test_nested(void)
{
    pthread_mutex_t m = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    CHECK(pthread_mutex_lock(&m) == 0 && pthread_mutex_lock(&m) == 0);
    CHECK(pthread_mutex_unlock(&m) == 0 && pthread_mutex_unlock(&m) == 0);
    EXPECT({READ_FOR(MUTEX_LOCK), &m}, {RT_SYNC_MUTEX_LOCK, &m}, {READ_FOR(MUTEX_LOCK), &m},
           {READ_FOR(MUTEX_UNLOCK), &m}, {READ_FOR(MUTEX_UNLOCK), &m}, {RT_SYNC_MUTEX_UNLOCK, &m});
    CHECK(pthread_mutex_unlock(&m) == EPERM);
    EXPECT({READ_FOR(MUTEX_UNLOCK), &m});
}

static void test_spin(void)
{
    pthread_spinlock_t s;
    CHECK(pthread_spin_init(&s, PTHREAD_PROCESS_PRIVATE) == 0);
    EXPECT({WRITE_FOR(OBJECT_INIT), &s}, {RT_SYNC_OBJECT_INIT, &s});
    CHECK(pthread_spin_lock(&s) == 0 && pthread_spin_trylock(&s) == EBUSY);
    EXPECT({READ_FOR(SPIN_LOCK), &s}, {RT_SYNC_SPIN_LOCK, &s}, {READ_FOR(SPIN_LOCK), &s});
    CHECK(pthread_spin_unlock(&s) == 0 && pthread_spin_destroy(&s) == 0);
    EXPECT({READ_FOR(SPIN_UNLOCK), &s}, {RT_SYNC_SPIN_UNLOCK, &s}, {WRITE_FOR(OBJECT_DESTROY), &s},
           {RT_SYNC_OBJECT_DESTROY, &s});
}

static void test_rwlock(void)
{
    pthread_rwlock_t l;
    CHECK(pthread_rwlock_init(&l, NULL) == 0);
    EXPECT({WRITE_FOR(OBJECT_INIT), &l}, {RT_SYNC_OBJECT_INIT, &l});
    CHECK(pthread_rwlock_rdlock(&l) == 0 && pthread_rwlock_trywrlock(&l) == EBUSY);
    EXPECT({READ_FOR(RWLOCK_READ), &l}, {RT_SYNC_RWLOCK_READ, &l}, {READ_FOR(RWLOCK_WRITE), &l});
    CHECK(pthread_rwlock_unlock(&l) == 0);
    EXPECT({READ_FOR(RWLOCK_READ_UNLOCK), &l}, {RT_SYNC_RWLOCK_READ_UNLOCK, &l});
    CHECK(pthread_rwlock_wrlock(&l) == 0 && pthread_rwlock_tryrdlock(&l) == EBUSY);
    EXPECT({READ_FOR(RWLOCK_WRITE), &l}, {RT_SYNC_RWLOCK_WRITE, &l}, {READ_FOR(RWLOCK_READ), &l});
    CHECK(pthread_rwlock_unlock(&l) == 0 && pthread_rwlock_destroy(&l) == 0);
    EXPECT({READ_FOR(RWLOCK_WRITE_UNLOCK), &l}, {RT_SYNC_RWLOCK_WRITE_UNLOCK, &l},
           {WRITE_FOR(OBJECT_DESTROY), &l}, {RT_SYNC_OBJECT_DESTROY, &l});
}

static void test_semaphore(void)
{
    sem_t s;
    CHECK(sem_init(&s, 0, 0) == 0);
    EXPECT({WRITE_FOR(OBJECT_INIT), &s}, {RT_SYNC_OBJECT_INIT, &s});
    CHECK(sem_trywait(&s) == -1 && errno == EAGAIN && sem_timedwait(&s, &past) == -1);
    EXPECT({READ_FOR(SEM_WAIT), &s}, {READ_FOR(SEM_WAIT), &s});
    CHECK(sem_post(&s) == 0 && sem_wait(&s) == 0);
    EXPECT({READ_FOR(SEM_POST), &s}, {RT_SYNC_SEM_POST, &s}, {READ_FOR(SEM_WAIT), &s},
           {RT_SYNC_SEM_WAIT, &s});
    CHECK(sem_destroy(&s) == 0);
    EXPECT({WRITE_FOR(OBJECT_DESTROY), &s}, {RT_SYNC_OBJECT_DESTROY, &s});
}

/* A wait uses the condition before it lets the mutex go, and never after: by then, whoever woke it
 * may have destroyed it. The mutex is used again when it is taken back. */
static void test_condition(void)
{
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t c;
    CHECK(pthread_cond_init(&c, NULL) == 0);
    EXPECT({WRITE_FOR(OBJECT_INIT), &c}, {RT_SYNC_OBJECT_INIT, &c});
    CHECK(pthread_cond_signal(&c) == 0 && pthread_cond_broadcast(&c) == 0);
    EXPECT({READ_FOR(COND_SIGNAL), &c}, {RT_SYNC_COND_SIGNAL, &c}, {READ_FOR(COND_SIGNAL), &c},
           {RT_SYNC_COND_SIGNAL, &c});
    pthread_mutex_lock(&m);
    harness_forget();
    CHECK(pthread_cond_timedwait(&c, &m, &past) == ETIMEDOUT);
    EXPECT({READ_FOR(COND_WAKE), &c}, {READ_FOR(MUTEX_UNLOCK), &m}, {RT_SYNC_MUTEX_UNLOCK, &m},
           {READ_FOR(MUTEX_LOCK), &m}, {RT_SYNC_MUTEX_LOCK, &m});
    pthread_mutex_unlock(&m);
    harness_forget();
    CHECK(pthread_cond_destroy(&c) == 0);
    EXPECT({WRITE_FOR(OBJECT_DESTROY), &c}, {RT_SYNC_OBJECT_DESTROY, &c});
}

/* A barrier is used before the arrival, and not again: the first to leave may destroy it. The
 * events are about the runtime's own objects. */
static void test_barrier(void)
{
    pthread_barrier_t b;
    CHECK(pthread_barrier_init(&b, NULL, 1) == 0);
    harness_keep_only(&b);
    EXPECT({WRITE_FOR(OBJECT_INIT), &b}, {RT_SYNC_OBJECT_INIT, &b});
    CHECK(pthread_barrier_wait(&b) == PTHREAD_BARRIER_SERIAL_THREAD);
    if (harness_is_exact())
        CHECK(harness_use(0).what == RT_SYNC_BARRIER_ARRIVE && !harness_use(0).is_write);
    harness_keep_only(&b);
    EXPECT({READ_FOR(BARRIER_ARRIVE), &b});
    CHECK(pthread_barrier_destroy(&b) == 0);
    harness_keep_only(&b);
    EXPECT({WRITE_FOR(OBJECT_DESTROY), &b});
}

static void test_c11(void)
{
    mtx_t m;
    cnd_t c;
    CHECK(mtx_init(&m, mtx_timed) == thrd_success && mtx_lock(&m) == thrd_success);
    EXPECT({WRITE_FOR(OBJECT_INIT), &m}, {RT_SYNC_OBJECT_INIT, &m}, {READ_FOR(MUTEX_LOCK), &m},
           {RT_SYNC_MUTEX_LOCK, &m});
    CHECK(mtx_trylock(&m) == thrd_busy && mtx_timedlock(&m, &past) == thrd_timedout);
    EXPECT({READ_FOR(MUTEX_LOCK), &m}, {READ_FOR(MUTEX_LOCK), &m});
    CHECK(cnd_init(&c) == thrd_success && cnd_signal(&c) == thrd_success);
    EXPECT({WRITE_FOR(OBJECT_INIT), &c}, {RT_SYNC_OBJECT_INIT, &c}, {READ_FOR(COND_SIGNAL), &c},
           {RT_SYNC_COND_SIGNAL, &c});
    CHECK(cnd_timedwait(&c, &m, &past) == thrd_timedout);
    EXPECT({READ_FOR(COND_WAKE), &c}, {READ_FOR(MUTEX_UNLOCK), &m}, {RT_SYNC_MUTEX_UNLOCK, &m},
           {READ_FOR(MUTEX_LOCK), &m}, {RT_SYNC_MUTEX_LOCK, &m});
    CHECK(mtx_unlock(&m) == thrd_success);
    mtx_destroy(&m);
    cnd_destroy(&c);
    EXPECT({READ_FOR(MUTEX_UNLOCK), &m}, {RT_SYNC_MUTEX_UNLOCK, &m},
           {WRITE_FOR(OBJECT_DESTROY), &m}, {RT_SYNC_OBJECT_DESTROY, &m},
           {WRITE_FOR(OBJECT_DESTROY), &c}, {RT_SYNC_OBJECT_DESTROY, &c});
}

/* --- where it was --- */

/* A section of its own, whose ends the linker gives names. */
#define CALLING __attribute__((noinline, section("calling")))
extern const char __start_calling[], __stop_calling[];

CALLING static int call_lock(pthread_mutex_t *m)
{
    int result = pthread_mutex_lock(m);
    __asm__ volatile("" : "+r"(result)); /* no tail call, which would leave the section */
    return result;
}

CALLING static int call_unlock(pthread_mutex_t *m)
{
    int result = pthread_mutex_unlock(m);
    __asm__ volatile("" : "+r"(result));
    return result;
}

CALLING static int call_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
    int result = pthread_cond_timedwait(c, m, &past);
    __asm__ volatile("" : "+r"(result));
    return result;
}

static void check_use(uint32_t i, const void *object, size_t size)
{
    struct rt_use use = harness_use(i);
    CHECK(use.address == (uintptr_t)object && use.size == size);
    CHECK(use.caller > (uintptr_t)__start_calling && use.caller <= (uintptr_t)__stop_calling);
}

static void test_places(void)
{
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t c = PTHREAD_COND_INITIALIZER;
    CHECK(call_lock(&m) == 0 && call_wait(&c, &m) == ETIMEDOUT && call_unlock(&m) == 0);
    if (!harness_is_exact())
        return;
    check_use(0, &m, sizeof m); /* lock */
    check_use(1, &c, sizeof c); /* wait */
    check_use(2, &m, sizeof m);
    check_use(3, &m, sizeof m);
    check_use(4, &m, sizeof m); /* unlock */
    harness_forget();
}

int main(void)
{
    harness_record_uses();
    harness_forget();
    test_mutex();
    test_nested();
    test_spin();
    test_rwlock();
    test_semaphore();
    test_condition();
    test_barrier();
    test_c11();
    test_places();
    return 0;
}
