/* SPDX-License-Identifier: Apache-2.0 */
/* A semaphore that lets two in is no lock. */
#include "../program.h"
#include <semaphore.h>

static sem_t room, lock;
static long shared, guarded;

static void *work(void *arg)
{
    sem_wait(&room);
    shared += next(); // RACE
    sem_wait(&lock);
    guarded += next(); // NORACE
    sem_post(&lock);
    sem_post(&room);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    sem_init(&room, 0, 2);
    sem_init(&lock, 0, 1);
    start(&a, work, NULL);
    start(&b, work, NULL);
    finish(a);
    finish(b);
    keep((unsigned long)(shared + guarded)); // NORACE
    return 0;
}
// TSAN: misses, to it every post comes before every later wait
