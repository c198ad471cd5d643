/* SPDX-License-Identifier: Apache-2.0 */
/* The third of the paper's benchmarks, in another shape: T0 and T1 both ring the same bell, and T2
 * waits for one ring before it touches x. T1 sleeps, so the ring is T0's, which wrote x before, and
 * that looks like an order; had T1 been the first to ring, nothing would order T0 and T2. */
#include "../program.h"

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int x, rings;

static void ring(void)
{
    pthread_mutex_lock(&gate);
    rings++; // NORACE
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&gate);
}

static void *t0(void *arg)
{
    x = next(); // RACE: x
    ring();
    return arg;
}

static void *t1(void *arg)
{
    nap(100000);
    ring();
    return arg;
}

static void *t2(void *arg)
{
    pthread_mutex_lock(&gate);
    while (!rings) // NORACE
        pthread_cond_wait(&changed, &gate);
    pthread_mutex_unlock(&gate);
    keep((unsigned long)x); // RACE: x
    return arg;
}

int main(void)
{
    pthread_t a, b, c;
    start(&c, t2, NULL);
    start(&a, t0, NULL);
    start(&b, t1, NULL);
    finish(a);
    finish(b);
    finish(c);
    x = next(); // NORACE
    return 0;
}
// TSAN: misses, the accidental order is nearly always there
