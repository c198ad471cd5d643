/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Figure 6 of the AtexRace paper: two functions with two ways through each. They race on x when the
 * first way of f5 meets the second of f6, and on y the other way round. The pair of functions is
 * well known when the race on y begins: only bursts find it.
 *
 * LiteRace watches calls 1 to 10, 101 to 110 and 1,101 to 1,110 of each: none of those that race on
 * y, which are 401 to 1,040.
 */
#include "rounds.h"

enum { LIMIT = 100, ONE_WAY = 10, ALL = 26 };

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static long x, y;

__attribute__((noinline)) static void f5(long i)
{
    if (i < LIMIT) {
        pthread_mutex_lock(&m);
        x++; // RACE: x
        pthread_mutex_unlock(&m);
    } else {
        pthread_mutex_lock(&n);
        x += y; // RACE: y
        pthread_mutex_unlock(&n);
    }
}

__attribute__((noinline)) static void f6(long j)
{
    if (j < LIMIT) {
        pthread_mutex_lock(&m);
        y++; // RACE: y
        pthread_mutex_unlock(&m);
    } else {
        pthread_mutex_lock(&n);
        y += x; // RACE: x
        pthread_mutex_unlock(&n);
    }
}

static void *first(void *arg)
{
    call_in_rounds(f5, 10, 0, ONE_WAY, &first_done, &second_done);
    call_in_rounds(f5, LIMIT, ONE_WAY, ALL, &first_done, &second_done);
    return arg;
}

static void *second(void *arg)
{
    call_in_rounds(f6, LIMIT, 0, ONE_WAY, &second_done, &first_done);
    call_in_rounds(f6, 10, ONE_WAY, ALL, &second_done, &first_done);
    return arg;
}

int main(void)
{
    run_both(first, second);
    return x == 0;
}
