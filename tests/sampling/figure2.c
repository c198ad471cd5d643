/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Figure 2 of the AtexRace paper: one thread calls f1 and then f2, the other f3 and then f4. Each
 * function holds a lock, but f1 and f4 do not hold the same, so they race on y.
 *
 * The other thread comes to f4 when f1 has been called 1,200 times. LiteRace watches its calls 1 to
 * 10, 101 to 110, 1,101 to 1,110 and 11,101 to 11,110: none of those beside f4. The earlier ones
 * are ordered before f4, because f3 has taken the same lock since.
 */
#include "rounds.h"

#ifndef WEIGHT
#define WEIGHT 1 /* another one makes another f4 */
#endif

enum { ALONE = 30, BESIDE = 80 };

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static long x, y;

__attribute__((noinline)) static void f1(long i)
{
    pthread_mutex_lock(&m);
    x += i;
    y += i; // RACE
    pthread_mutex_unlock(&m);
}

__attribute__((noinline)) static void f2(long i)
{
    pthread_mutex_lock(&n);
    y += i;
    pthread_mutex_unlock(&n);
}

__attribute__((noinline)) static void f3(long j)
{
    pthread_mutex_lock(&m);
    x += j;
    pthread_mutex_unlock(&m);
}

__attribute__((noinline)) static void f4(long j)
{
    pthread_mutex_lock(&n);
    y += j * WEIGHT; // RACE
    pthread_mutex_unlock(&n);
}

static void *first(void *arg)
{
    call_in_rounds(f1, 1, 0, BESIDE, &first_done, &second_done);
    call_in_rounds(f2, 1, BESIDE, BESIDE + ALONE, &first_done, &second_done);
    return arg;
}

static void *second(void *arg)
{
    call_in_rounds(f3, 1, 0, ALONE, &second_done, &first_done);
    f3(1); /* after the 1,200th call of f1 */
    call_in_rounds(f4, 1, ALONE, BESIDE + ALONE, &second_done, &first_done);
    return arg;
}

int main(void)
{
    run_both(first, second);
    return x == 0 || y == 0;
}
