/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that waits for signals gets a block from the one that queues them. */
#include "program.h"
#include <signal.h>
#include <unistd.h>

struct job {
    int count;
};

static sigset_t queue;

static void *serve(void *arg)
{
    siginfo_t info;
    while (sigwaitinfo(&queue, &info) < 0)
        continue;
    struct job *job = info.si_value.sival_ptr;
    job->count += 2; // RACE: all
    return arg;
}

int main(void)
{
    pthread_t thread;
    struct job *job = malloc(sizeof *job);
    union sigval value = {.sival_ptr = job};
    sigemptyset(&queue);
    sigaddset(&queue, SIGRTMIN);
    pthread_sigmask(SIG_BLOCK, &queue, NULL);
    job->count = next(); // NORACE
    start(&thread, serve, NULL);
    sigqueue(getpid(), SIGRTMIN, value);
    job->count -= next(); // RACE: all
    finish(thread);
    return 0;
}
