/* SPDX-License-Identifier: Apache-2.0 */
/* A normal mutex, made by its initialiser and by pthread_mutex_init, orders every access. */
#include "../program.h"

enum { THREADS = 3, ROUNDS = 50 };

static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t made;
static long counter, other;

static void *count(void *arg)
{
    pthread_mutex_t *lock = &locks[unforeseen(1)];
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(lock);
        counter++;
        pthread_mutex_unlock(lock);
        pthread_mutex_lock(&made);
        other++;
        pthread_mutex_unlock(&made);
    }
    return arg;
}

int main(void)
{
    pthread_t threads[THREADS];
    pthread_mutex_init(&made, NULL);
    for (int i = 0; i < THREADS; i++)
        start(&threads[i], count, NULL);
    for (int i = 0; i < THREADS; i++)
        finish(threads[i]);
    pthread_mutex_destroy(&made);
    must(counter == THREADS * ROUNDS && other == THREADS * ROUNDS);
    return 0;
}
