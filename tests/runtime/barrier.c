/*
 * Barriers against a model: after each phase a thread knows of the arrival of every other in that
 * phase, and nothing of what a faster one did after it left.
 */
#include <pthread.h>
#include <string.h>

#include "harness.h"

enum { THREADS = 4, PHASES = 10000 };

static pthread_barrier_t barrier;

/* Number i is what thread i has done: its phase before it arrives. A faster thread counts on at
 * once, so a slow leaver that learned of the next phase would know a number that is too high. */
static void *go_through_phases(void *arg)
{
    int me = (int)(intptr_t)arg, serial = 0;
    for (uint32_t phase = 1; phase <= PHASES; phase++) {
        harness_tell(me, phase);
        int result = pthread_barrier_wait(&barrier);
        serial += result == PTHREAD_BARRIER_SERIAL_THREAD;
        CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
        for (int i = 0; harness_is_exact() && i < THREADS; i++)
            CHECK(harness_knows(i) == phase);
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

/* More threads than the barrier counts: nobody knows beforehand who meets whom, but each meeting
 * has two arrivals that no other meeting has, so after its nth a thread knows of 2n at least. */
enum { CROWD = 6, MEETING = 2, MEETINGS = 3000 };

static void *meet(void *arg)
{
    int me = (int)(intptr_t)arg;
    for (uint32_t i = 1; i <= MEETINGS; i++) {
        harness_tell(me, i);
        int result = pthread_barrier_wait(&barrier);
        CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
        uint32_t arrivals = 0;
        for (int j = 0; j < CROWD; j++)
            arrivals += harness_knows(j);
        CHECK(!harness_is_exact() || arrivals >= MEETING * i);
        harness_forget();
    }
    return NULL;
}

static void test_crowd(void)
{
    pthread_t threads[CROWD];
    CHECK(pthread_barrier_init(&barrier, NULL, MEETING) == 0);
    for (int i = 0; i < CROWD; i++)
        CHECK(pthread_create(&threads[i], NULL, meet, (void *)(intptr_t)i) == 0);
    for (int i = 0; i < CROWD; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(pthread_barrier_destroy(&barrier) == 0);
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
    test_phases();
    test_crowd();
    test_reuse();
    test_untracked();
    test_phases();
    return 0;
}
