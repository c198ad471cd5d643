/* SPDX-License-Identifier: Apache-2.0 */
/* A library or plugin that keeps a count: one function adds to it without a lock, one with. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long visits, guarded;

void library_visit(void)
{
    visits++; // RACE
    pthread_mutex_lock(&lock);
    guarded++;
    pthread_mutex_unlock(&lock);
}

long library_sum(void)
{
    pthread_mutex_lock(&lock);
    long sum = guarded;
    pthread_mutex_unlock(&lock);
    return sum;
}
