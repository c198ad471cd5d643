/* SPDX-License-Identifier: Apache-2.0 */
/* A server whose children do the work, each with threads of its own: what they find out goes into
 * the same store. The parent has no thread but its first. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../racemob/program.h"

enum { CHILDREN = 3 };

static int served;

static void *serve(void *arg)
{
    for (int i = 0; i < 100; i++) {
        served += next(); // RACE
        nap(50);
    }
    return arg;
}

static void run_child(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        must(pthread_create(&threads[i], NULL, serve, NULL) == 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    keep((unsigned long)served);
    exit(0);
}

int main(void)
{
    int status;
    for (int i = 0; i < CHILDREN; i++) {
        pid_t child = fork();
        must(child >= 0);
        if (child == 0)
            run_child();
    }
    for (int i = 0; i < CHILDREN; i++)
        must(wait(&status) > 0 && status == 0);
    return 0;
}
