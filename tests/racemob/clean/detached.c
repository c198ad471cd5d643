/* SPDX-License-Identifier: Apache-2.0 */
/* Detached threads, by attribute and by pthread_detach, tell by a semaphore that they are done. */
#include "../program.h"
#include <semaphore.h>

enum { THREADS = 3 };

static sem_t done;
static long part[THREADS];

static void *work(void *arg)
{
    int me = (int)(long)arg;
    part[me] = me + 1;
    sem_post(&done);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_attr_t detached;
    long sum = 0;
    sem_init(&done, 0, 0);
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    must(pthread_create(&thread, &detached, work, (void *)0L) == 0);
    for (int i = 1; i < THREADS; i++) {
        start(&thread, work, (void *)(long)i);
        pthread_detach(thread);
    }
    for (int i = 0; i < THREADS; i++)
        sem_wait(&done);
    for (int i = 0; i < THREADS; i++) {
        sum += part[i];
        part[i] = 0;
    }
    must(sum == THREADS * (THREADS + 1) / 2);
    return 0;
}
