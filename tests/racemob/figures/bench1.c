/* SPDX-License-Identifier: Apache-2.0 */
/* The first of the paper's benchmarks: two threads write x, and both pass through the same lock
 * without need. The first writes before it takes the lock, the second sleeps, takes the lock and
 * writes after it. Whenever the first is the first at the lock, an order by accident hides the
 * race; only when the second takes it before the first has given it up do the writes race. */
#include "../program.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int x;
static long passed;

static void *first(void *arg)
{
    x = next(); // RACE: x
    pthread_mutex_lock(&lock);
    passed++; // NORACE
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *second(void *arg)
{
    nap(100000);
    pthread_mutex_lock(&lock);
    passed++; // NORACE
    pthread_mutex_unlock(&lock);
    x = next(); // RACE: x
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&a, first, NULL);
    start(&b, second, NULL);
    finish(a);
    finish(b);
    keep((unsigned long)x); // NORACE
    return 0;
}
// TSAN: misses, the accidental order is nearly always there
