/* SPDX-License-Identifier: Apache-2.0 */
/* An array of locks, indexed like the data it guards. */
#include "program.h"

enum { BUCKETS = 8 };

static pthread_mutex_t locks[BUCKETS];
static int counts[BUCKETS];

static NOINLINE void add(unsigned key)
{
    unsigned bucket = key % BUCKETS;
    pthread_mutex_lock(&locks[bucket]);
    counts[bucket] += next(); // NORACE
    pthread_mutex_unlock(&locks[bucket]);
}

static void *work(void *arg)
{
    for (unsigned i = 0; i < 20; i++)
        add(i * 3 + *(unsigned *)arg);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    unsigned seeds[2] = {1, 2};
    for (int i = 0; i < BUCKETS; i++)
        pthread_mutex_init(&locks[i], NULL);
    start(&a, work, &seeds[0]);
    start(&b, work, &seeds[1]);
    finish(a);
    finish(b);
    keep((unsigned long)counts[3]); // NORACE
    return 0;
}
