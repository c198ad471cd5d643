/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Barriers against a model: after each phase a thread knows of the arrival of every other in that
 * phase, and nothing of what a faster one did after it left.
 */
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "harness.h"

enum { THREADS = 4, PHASES = 10000 };

static pthread_barrier_t barrier;
static int first_number; /* later rounds use other ones: main remembers what it learned */

/* Number i is what thread i has done: its phase before it arrives. A faster thread counts on at
 * once, so a slow leaver that learned of the next phase would know a number that is too high. */
static void *go_through_phases(void *arg)
{
    int me = (int)(intptr_t)arg, serial = 0;
    for (uint32_t phase = 1; phase <= PHASES; phase++) {
        harness_tell(first_number + me, phase);
        int result = pthread_barrier_wait(&barrier);
        serial += result == PTHREAD_BARRIER_SERIAL_THREAD;
        CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
        for (int i = 0; harness_is_exact() && i < THREADS; i++)
            CHECK(harness_knows(first_number + i) == phase);
        harness_forget();
    }
    return (void *)(intptr_t)serial;
}

static void test_phases(void)
{
    pthread_t threads[THREADS];
    int serial = 0;
    CHECK(pthread_barrier_init(&barrier, NULL, THREADS) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, go_through_phases, (void *)(intptr_t)i) == 0);
    for (int i = 0; i < THREADS; i++) {
        void *result;
        CHECK(pthread_join(threads[i], &result) == 0);
        serial += (int)(intptr_t)result;
    }
    CHECK(serial == PHASES);
    CHECK(pthread_barrier_destroy(&barrier) == 0);
    harness_forget();
}

/* More threads than the barrier counts, all at once: it still lets them through in pairs. */
enum { CROWD = 6, MEETING = 2, MEETINGS = 10000 };

static _Atomic int arrivals_left = MEETING * MEETINGS;
static _Atomic int serial_count;

static void *meet(void *arg)
{
    (void)arg;
    while (atomic_fetch_sub(&arrivals_left, 1) > 0) {
        int result = pthread_barrier_wait(&barrier);
        CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
        atomic_fetch_add(&serial_count, result == PTHREAD_BARRIER_SERIAL_THREAD);
        harness_forget();
    }
    return NULL;
}

