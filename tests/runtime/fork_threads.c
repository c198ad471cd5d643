/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fork, 500 times, from a thread of a program whose other threads create threads and hold locks all
 * the while. The child has one thread, with the id it had and a new number of the kernel's; it can
 * lock, make threads, fork again and end. _Fork does the same, also in a signal handler.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

enum { FORKS = 500, MAKERS = 2 };

static _Atomic bool is_over;
static pthread_mutex_t busy[MAKERS] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t mine = PTHREAD_MUTEX_INITIALIZER;

static void *do_nothing(void *arg)
{
    return arg;
}

static void *make_threads(void *mutex)
{
    while (!atomic_load(&is_over)) {
        pthread_t thread;
        CHECK(pthread_mutex_lock(mutex) == 0);
        CHECK(pthread_create(&thread, NULL, do_nothing, NULL) == 0);
        CHECK(pthread_mutex_unlock(mutex) == 0);
        CHECK(pthread_join(thread, NULL) == 0);
        harness_forget();
    }
    return NULL;
}

static bool count_thread(struct rt_thread *thread, void *count)
{
    CHECK(thread == rt_thread_self());
    ++*(int *)count;
    return true;
}

/* In the child. */
static void check_alone(uint32_t id)
{
    int count = 0;
    if (!harness_is_on())
        return;
    CHECK(rt_thread_self()->id == id && rt_thread_self()->tid == getpid());
    rt_thread_each(count_thread, &count);
    CHECK(count == 1);
}

static void use_child(void)
{
    pthread_t threads[4];
    pthread_t thread;
    CHECK(pthread_mutex_unlock(&mine) == 0);
    CHECK(pthread_mutex_lock(&mine) == 0 && pthread_mutex_unlock(&mine) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, do_nothing, NULL) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(pthread_create(&thread, NULL, do_nothing, NULL) == 0);
    CHECK(pthread_detach(thread) == 0);
}

static void check_ended_well(pid_t child)
{
    int status;
    pid_t ended;
    do
        ended = waitpid(child, &status, 0);
    while (ended < 0 && errno == EINTR);
    CHECK(ended == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

static uint32_t own_id(void)
{
    return harness_is_on() ? rt_thread_self()->id : 0;
}

static void fork_once(bool twice)
{
    uint32_t id = own_id();
    CHECK(pthread_mutex_lock(&mine) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        check_alone(id);
        CHECK(!harness_is_on() || harness_forks_seen() > 0);
        use_child();
        if (twice) {
            CHECK(pthread_mutex_lock(&mine) == 0);
            pid_t grandchild = fork();
            CHECK(grandchild >= 0);
            if (grandchild == 0) {
                check_alone(id);
                use_child();
                _exit(7);
            }
            check_ended_well(grandchild);
        }
        _exit(7);
    }
    CHECK(pthread_mutex_unlock(&mine) == 0);
    check_ended_well(child);
}

static void *fork_often(void *arg)
{
    (void)arg;
    for (int i = 0; i < FORKS; i++) {
        fork_once(i % 10 == 0);
        harness_forget();
    }
    return NULL;
}

static void fork_in_handler(int signal)
{
    (void)signal;
    int kept = errno;
    uint32_t id = own_id();
    pid_t child = _Fork();
    CHECK(child >= 0);
    if (child == 0) {
        check_alone(id);
        _exit(7);
    }
    check_ended_well(child);
    errno = kept;
}

static void test_handler(void)
{
    struct sigaction action = {.sa_handler = fork_in_handler};
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    for (int i = 0; i < 50; i++)
        CHECK(raise(SIGUSR1) == 0);
}

/* Handlers of the program run outside our lock: they may make and join threads. */
static void make_one(void)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, do_nothing, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
}

int main(void)
{
    pthread_t makers[MAKERS], forker;
    CHECK(pthread_atfork(make_one, make_one, make_one) == 0);
    for (int i = 0; i < MAKERS; i++)
        CHECK(pthread_create(&makers[i], NULL, make_threads, &busy[i]) == 0);
    CHECK(pthread_create(&forker, NULL, fork_often, NULL) == 0);
    CHECK(pthread_join(forker, NULL) == 0);
    test_handler();
    atomic_store(&is_over, true);
    for (int i = 0; i < MAKERS; i++)
        CHECK(pthread_join(makers[i], NULL) == 0);
    CHECK(!harness_is_on() || harness_forks_seen() == 0);
    return 0;
}
