/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers of exit run once, in the thread that ends the process: not with themselves in another
 * thread, and not in a handler of a signal. But threads that still run race with them. */
#include "program.h"

#include <signal.h>

static int flushed, counted, last_signal;

static void flush(void)
{
    flushed += next();            // NORACE
    keep((unsigned long)counted); // RACE
}

static void handle(int number)
{
    last_signal = number;
}

static void *work(void *arg)
{
    for (int i = 0; i < 1000; i++)
        counted = next(); // RACE
    return arg;
}

int main(void)
{
    pthread_t thread;
    atexit(flush);
    signal(SIGUSR1, handle);
    start(&thread, work, NULL);
    return 0;
}
