/* SPDX-License-Identifier: Apache-2.0 */
/* The second of the paper's benchmarks: T0 and T2 write x. T0 then signals T1, which waits for it
 * and takes a lock that T3 takes after a sleep; T3 goes on to a lock that T2 takes after a longer
 * one. The signal and the locks make an order from T0 to T3, and on to T2, as long as everyone
 * sleeps as long as meant; none of it is there when T2 is early or T0 late. */
#include "../program.h"

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t near_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t far_lock = PTHREAD_MUTEX_INITIALIZER;
static int x, ready;
static long near_count, far_count;

static void *t0(void *arg)
{
    x = next(); // RACE: x
    pthread_mutex_lock(&gate);
    ready = 1; // NORACE
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&gate);
    return arg;
}

static void *t1(void *arg)
{
    pthread_mutex_lock(&gate);
    while (!ready) // NORACE
        pthread_cond_wait(&changed, &gate);
    pthread_mutex_unlock(&gate);
    pthread_mutex_lock(&near_lock);
    near_count++; // NORACE
    pthread_mutex_unlock(&near_lock);
    return arg;
}

static void *t2(void *arg)
{
    nap(120000);
    pthread_mutex_lock(&far_lock);
    far_count++; // NORACE
    pthread_mutex_unlock(&far_lock);
    x = next(); // RACE: x
    return arg;
}

static void *t3(void *arg)
{
    nap(60000);
    pthread_mutex_lock(&near_lock);
    near_count++; // NORACE
    pthread_mutex_unlock(&near_lock);
    pthread_mutex_lock(&far_lock);
    far_count++; // NORACE
    pthread_mutex_unlock(&far_lock);
    return arg;
}

int main(void)
{
    pthread_t threads[4];
    start(&threads[1], t1, NULL);
    start(&threads[0], t0, NULL);
    start(&threads[2], t2, NULL);
    start(&threads[3], t3, NULL);
    for (int i = 0; i < 4; i++)
        finish(threads[i]);
    keep((unsigned long)x); // NORACE
    return 0;
}
// TSAN: misses, the accidental order is nearly always there
