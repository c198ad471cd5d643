/* SPDX-License-Identifier: Apache-2.0 */
/* A program that goes into the background, as a daemon does, and works there: the run lasts until that
 * has ended, too. */
#include <pthread.h>
#include <unistd.h>

#include "../../racemob/program.h"

static int served;

static void *serve(void *arg)
{
    for (int i = 0; i < 100; i++) {
        served += next(); // RACE
        nap(2000);
    }
    return arg;
}

int main(void)
{
    pthread_t threads[2];
    must(daemon(1, 1) == 0);
    nap(300000); /* long after the program has seemed to end */
    for (int i = 0; i < 2; i++)
        must(pthread_create(&threads[i], NULL, serve, NULL) == 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    keep((unsigned long)served);
    return 0;
}
