/* SPDX-License-Identifier: Apache-2.0 */
/* A signal handler posts a semaphore; whoever waits for it comes after what the interrupted thread
 * had written, and after what the handler wrote. */
#include "../program.h"
#include <errno.h>
#include <semaphore.h>
#include <signal.h>

static sem_t bell;
static long before, inside;

static void on_signal(int number)
{
    int saved = errno;
    inside = number;
    sem_post(&bell);
    errno = saved;
}

static void *ring(void *arg)
{
    before = 5;
    pthread_kill(pthread_self(), SIGUSR1);
    return arg;
}

int main(void)
{
    pthread_t thread;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    sigaction(SIGUSR1, &action, NULL);
    sem_init(&bell, 0, 0);
    start(&thread, ring, NULL);
    while (sem_wait(&bell))
        must(errno == EINTR);
    must(before == 5 && inside == SIGUSR1);
    before = inside = 0;
    finish(thread);
    return 0;
}
// OPTIONS: -D_GNU_SOURCE
