/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pthread_once: a thread that returns from it comes after the function; the function runs once,
 * also when calls are nested in it.
 */
#include <pthread.h>

#include "harness.h"

enum { THREADS = 4, ROUNDS = 2000 };

static pthread_once_t controls[ROUNDS];
static _Atomic int runs;

static void initialise(void)
{
    harness_tell(1, (uint32_t)atomic_fetch_add(&runs, 1) + 1);
}

/* Whoever comes first does it; the others know it when they pass. */
static void *pass_all(void *arg)
{
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        CHECK(pthread_once(&controls[i], initialise) == 0);
        CHECK(atomic_load(&runs) >= i + 1);
        CHECK_KNOWS(1, i + 1);
        harness_forget();
    }
    return NULL;
}

static void test_race(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, pass_all, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(atomic_load(&runs) == ROUNDS);
    harness_forget();
}

static pthread_once_t outer = PTHREAD_ONCE_INIT, inner = PTHREAD_ONCE_INIT;
static int order[4], steps;

static void do_inner(void)
{
    order[steps++] = 2;
}

static void do_outer(void)
{
    order[steps++] = 1;
    CHECK(pthread_once(&inner, do_inner) == 0);
    order[steps++] = 3;
}

static void test_nested(void)
{
    CHECK(pthread_once(&outer, do_outer) == 0);
    CHECK(steps == 3 && order[0] == 1 && order[1] == 2 && order[2] == 3);
    EXPECT({RT_SYNC_ONCE_DONE, &inner}, {RT_SYNC_ONCE_PASS, &inner}, {RT_SYNC_ONCE_DONE, &outer},
           {RT_SYNC_ONCE_PASS, &outer});
    CHECK(pthread_once(&outer, do_outer) == 0 && pthread_once(&inner, do_inner) == 0);
    CHECK(steps == 3);
    EXPECT({RT_SYNC_ONCE_PASS, &outer}, {RT_SYNC_ONCE_PASS, &inner});
}

/* A thread cancelled in the function leaves it undone; the next one does it. */
static pthread_once_t interrupted = PTHREAD_ONCE_INIT;
static bool shall_end;

static void end_or_do(void)
{
    if (shall_end)
        pthread_exit(NULL);
    steps++;
}

static void *end_inside(void *arg)
{
    (void)arg;
    pthread_once(&interrupted, end_or_do);
    CHECK(!"ended in the function");
    return NULL;
}

static void test_interrupted(void)
{
    pthread_t thread;
    int before = steps;
    shall_end = true;
    CHECK(pthread_create(&thread, NULL, end_inside, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    shall_end = false;
    harness_forget();
    CHECK(pthread_once(&interrupted, end_or_do) == 0 && steps == before + 1);
    EXPECT({RT_SYNC_ONCE_DONE, &interrupted}, {RT_SYNC_ONCE_PASS, &interrupted});
}

int main(void)
{
    harness_forget();
    test_race();
    test_nested();
    test_interrupted();
    return 0;
}
