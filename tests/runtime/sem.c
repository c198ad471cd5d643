/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Semaphores: every post is a release, a wait an acquire if it succeeded, whatever its kind; a
 * signal handler may post.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>

#include "harness.h"

static sem_t sem;
static const struct timespec past = {.tv_sec = 1};

static void test_results(void)
{
    const struct timespec nonsense = {.tv_nsec = -1};
    CHECK(sem_init(&sem, 0, 1) == 0);
    EXPECT({RT_SYNC_OBJECT_INIT, &sem});
    CHECK(sem_wait(&sem) == 0);
    EXPECT({RT_SYNC_SEM_WAIT, &sem});
    CHECK(sem_trywait(&sem) == -1 && errno == EAGAIN);
    CHECK(sem_timedwait(&sem, &past) == -1 && errno == ETIMEDOUT);
    CHECK(sem_timedwait(&sem, &nonsense) == -1 && errno == EINVAL);
    CHECK(sem_clockwait(&sem, CLOCK_MONOTONIC, &past) == -1 && errno == ETIMEDOUT);
    EXPECT_NOTHING();
    for (int i = 0; i < 3; i++)
        CHECK(sem_post(&sem) == 0);
    CHECK(sem_trywait(&sem) == 0);
    CHECK(sem_timedwait(&sem, &past) == 0);
    CHECK(sem_clockwait(&sem, CLOCK_MONOTONIC, &past) == 0);
    EXPECT({RT_SYNC_SEM_POST, &sem}, {RT_SYNC_SEM_POST, &sem}, {RT_SYNC_SEM_POST, &sem},
           {RT_SYNC_SEM_WAIT, &sem}, {RT_SYNC_SEM_WAIT, &sem}, {RT_SYNC_SEM_WAIT, &sem});
}

static void *post_it(void *arg)
{
    (void)arg;
    harness_tell(1, 2);
    CHECK(sem_post(&sem) == 0);
    return NULL;
}

static void test_order(void)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, post_it, NULL) == 0);
    CHECK(sem_wait(&sem) == 0);
    CHECK_KNOWS(1, 2);
    CHECK(pthread_join(thread, NULL) == 0);
    harness_forget();
}

static void post_in_handler(int signal)
{
    (void)signal;
    int kept = errno;
    CHECK(sem_post(&sem) == 0);
    errno = kept;
}

static void *raise_often(void *arg)
{
    (void)arg;
    for (int i = 0; i < 1000; i++) {
        harness_tell(2, (uint32_t)i + 1);
        CHECK(raise(SIGUSR1) == 0);
    }
    return NULL;
}

/* The handler's post releases what the thread it interrupted knew. */
static void test_handler(void)
{
    struct sigaction action = {.sa_handler = post_in_handler};
    pthread_t thread;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    CHECK(pthread_create(&thread, NULL, raise_often, NULL) == 0);
    for (uint32_t i = 0; i < 1000; i++) {
        CHECK(sem_wait(&sem) == 0);
        CHECK_KNOWS(2, i + 1);
    }
    CHECK(pthread_join(thread, NULL) == 0);
    harness_forget();
}

static void *wait_until_cancelled(void *arg)
{
    (void)arg;
    CHECK(sem_wait(&sem) == 0);
    CHECK(!"cancelled before");
    return NULL;
}

/* A wait that is cancelled acquires nothing. */
static void test_cancel(void)
{
    pthread_t thread;
    void *result;
    uint64_t waits = harness_count(RT_SYNC_SEM_WAIT);
    CHECK(pthread_create(&thread, NULL, wait_until_cancelled, NULL) == 0);
    CHECK(pthread_cancel(thread) == 0);
    CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
    CHECK(harness_count(RT_SYNC_SEM_WAIT) == waits);
    CHECK(sem_destroy(&sem) == 0);
}

int main(void)
{
    harness_forget();
    test_results();
    test_order();
    test_handler();
    test_cancel();
    return 0;
}
