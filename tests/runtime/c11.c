/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C11 threads: each function reports, once, the event of its pthread counterpart.
 */
#include <pthread.h>
#include <threads.h>
#include <time.h>

#include "harness.h"

static const struct timespec past = {.tv_sec = 1};
static mtx_t mutex;
static cnd_t cond;
static bool is_ready;
static uint32_t child_id;

static int note_self(void *arg)
{
    child_id = harness_is_on() ? rt_thread_self()->id : 0;
    EXPECT({RT_SYNC_THREAD_BEGIN, rt_thread_object(child_id)});
    CHECK_KNOWS(1, 1);
    harness_tell(2, 2);
    return *(int *)arg;
}

static int exit_itself(void *arg)
{
    thrd_exit(note_self(arg));
}

static void check_life(thrd_start_t function)
{
    thrd_t thread;
    int value = 42, result = 0;
    harness_tell(1, 1);
    harness_tell(2, 0);
    harness_forget();
    CHECK(thrd_create(&thread, function, &value) == thrd_success);
    CHECK(thrd_join(thread, &result) == thrd_success && result == 42);
    const volatile void *object = rt_thread_object(child_id);
    EXPECT({RT_SYNC_THREAD_CREATE, object}, {RT_SYNC_THREAD_JOIN, object});
    CHECK_KNOWS(2, 2);
}

static int try_lock(void *arg)
{
    (void)arg;
    harness_forget();
    CHECK(mtx_trylock(&mutex) == thrd_busy);
    CHECK(mtx_timedlock(&mutex, &past) == thrd_timedout);
    EXPECT_NOTHING();
    return 0;
}

static void run(thrd_start_t function)
{
    thrd_t thread;
    CHECK(thrd_create(&thread, function, NULL) == thrd_success);
    CHECK(thrd_join(thread, NULL) == thrd_success);
    harness_forget();
}

static void test_mutex(int type, bool is_recursive)
{
    CHECK(mtx_init(&mutex, type) == thrd_success);
    CHECK(mtx_lock(&mutex) == thrd_success);
    EXPECT({RT_SYNC_OBJECT_INIT, &mutex}, {RT_SYNC_MUTEX_LOCK, &mutex});
    if (is_recursive) {
        CHECK(mtx_lock(&mutex) == thrd_success && mtx_trylock(&mutex) == thrd_success);
        CHECK(mtx_unlock(&mutex) == thrd_success && mtx_unlock(&mutex) == thrd_success);
        EXPECT_NOTHING();
    }
    run(try_lock);
    CHECK(mtx_unlock(&mutex) == thrd_success);
    CHECK(mtx_trylock(&mutex) == thrd_success && mtx_unlock(&mutex) == thrd_success);
    CHECK(mtx_timedlock(&mutex, &past) == thrd_success && mtx_unlock(&mutex) == thrd_success);
    mtx_destroy(&mutex);
    EXPECT({RT_SYNC_MUTEX_UNLOCK, &mutex}, {RT_SYNC_MUTEX_LOCK, &mutex},
           {RT_SYNC_MUTEX_UNLOCK, &mutex}, {RT_SYNC_MUTEX_LOCK, &mutex},
           {RT_SYNC_MUTEX_UNLOCK, &mutex}, {RT_SYNC_OBJECT_DESTROY, &mutex});
}

static int wake(void *arg)
{
    CHECK(mtx_lock(&mutex) == thrd_success);
    harness_tell(3, 3);
    is_ready = true;
    CHECK((arg ? cnd_broadcast(&cond) : cnd_signal(&cond)) == thrd_success);
    CHECK(mtx_unlock(&mutex) == thrd_success);
    return 0;
}

static void check_wait(bool timed, void *broadcast)
{
    thrd_t thread;
    struct timespec far;
    CHECK(timespec_get(&far, TIME_UTC) == TIME_UTC);
    far.tv_sec += 3600;
    is_ready = false;
    harness_tell(3, 0);
    CHECK(mtx_lock(&mutex) == thrd_success);
    CHECK(thrd_create(&thread, wake, broadcast) == thrd_success);
    harness_forget();
    do {
        CHECK((timed ? cnd_timedwait(&cond, &mutex, &far) : cnd_wait(&cond, &mutex)) ==
              thrd_success);
        EXPECT({RT_SYNC_MUTEX_UNLOCK, &mutex}, {RT_SYNC_COND_WAKE, &cond},
               {RT_SYNC_MUTEX_LOCK, &mutex});
    } while (!is_ready);
    CHECK_KNOWS(3, 3);
    CHECK(mtx_unlock(&mutex) == thrd_success);
    CHECK(thrd_join(thread, NULL) == thrd_success);
    harness_forget();
}

static void test_cond(void)
{
    CHECK(mtx_init(&mutex, mtx_timed) == thrd_success);
    CHECK(cnd_init(&cond) == thrd_success);
    check_wait(false, NULL);
    check_wait(true, &cond);
    CHECK(mtx_lock(&mutex) == thrd_success);
    harness_forget();
    CHECK(cnd_timedwait(&cond, &mutex, &past) == thrd_timedout);
    EXPECT({RT_SYNC_MUTEX_UNLOCK, &mutex}, {RT_SYNC_MUTEX_LOCK, &mutex});
    CHECK(mtx_unlock(&mutex) == thrd_success);
    harness_forget();
    cnd_destroy(&cond);
    EXPECT({RT_SYNC_OBJECT_DESTROY, &cond});
}

static once_flag flag = ONCE_FLAG_INIT;
static int times;

static void do_once(void)
{
    times++;
}

static void test_once(void)
{
    call_once(&flag, do_once);
    call_once(&flag, do_once);
    CHECK(times == 1);
    EXPECT({RT_SYNC_ONCE_DONE, &flag}, {RT_SYNC_ONCE_PASS, &flag}, {RT_SYNC_ONCE_PASS, &flag});
}

static int detach_itself(void *arg)
{
    (void)arg;
    CHECK(thrd_detach(thrd_current()) == thrd_success);
    CHECK(mtx_lock(&mutex) == thrd_success);
    is_ready = true;
    CHECK(cnd_signal(&cond) == thrd_success);
    CHECK(mtx_unlock(&mutex) == thrd_success);
    return 0;
}

static void test_detach(void)
{
    thrd_t thread;
    is_ready = false;
    CHECK(cnd_init(&cond) == thrd_success);
    CHECK(thrd_create(&thread, detach_itself, NULL) == thrd_success);
    CHECK(mtx_lock(&mutex) == thrd_success);
    while (!is_ready)
        CHECK(cnd_wait(&cond, &mutex) == thrd_success);
    CHECK(mtx_unlock(&mutex) == thrd_success);
    harness_forget();
}

int main(void)
{
    harness_forget();
    check_life(note_self);
    check_life(exit_itself);
    test_mutex(mtx_timed, false);
    test_mutex(mtx_timed | mtx_recursive, true);
    test_cond();
    test_once();
    test_detach();
    return 0;
}
