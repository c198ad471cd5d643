/* SPDX-License-Identifier: Apache-2.0 */
/* A queued signal brings its handler a block that a thread still writes. */
#include "program.h"
#include <signal.h>
#include <unistd.h>

struct job {
    int count;
};

static void on_signal(int number, siginfo_t *info, void *context)
{
    struct job *job = info->si_value.sival_ptr;
    (void)number;
    (void)context;
    job->count += 2; // RACE: all
}

static void *work(void *arg)
{
    struct job *job = malloc(sizeof *job);
    union sigval value = {.sival_ptr = job};
    job->count = next(); // NORACE
    sigqueue(getpid(), SIGRTMIN, value);
    job->count -= next(); // RACE: all
    return arg;
}

int main(void)
{
    pthread_t thread;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGRTMIN, &action, NULL);
    start(&thread, work, NULL);
    finish(thread);
    return 0;
}
// TSAN: cannot, it says that the handler changes errno, and takes it for part of its thread
