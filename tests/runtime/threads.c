/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads: every way to begin, end, join and detach one, each with its events and its place in the
 * registry given back.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "harness.h"

static uint32_t child_id;

static bool count_thread(struct rt_thread *thread, void *count)
{
    (void)thread;
    ++*(uint32_t *)count;
    return true;
}

static uint32_t count_threads(void)
{
    uint32_t count = 0;
    rt_thread_each(count_thread, &count);
    return count;
}

static void *note_self(void *arg)
{
    harness_tell(2, 8);
    if (harness_is_on()) {
        const struct rt_thread *self = rt_thread_self();
        child_id = self->id;
        CHECK(self->parent == 1 && atomic_load(&self->state) == RT_THREAD_RUNNING);
        CHECK(self->pthread == (uintptr_t)pthread_self());
        CHECK(self->stack_low < (uintptr_t)&self && (uintptr_t)&self < self->stack_high);
        EXPECT({RT_SYNC_THREAD_BEGIN, rt_thread_object(child_id)});
        CHECK_KNOWS(1, 3);
    }
    return arg;
}

static void *exit_itself(void *arg)
{
    note_self(arg);
    pthread_exit(arg);
}

static void *be_cancelled(void *arg)
{
    note_self(arg);
    pthread_cancel(pthread_self());
    pthread_testcancel();
    return NULL;
}

/* However it ends: the creator's knowledge goes in, the thread's comes out. */
static void check_life(void *(*function)(void *), void *expected)
{
    pthread_t thread;
    void *result;
    uint32_t before = count_threads();
    harness_tell(1, 3);
    harness_tell(2, 0);
    harness_forget();
    CHECK(pthread_create(&thread, NULL, function, &child_id) == 0);
    CHECK(pthread_join(thread, &result) == 0 && result == expected);
    const volatile void *object = rt_thread_object(child_id);
    EXPECT({RT_SYNC_THREAD_CREATE, object}, {RT_SYNC_THREAD_JOIN, object});
    CHECK_KNOWS(2, 8);
    CHECK(count_threads() == before);
}

/* A thread's destructors belong to it: what they do, and unlock, is known to the joiner. */
static pthread_key_t key;
static int rounds;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void destroy_again(void *value)
{
    CHECK(pthread_mutex_lock(&mutex) == 0);
    harness_tell(3, (uint32_t)++rounds);
    CHECK(!harness_is_on() || rounds == PTHREAD_DESTRUCTOR_ITERATIONS ||
          atomic_load(&rt_thread_self()->state) == RT_THREAD_RUNNING);
    if (rounds < PTHREAD_DESTRUCTOR_ITERATIONS)
        CHECK(pthread_setspecific(key, value) == 0);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
}

static void *use_key(void *arg)
{
    CHECK(pthread_setspecific(key, arg) == 0);
    return NULL;
}

