/* SPDX-License-Identifier: Apache-2.0 */
/* A broadcast, sent after the unlock, starts several threads; they come after what was written
 * before the flag, and the writer comes after them again. */
#include "../program.h"

enum { THREADS = 3, ROUNDS = 10 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t begun = PTHREAD_COND_INITIALIZER, ended = PTHREAD_COND_INITIALIZER;
static int round_number, working;
static long data;

static void *work(void *arg)
{
    for (int i = 1; i <= ROUNDS; i++) {
        pthread_mutex_lock(&lock);
        while (round_number < i)
            pthread_cond_wait(&begun, &lock);
        pthread_mutex_unlock(&lock);
        must(data == i);
        pthread_mutex_lock(&lock);
        if (--working == 0)
            pthread_cond_broadcast(&ended);
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        start(&threads[i], work, NULL);
    for (int i = 1; i <= ROUNDS; i++) {
        data++;
        pthread_mutex_lock(&lock);
        round_number = i;
        working = THREADS;
        pthread_mutex_unlock(&lock);
        pthread_cond_broadcast(&begun);
        pthread_mutex_lock(&lock);
        while (working)
            pthread_cond_wait(&ended, &lock);
        pthread_mutex_unlock(&lock);
    }
    for (int i = 0; i < THREADS; i++)
        finish(threads[i]);
    return 0;
}
