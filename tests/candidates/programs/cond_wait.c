/* SPDX-License-Identifier: Apache-2.0 */
/* A bounded buffer with condition variables: the lock is held again when a wait returns. */
#include "program.h"

enum { SIZE = 2, ITEMS = 20 };

static int buffer[SIZE], used, total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void *produce(void *arg)
{
    for (int i = 0; i < ITEMS; i++) {
        pthread_mutex_lock(&lock);
        while (used == SIZE) // NORACE
            pthread_cond_wait(&changed, &lock);
        buffer[used++] = next(); // NORACE
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

static void *consume(void *arg)
{
    for (int i = 0; i < ITEMS; i++) {
        pthread_mutex_lock(&lock);
        while (used == 0) // NORACE
            pthread_cond_wait(&changed, &lock);
        total += buffer[--used]; // NORACE
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&a, produce, NULL);
    start(&b, consume, NULL);
    finish(a);
    finish(b);
    keep((unsigned long)total); // NORACE
    return 0;
}
