/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Condition variables: a wait releases the mutex and acquires it again, however the wait ends.
 */
#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "harness.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static const struct timespec past = {.tv_sec = 1};
static bool is_waiting, is_ready, was_cleaned_up;

static void *wake(void *arg)
{
    void (*signal_one)(void) = (void (*)(void))(uintptr_t)arg;
    CHECK(pthread_mutex_lock(&mutex) == 0);
    harness_tell(1, 5);
    is_ready = true;
    harness_forget();
    signal_one();
    EXPECT({RT_SYNC_COND_SIGNAL, &cond});
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    return NULL;
}

static void signal_it(void)
{
    CHECK(pthread_cond_signal(&cond) == 0);
}

static void broadcast_it(void)
{
    CHECK(pthread_cond_broadcast(&cond) == 0);
}

static struct timespec far_away(clockid_t clock)
{
    struct timespec t;
    CHECK(clock_gettime(clock, &t) == 0);
    t.tv_sec += 3600;
    return t;
}

static int wait_plain(void)
{
    return pthread_cond_wait(&cond, &mutex);
}

static int wait_timed(void)
{
    struct timespec limit = far_away(CLOCK_REALTIME);
    return pthread_cond_timedwait(&cond, &mutex, &limit);
}

static int wait_clock(void)
{
    struct timespec limit = far_away(CLOCK_MONOTONIC);
    return pthread_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &limit);
}

/* Waits with no loop around it: the other thread cannot lock before we wait, and a spurious wake-up
 * only repeats the check. */
static void check_wait(int (*wait)(void), void (*signal_one)(void))
{
    pthread_t thread;
    is_ready = false;
    CHECK(pthread_mutex_lock(&mutex) == 0);
    CHECK(pthread_create(&thread, NULL, wake, (void *)(uintptr_t)signal_one) == 0);
    harness_tell(1, 0);
    harness_forget();
    do {
        CHECK(wait() == 0);
        EXPECT({RT_SYNC_MUTEX_UNLOCK, &mutex}, {RT_SYNC_COND_WAKE, &cond},
               {RT_SYNC_MUTEX_LOCK, &mutex});
    } while (!is_ready);
    CHECK_KNOWS(1, 5);
    CHECK(!harness_is_exact() || harness_held_count() == 1);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    harness_forget();
}

/* A wait that times out has the mutex again, without having been woken. */
static void test_timeout(void)
{
    CHECK(pthread_mutex_lock(&mutex) == 0);
    harness_forget();
    CHECK(pthread_cond_timedwait(&cond, &mutex, &past) == ETIMEDOUT);
    EXPECT({RT_SYNC_MUTEX_UNLOCK, &mutex}, {RT_SYNC_MUTEX_LOCK, &mutex});
    CHECK(pthread_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &past) == ETIMEDOUT);
    EXPECT({RT_SYNC_MUTEX_UNLOCK, &mutex}, {RT_SYNC_MUTEX_LOCK, &mutex});
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    harness_forget();
}

/* A time limit that is nonsense lets nothing go; what was told is taken back at once. */
static void test_invalid(void)
{
    const struct timespec nonsense = {.tv_nsec = -1};
    CHECK(pthread_mutex_lock(&mutex) == 0);
    CHECK(pthread_cond_timedwait(&cond, &mutex, &nonsense) == EINVAL);
    CHECK(pthread_cond_clockwait(&cond, &mutex, CLOCK_THREAD_CPUTIME_ID, &past) == EINVAL);
    CHECK(!harness_is_exact() || harness_held_count() == 1);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    CHECK(!harness_is_exact() || harness_held_count() == 0);
    harness_forget();
}

/* An error-checking mutex that we do not hold: EPERM, nothing let go, nothing taken. */
static void test_not_owner(void)
{
    pthread_mutex_t checked = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    CHECK(pthread_cond_wait(&cond, &checked) == EPERM);
    CHECK(pthread_cond_timedwait(&cond, &checked, &past) == EPERM);
    EXPECT_NOTHING();
}

static void unlock_in_cleanup(void *arg)
{
    (void)arg;
    harness_keep_only(&mutex);
    EXPECT({RT_SYNC_MUTEX_UNLOCK, &mutex}, {RT_SYNC_MUTEX_LOCK, &mutex});
    CHECK(!harness_is_exact() || harness_held_count() == 1);
    CHECK_KNOWS(2, 9);
    was_cleaned_up = true;
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    EXPECT({RT_SYNC_MUTEX_UNLOCK, &mutex});
}

static void *wait_for_ever(void *wait)
{
    CHECK(pthread_mutex_lock(&mutex) == 0);
    is_waiting = true;
    pthread_cleanup_push(unlock_in_cleanup, NULL);
    harness_forget();
    for (;;)
        CHECK(((int (*)(void))(uintptr_t)wait)() == 0);
    pthread_cleanup_pop(0);
    return NULL;
}

/* Cancelled in the wait, its cleanup handlers run with the mutex held, after all that happened
 * under it meanwhile. We can lock only when it waits, because it holds the mutex until then. */
static void test_cancel(int (*wait)(void))
{
    pthread_t thread;
    void *result;
    is_waiting = was_cleaned_up = false;
    CHECK(pthread_create(&thread, NULL, wait_for_ever, (void *)(uintptr_t)wait) == 0);
    for (bool seen = false; !seen;) {
        CHECK(pthread_mutex_lock(&mutex) == 0);
        seen = is_waiting;
        harness_tell(2, 9);
        CHECK(pthread_mutex_unlock(&mutex) == 0);
    }
    CHECK(pthread_cancel(thread) == 0);
    CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
    CHECK(was_cleaned_up);
    harness_forget();
}

static void test_init(void)
{
    pthread_cond_t c;
    CHECK(pthread_cond_init(&c, NULL) == 0);
    CHECK(pthread_cond_destroy(&c) == 0);
    EXPECT({RT_SYNC_OBJECT_INIT, &c}, {RT_SYNC_OBJECT_DESTROY, &c});
}

int main(void)
{
    harness_forget();
    test_init();
    check_wait(wait_plain, signal_it);
    check_wait(wait_plain, broadcast_it);
    check_wait(wait_timed, signal_it);
    check_wait(wait_clock, broadcast_it);
    test_timeout();
    test_invalid();
    test_not_owner();
    test_cancel(wait_plain);
    test_cancel(wait_timed);
    test_cancel(wait_clock);
    return 0;
}