static void test_destructors(void)
{
    pthread_t thread;
    CHECK(pthread_key_create(&key, destroy_again) == 0);
    CHECK(pthread_create(&thread, NULL, use_key, &key) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(rounds == PTHREAD_DESTRUCTOR_ITERATIONS);
    CHECK_KNOWS(3, PTHREAD_DESTRUCTOR_ITERATIONS);
    CHECK(pthread_key_delete(key) == 0);
}

static sem_t may_end, may_end_detached, has_begun;

static void *wait_for_leave(void *leave)
{
    CHECK(sem_post(&has_begun) == 0);
    CHECK(sem_wait(leave) == 0);
    harness_tell(4, 5);
    return NULL;
}

static void *join_own(void *arg)
{
    (void)arg;
    CHECK(pthread_join(pthread_self(), NULL) == EDEADLK);
    return NULL;
}

/* Joins that fail leave the thread joinable; those with a limit join as well as the plain one. */
static void test_joins(void)
{
    const struct timespec past = {.tv_sec = 1};
    struct timespec far;
    pthread_t thread;
    CHECK(clock_gettime(CLOCK_REALTIME, &far) == 0);
    far.tv_sec += 3600;
    for (int kind = 0; kind < 4; kind++) {
        harness_tell(4, 0);
        CHECK(pthread_create(&thread, NULL, wait_for_leave, &may_end) == 0);
        harness_forget();
        CHECK(pthread_tryjoin_np(thread, NULL) == EBUSY);
        CHECK(pthread_timedjoin_np(thread, NULL, &past) == ETIMEDOUT);
        CHECK(pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &past) == ETIMEDOUT);
        EXPECT_NOTHING();
        CHECK(sem_post(&may_end) == 0);
        if (kind == 0)
            CHECK(pthread_join(thread, NULL) == 0);
        else if (kind == 1)
            CHECK(pthread_timedjoin_np(thread, NULL, &far) == 0);
        else if (kind == 2)
            CHECK(pthread_clockjoin_np(thread, NULL, CLOCK_REALTIME, &far) == 0);
        else
            while (pthread_tryjoin_np(thread, NULL) == EBUSY)
                sched_yield();
        CHECK_KNOWS(4, 5);
        CHECK(sem_wait(&has_begun) == 0);
    }
    CHECK(pthread_create(&thread, NULL, join_own, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    harness_forget();
}

/* A create that fails leaves no thread behind. */
static void test_failed_create(void)
{
    pthread_attr_t attr;
    pthread_t thread;
    uint32_t before = count_threads();
    uint64_t begun = harness_threads_begun();
    CHECK(pthread_attr_init(&attr) == 0);
    CHECK(pthread_attr_setstacksize(&attr, (size_t)1 << 47) == 0);
    CHECK(pthread_create(&thread, &attr, note_self, NULL) == EAGAIN);
    CHECK(pthread_attr_destroy(&attr) == 0);
    CHECK(count_threads() == before && harness_threads_begun() == begun);
    harness_forget();
}

static void *detach_itself(void *arg)
{
    (void)arg;
    CHECK(pthread_detach(pthread_self()) == 0);
    CHECK(pthread_detach(pthread_self()) == EINVAL);
    CHECK(sem_post(&has_begun) == 0);
    return NULL;
}

static void *say_begun(void *arg)
{
    (void)arg;
    CHECK(sem_post(&has_begun) == 0);
    return NULL;
}

/* Detached by attribute, by itself, by its creator while it runs, and after it has ended. The
 * places of all are taken over by later threads. */
static void test_detached(void)
{
    pthread_attr_t attr;
    pthread_t thread;
    CHECK(pthread_attr_init(&attr) == 0);
    CHECK(pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED) == 0);
    uint32_t most = 0;
    for (int i = 0; i < 400; i++) {
        CHECK(pthread_create(&thread, &attr, say_begun, NULL) == 0);
        CHECK(sem_wait(&has_begun) == 0);
        CHECK(pthread_create(&thread, NULL, detach_itself, NULL) == 0);
        CHECK(sem_wait(&has_begun) == 0);
        CHECK(pthread_create(&thread, NULL, wait_for_leave, &may_end_detached) == 0);
        CHECK(pthread_detach(thread) == 0);
        CHECK(pthread_detach(thread) == EINVAL);
        CHECK(pthread_join(thread, NULL) == EINVAL);
        CHECK(sem_wait(&has_begun) == 0);
        CHECK(sem_post(&may_end_detached) == 0);
        CHECK(pthread_create(&thread, NULL, say_begun, NULL) == 0);
        CHECK(sem_wait(&has_begun) == 0);
        CHECK(pthread_detach(thread) == 0);
        most = count_threads() > most ? count_threads() : most;
        harness_forget();
    }
    CHECK(most < 800); /* of 1600; more than alive only while they are on their way out */
    CHECK(pthread_attr_destroy(&attr) == 0);
}

/* The mask a thread begins with is its creator's or its attributes', as without us. */
static void *read_mask(void *mask)
{
    CHECK(pthread_sigmask(SIG_SETMASK, NULL, mask) == 0);
    return NULL;
}

static void test_mask(void)
{
    pthread_attr_t attr;
    pthread_t thread;
    sigset_t some, others, old, seen;
    sigemptyset(&some);
    sigaddset(&some, SIGUSR2);
    sigemptyset(&others);
    sigaddset(&others, SIGHUP);
    CHECK(pthread_sigmask(SIG_SETMASK, &some, &old) == 0);
    CHECK(pthread_create(&thread, NULL, read_mask, &seen) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(sigismember(&seen, SIGUSR2) == 1 && sigismember(&seen, SIGHUP) == 0);
    CHECK(pthread_attr_init(&attr) == 0 && pthread_attr_setsigmask_np(&attr, &others) == 0);
    CHECK(pthread_create(&thread, &attr, read_mask, &seen) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(sigismember(&seen, SIGUSR2) == 0 && sigismember(&seen, SIGHUP) == 1);
    CHECK(pthread_attr_destroy(&attr) == 0);
    CHECK(pthread_sigmask(SIG_SETMASK, &old, &seen) == 0);
    CHECK(sigismember(&seen, SIGUSR2) == 1 && sigismember(&seen, SIGHUP) == 0);
    harness_forget();
}

/* A joiner that is cancelled leaves the thread to be joined by another. */
static void *join_it(void *thread)
{
    pthread_join(*(pthread_t *)thread, NULL);
    CHECK(!"cancelled in join");
    return NULL;
}

static void test_cancelled_join(void)
{
    pthread_t thread, joiner;
    void *result;
    uint32_t before = count_threads();
    harness_tell(4, 0);
    CHECK(pthread_create(&thread, NULL, wait_for_leave, &may_end) == 0);
    CHECK(pthread_create(&joiner, NULL, join_it, &thread) == 0);
    CHECK(pthread_cancel(joiner) == 0);
    CHECK(pthread_join(joiner, &result) == 0 && result == PTHREAD_CANCELED);
    CHECK(sem_wait(&has_begun) == 0 && sem_post(&may_end) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_KNOWS(4, 5);
    CHECK(count_threads() <= before); /* places of earlier threads may have been taken over */
    harness_forget();
}

int main(void)
{
    harness_forget();
    CHECK(sem_init(&may_end, 0, 0) == 0 && sem_init(&may_end_detached, 0, 0) == 0);
    CHECK(sem_init(&has_begun, 0, 0) == 0);
    CHECK(!harness_is_on() || rt_thread_self()->id == 1);
    check_life(note_self, &child_id);
    check_life(exit_itself, &child_id);
    check_life(be_cancelled, PTHREAD_CANCELED);
    test_destructors();
    test_joins();
    test_failed_create();
    test_detached();
    test_mask();
    test_cancelled_join();
    return 0;
}
