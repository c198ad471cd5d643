/* SPDX-License-Identifier: Apache-2.0 */
/* A shared table is sorted and searched under a lock; the comparisons that qsort and bsearch call
 * touch it from library code, and count. */
#include "../program.h"

enum { SIZE = 16, ROUNDS = 5 };

static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int table[SIZE];
static long comparisons;

static int compare(const void *a, const void *b)
{
    comparisons++;
    return *(const int *)a - *(const int *)b;
}

static void *work(void *arg)
{
    pthread_mutex_t *lock = &locks[unforeseen(1)];
    int factor = arg ? 7 : 11;
    for (int round = 0; round < ROUNDS; round++) {
        pthread_mutex_lock(lock);
        for (int i = 0; i < SIZE; i++)
            table[i] = i * factor % SIZE;
        qsort(table, SIZE, sizeof table[0], compare);
        int wanted = 5;
        int *found = bsearch(&wanted, table, SIZE, sizeof table[0], compare);
        must(found == &table[5]);
        pthread_mutex_unlock(lock);
    }
    return arg;
}

int main(void)
{
    pthread_mutex_t *lock = &locks[unforeseen(1)];
    pthread_t a, b;
    start(&a, work, NULL);
    start(&b, work, lock);
    finish(a);
    finish(b);
    must(comparisons > 0);
    return 0;
}
