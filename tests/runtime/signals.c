/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals everywhere: a timer interrupts threads that are created, joined, detached and that lock,
 * and its handler takes part in the synchronisation. A thread that libc does not know of, and one
 * whose first instruction is interrupted, find themselves in the registry once.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/time.h>

#include "harness.h"
#include "intercept/real.h"
#include "sys.h"

enum { THREADS = 3, ROUNDS = 1500 };

static sem_t posted;
static _Atomic int posts;

/* In whichever thread it interrupts, that thread is known, or becomes known. */
static void handle(int signal)
{
    (void)signal;
    int kept = errno;
    if (harness_is_on()) {
        const struct rt_thread *self = rt_thread_self();
        CHECK(self && self->tid == rt_sys_gettid());
    }
    atomic_fetch_add(&posts, 1);
    CHECK(sem_post(&posted) == 0);
    errno = kept;
}

static void *do_little(void *arg)
{
    CHECK(!harness_is_on() || rt_thread_self()->parent != 0);
    return arg;
}

/* glibc may lose a thread that ends while it is detached (its bug 19951): another that gets its
 * stack then cannot be joined. So these wait until it is done. */
static _Atomic bool is_detached[THREADS][ROUNDS];

static void *wait_for_detach(void *flag)
{
    while (!atomic_load((_Atomic bool *)flag))
        sched_yield();
    return do_little(NULL);
}

static void *keep_busy(void *flags)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    for (int i = 0; i < ROUNDS; i++) {
        _Atomic bool *flag = (_Atomic bool *)flags + i;
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, i % 2 ? do_little : wait_for_detach, flag) == 0);
        CHECK(pthread_mutex_lock(&mutex) == 0);
        CHECK(pthread_mutex_unlock(&mutex) == 0);
        if (i % 2)
            CHECK(pthread_join(thread, NULL) == 0);
        else
            CHECK(pthread_detach(thread) == 0);
        atomic_store(flag, true);
        harness_forget();
    }
    return NULL;
}

static bool no_adopted(struct rt_thread *thread, void *arg)
{
    (void)arg;
    CHECK(!thread->adopted);
    return true;
}

static void test_timer(void)
{
    const struct itimerval often = {{.tv_usec = 100}, {.tv_usec = 100}}, never = {{0}, {0}};
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    pthread_t threads[THREADS];
    CHECK(sem_init(&posted, 0, 0) == 0);
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, keep_busy, is_detached[i]) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0);
    CHECK(atomic_load(&posts) > 0);
    if (harness_is_on())
        rt_thread_each(no_adopted, NULL);
    harness_forget();
}

/* Threads made where we do not see it, as by a library that libc was bound to more closely. */
static _Atomic uint32_t foreign_id;
static pthread_mutex_t foreign_mutex = PTHREAD_MUTEX_INITIALIZER;

static void *be_foreign(void *arg)
{
    if (arg) {
        CHECK(pthread_mutex_lock(&foreign_mutex) == 0);
        CHECK(pthread_mutex_unlock(&foreign_mutex) == 0);
    }
    if (harness_is_on()) {
        const struct rt_thread *self = rt_thread_self();
        CHECK(self == rt_thread_self() && self->adopted && self->parent == 0);
        CHECK(self->pthread == (uintptr_t)pthread_self());
        CHECK(atomic_exchange(&foreign_id, self->id) != self->id);
    }
    return arg;
}

static bool count_thread(struct rt_thread *thread, void *count)
{
    (void)thread;
    ++*(int *)count;
    return true;
}

/* Threads we were not told of come and go, and memory stays bounded, whether they synchronise,
 * which lets us arrange to be told of their end, or only meet a key. */
static void test_foreign(void)
{
    int count = 0;
    for (int i = 0; i < 1000; i++) {
        pthread_t thread;
        CHECK(RT_REAL(pthread_create)(&thread, NULL, be_foreign, i % 2 ? &posted : NULL) == 0);
        CHECK(RT_REAL(pthread_join)(thread, NULL) == 0);
    }
    rt_thread_each(count_thread, &count);
    CHECK(count < 200);
}

int main(void)
{
    test_timer();
    test_foreign();
    return 0;
}
