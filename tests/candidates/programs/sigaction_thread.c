/* SPDX-License-Identifier: Apache-2.0 */
/* A handler set with sigaction and a thread touch the same variable. */
#include "program.h"
#include <signal.h>

static int counter;

static NOINLINE void add(int n)
{
    counter += n; // RACE: update, all
}

static void on_signal(int number)
{
    add(number);
}

static void *work(void *arg)
{
    counter -= next(); // RACE: all
    return arg;
}

int main(void)
{
    pthread_t thread;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    sigaction(SIGUSR1, &action, NULL);
    start(&thread, work, NULL);
    add(next());
    raise(SIGUSR1);
    finish(thread);
    return 0;
}
