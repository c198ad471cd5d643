/* SPDX-License-Identifier: Apache-2.0 */
/* An array of locks, indexed differently from the data: the racy twin of lock_array.c. */
#include "program.h"

enum { BUCKETS = 8 };

static pthread_mutex_t locks[BUCKETS];
static int counts[BUCKETS];

static NOINLINE void add(unsigned key, unsigned shift)
{
    unsigned bucket = key % BUCKETS, lock = (key + shift) % BUCKETS;
    pthread_mutex_lock(&locks[lock]);
    counts[bucket] += next(); // RACE
    pthread_mutex_unlock(&locks[lock]);
}

static void *work(void *arg)
{
    for (unsigned i = 0; i < 4; i++)
        add(i, *(unsigned *)arg);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    unsigned seeds[2] = {2, 1};
    for (int i = 0; i < BUCKETS; i++)
        pthread_mutex_init(&locks[i], NULL);
    start(&a, work, &seeds[0]);
    start(&b, work, &seeds[1]);
    finish(a);
    finish(b);
    keep((unsigned long)counts[3]); // NORACE
    return 0;
}
