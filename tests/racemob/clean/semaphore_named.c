/* SPDX-License-Identifier: Apache-2.0 */
/* A named semaphore, opened by each thread on its own, hands the data over. */
#include "../program.h"
#include <fcntl.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

static char name[64];
static long data;

static void *send(void *arg)
{
    sem_t *bell = sem_open(name, 0);
    must(bell != SEM_FAILED);
    data = 9;
    sem_post(bell);
    sem_close(bell);
    return arg;
}

static void *receive(void *arg)
{
    sem_t *bell = sem_open(name, 0);
    must(bell != SEM_FAILED);
    sem_wait(bell);
    must(data == 9);
    data = 0;
    sem_close(bell);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    snprintf(name, sizeof name, "/racehive-test-%ld", (long)getpid());
    sem_t *bell = sem_open(name, O_CREAT | O_EXCL, 0600, 0);
    must(bell != SEM_FAILED);
    start(&a, receive, NULL);
    start(&b, send, NULL);
    finish(a);
    finish(b);
    sem_close(bell);
    sem_unlink(name);
    return 0;
}
