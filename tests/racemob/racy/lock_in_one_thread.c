/* SPDX-License-Identifier: Apache-2.0 */
/* Only one thread knows that there is a lock; main changes the data while the other runs. */
#include "../program.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    long hits, misses;
} statistics;

static void *work(void *arg)
{
    for (int i = 0; i < 5; i++) {
        pthread_mutex_lock(&lock);
        statistics.hits++;   // RACE: hits
        statistics.misses++; // NORACE
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void)
{
    pthread_t thread;
    start(&thread, work, NULL);
    statistics.hits = next(); // RACE: hits
    finish(thread);
    keep((unsigned long)(statistics.hits + statistics.misses)); // NORACE
    return 0;
}
