/* SPDX-License-Identifier: Apache-2.0 */
/* A semaphore hands one value over; another is touched on both sides without waiting. */
#include "program.h"
#include <semaphore.h>

static int message, counter;
static sem_t full;

static void *send(void *arg)
{
    message = next();
    sem_post(&full);
    counter += next(); // RACE
    return arg;
}

static void *receive(void *arg)
{
    sem_wait(&full);
    keep((unsigned long)message);
    counter -= next(); // RACE
    return arg;
}

int main(void)
{
    pthread_t a, b;
    sem_init(&full, 0, 0);
    start(&a, send, NULL);
    start(&b, receive, NULL);
    finish(a);
    finish(b);
    keep((unsigned long)(message + counter)); // NORACE
    return 0;
}