static void test_crowd(void)
{
    pthread_t threads[CROWD];
    CHECK(pthread_barrier_init(&barrier, NULL, MEETING) == 0);
    for (int i = 0; i < CROWD; i++)
        CHECK(pthread_create(&threads[i], NULL, meet, NULL) == 0);
    for (int i = 0; i < CROWD; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(atomic_load(&serial_count) == MEETINGS);
    CHECK(pthread_barrier_destroy(&barrier) == 0);
    harness_forget();
}

/* A thread that is stopped where it tells of its arrival or leaving. */
static _Thread_local bool stops_at_arrival, stops_at_leaving;
static _Atomic bool has_stopped, may_go_on;

static void stop_if_asked(enum rt_sync what)
{
    bool *asked = what == RT_SYNC_BARRIER_ARRIVE ? &stops_at_arrival : &stops_at_leaving;
    if ((what != RT_SYNC_BARRIER_ARRIVE && what != RT_SYNC_BARRIER_LEAVE) || !*asked)
        return;
    *asked = false;
    atomic_store(&has_stopped, true);
    while (!atomic_load(&may_go_on))
        sched_yield();
}

static void begin_stops(void)
{
    atomic_store(&has_stopped, false);
    atomic_store(&may_go_on, false);
    harness_set_hook(stop_if_asked);
}

static void wait_until_stopped(void)
{
    while (!atomic_load(&has_stopped))
        sched_yield();
}

/* Someone else takes the place of a thread that we counted in this phase: the two that meet are in
 * different phases by our count, and must learn of each other all the same. */
enum { OVERTAKEN = 16, PARTNER, OVERTAKER, LATE };

static void *be_overtaken(void *arg)
{
    (void)arg;
    stops_at_arrival = true;
    harness_tell(OVERTAKEN, 1);
    pthread_barrier_wait(&barrier);
    CHECK_KNOWS(LATE, 1);
    return NULL;
}

static _Atomic bool has_partner;

static void *be_partner(void *arg)
{
    (void)arg;
    harness_tell(PARTNER, 1);
    atomic_store(&has_partner, true);
    pthread_barrier_wait(&barrier);
    CHECK_KNOWS(OVERTAKER, 1);
    return NULL;
}

static void test_overtaking(void)
{
    pthread_t overtaken, partner;
    uint64_t arrivals = harness_count(RT_SYNC_BARRIER_ARRIVE);
    if (!harness_is_exact())
        return;
    begin_stops();
    CHECK(pthread_barrier_init(&barrier, NULL, 2) == 0);
    CHECK(pthread_create(&overtaken, NULL, be_overtaken, NULL) == 0);
    wait_until_stopped();
    CHECK(pthread_create(&partner, NULL, be_partner, NULL) == 0);
    while (harness_count(RT_SYNC_BARRIER_ARRIVE) < arrivals + 2)
        sched_yield();
    harness_tell(OVERTAKER, 1);
    pthread_barrier_wait(&barrier);
    CHECK_KNOWS(PARTNER, 1);
    CHECK(pthread_join(partner, NULL) == 0);
    atomic_store(&may_go_on, true);
    harness_tell(LATE, 1);
    pthread_barrier_wait(&barrier);
    CHECK_KNOWS(OVERTAKEN, 1);
    CHECK(pthread_join(overtaken, NULL) == 0);
    CHECK(pthread_barrier_destroy(&barrier) == 0);
    harness_set_hook(NULL);
    harness_forget();
}

/* The first to leave destroys the barrier and makes another in its place before the second has told
 * of its leaving. */
enum { FIRST_TO_LEAVE = 20 };

static void *leave_slowly(void *arg)
{
    (void)arg;
    stops_at_leaving = true;
    pthread_barrier_wait(&barrier);
    CHECK(harness_knows(FIRST_TO_LEAVE) == 1);
    return NULL;
}

static void test_destroy_while_leaving(void)
{
    pthread_t slow;
    if (!harness_is_exact())
        return;
    begin_stops();
    CHECK(pthread_barrier_init(&barrier, NULL, 2) == 0);
    CHECK(pthread_create(&slow, NULL, leave_slowly, NULL) == 0);
    harness_tell(FIRST_TO_LEAVE, 1);
    pthread_barrier_wait(&barrier);
    wait_until_stopped();
    CHECK(pthread_barrier_destroy(&barrier) == 0);
    CHECK(pthread_barrier_init(&barrier, NULL, 1) == 0);
    harness_tell(FIRST_TO_LEAVE, 2);
    CHECK(pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD);
    atomic_store(&may_go_on, true);
    CHECK(pthread_join(slow, NULL) == 0);
    CHECK(pthread_barrier_destroy(&barrier) == 0);
    harness_set_hook(NULL);
    harness_forget();
}

/* The serial thread destroys the barrier at once and makes the next one in the same place, while
 * the other may still be on its way out: it must have learned of the first all the same. */
enum { REUSES = 5000 };

static pthread_barrier_t first, second;

static void *reuse(void *arg)
{
    int me = (int)(intptr_t)arg;
    for (uint32_t i = 1; i <= REUSES; i++) {
        harness_tell(me, i);
        bool serial = pthread_barrier_wait(&first) == PTHREAD_BARRIER_SERIAL_THREAD;
        if (serial) {
            CHECK(pthread_barrier_destroy(&first) == 0);
            memset(&first, 0x55, sizeof first);
            CHECK(pthread_barrier_init(&first, NULL, 2) == 0);
        }
        CHECK_KNOWS(!me, i);
        pthread_barrier_wait(&second);
        harness_forget();
    }
    return NULL;
}

static void test_reuse(void)
{
    pthread_t threads[2];
    CHECK(pthread_barrier_init(&first, NULL, 2) == 0);
    CHECK(pthread_barrier_init(&second, NULL, 2) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, reuse, (void *)(intptr_t)i) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(pthread_barrier_destroy(&first) == 0 && pthread_barrier_destroy(&second) == 0);
    harness_forget();
}

/* More barriers than we track, and one that processes share: each still orders, and is counted. */
static void test_untracked(void)
{
    enum { MANY = 2000 };
    static pthread_barrier_t many[MANY];
    pthread_barrierattr_t attr;
    for (int i = 0; i < MANY; i++)
        CHECK(pthread_barrier_init(&many[i], NULL, 1) == 0);
    for (int i = 0; i < MANY; i++)
        CHECK(pthread_barrier_wait(&many[i]) == PTHREAD_BARRIER_SERIAL_THREAD);
    for (int i = 0; i < MANY; i++)
        CHECK(pthread_barrier_destroy(&many[i]) == 0);
    CHECK(pthread_barrierattr_init(&attr) == 0);
    CHECK(pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED) == 0);
    harness_forget();
    CHECK(pthread_barrier_init(&barrier, &attr, 1) == 0);
    CHECK(pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD);
    EXPECT({RT_SYNC_OBJECT_INIT, &barrier}, {RT_SYNC_BARRIER_ARRIVE, &barrier},
           {RT_SYNC_BARRIER_LEAVE, &barrier});
    CHECK(pthread_barrier_destroy(&barrier) == 0);
    CHECK(pthread_barrier_init(&barrier, NULL, 0) != 0);
    harness_forget();
}

int main(void)
{
    harness_forget();
    test_phases();
    test_crowd();
    test_overtaking();
    test_destroy_while_leaving();
    test_reuse();
    test_untracked();
    first_number = 32;
    test_phases();
    return 0;
}
