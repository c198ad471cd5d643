/* SPDX-License-Identifier: Apache-2.0 */
/* The same function that starts a thread is called twice. */
#include "program.h"

static int counter;

static void *work(void *arg)
{
    counter += next(); // RACE
    return arg;
}

static NOINLINE pthread_t launch(void)
{
    pthread_t thread;
    start(&thread, work, NULL);
    return thread;
}

int main(void)
{
    pthread_t a = launch(), b = launch();
    finish(a);
    finish(b);
    keep((unsigned long)counter);
    return 0;
}
