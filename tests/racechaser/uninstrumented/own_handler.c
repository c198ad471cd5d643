/* SPDX-License-Identifier: Apache-2.0 */
/* No race: what changes the value is a signal handler of the very thread that is paused. */
#include "subject.h"
#include <signal.h>

static long value;
static int over;
static pthread_t looker;

static void *reset(void *arg)
{
    value = 0;
    return arg;
}

static void handle(int signal)
{
    long next = signal + 1;
    if (value == next)
        next++;
    copy_of_libc(&value, &next, sizeof next);
}

static void *look(void *arg)
{
    for (int i = 0; i < LOOKS; i++) {
        keep((unsigned long)value);
        rest();
    }
    tell(&over, 1);
    return arg;
}

int main(void)
{
    sigset_t usual;
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    pthread_t never;
    sigaction(SIGUSR1, &action, NULL);
    if (unforeseen(0))
        start(&never, reset, NULL);
    start(&looker, look, NULL);
    sigemptyset(&usual);
    sigaddset(&usual, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &usual, NULL);
    while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
        pthread_kill(looker, SIGUSR1);
        rest();
    }
    finish(looker);
    return 0;
}
