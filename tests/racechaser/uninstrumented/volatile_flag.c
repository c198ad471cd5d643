/* SPDX-License-Identifier: Apache-2.0 */
/* No race: a volatile flag, set by a signal handler that may run in any thread. */
#include "subject.h"
#include <signal.h>

static volatile sig_atomic_t value;
static int over;

static void *reset(void *arg)
{
    value = 0;
    return arg;
}

static void handle(int signal)
{
    (void)signal;
    value = !value;
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
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    pthread_t a, never;
    sigaction(SIGUSR1, &action, NULL);
    if (unforeseen(0))
        start(&never, reset, NULL);
    start(&a, look, NULL);
    while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
        kill(getpid(), SIGUSR1);
        rest();
    }
    finish(a);
    return 0;
}
