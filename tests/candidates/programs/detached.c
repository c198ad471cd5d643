/* SPDX-License-Identifier: Apache-2.0 */
/* Nobody joins a detached thread. */
#include "program.h"
#include <semaphore.h>

static int value, earlier;
static sem_t done;

static void *work(void *arg)
{
    keep((unsigned long)earlier); // NORACE
    value = next();               // RACE
    sem_post(&done);
    return arg;
}

int main(void)
{
    pthread_t thread;
    sem_init(&done, 0, 0);
    earlier = next(); // NORACE
    start(&thread, work, NULL);
    pthread_detach(thread);
    keep((unsigned long)value); // RACE
    sem_wait(&done);
    return 0;
}
