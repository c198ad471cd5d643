/* SPDX-License-Identifier: Apache-2.0 */
/* A lost wake-up: the waiter looks once whether the work is done and then sleeps until it is woken;
 * the worker wakes nobody who did not say so before. The waiter dawdles, so all goes well; in the
 * other order it sleeps for ever. */
#include "../program.h"
#include <semaphore.h>

static sem_t bell;
static int done;

static void *wait_for_it(void *arg)
{
    nap(20000);
    if (!done) // RACE
        while (sem_wait(&bell))
            ;
    return arg;
}

static NOINLINE void say_done(void)
{
    done = 1; // RACE
}

int main(void)
{
    pthread_t thread;
    sem_init(&bell, 0, 0);
    start(&thread, wait_for_it, NULL);
    say_done();
    finish(thread);
    return 0;
}
