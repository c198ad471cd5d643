/* SPDX-License-Identifier: Apache-2.0 */
/* Two semaphores hand a buffer to and fro, by wait, trywait and timedwait; a third is a lock. */
#include "../program.h"
#include <errno.h>
#include <sched.h>
#include <semaphore.h>

enum { ROUNDS = 30 };

static sem_t full, empty, lock;
static int buffer;
static long counter;

static void count(void)
{
    sem_wait(&lock);
    counter++;
    sem_post(&lock);
}

static void *put(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        sem_wait(&empty);
        buffer = i;
        sem_post(&full);
        count();
    }
    return arg;
}

static void take(int round)
{
    struct timespec until;
    if (round % 2) {
        while (sem_trywait(&full))
            sched_yield();
        return;
    }
    do {
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec++;
    } while (sem_timedwait(&full, &until));
}

static void *get(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        take(i);
        must(buffer == i);
        buffer = -1;
        sem_post(&empty);
        count();
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    sem_init(&full, 0, 0);
    sem_init(&empty, 0, 1);
    sem_init(&lock, 0, 1);
    start(&a, put, NULL);
    start(&b, get, NULL);
    finish(a);
    finish(b);
    must(counter == 2 * ROUNDS);
    return 0;
}
