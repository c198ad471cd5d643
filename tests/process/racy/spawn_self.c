/* SPDX-License-Identifier: Apache-2.0 */
/* A program that executes itself once more by posix_spawn, and works there: the work's race goes
 * into the store of the program that was started. */
#include <pthread.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../racemob/program.h"

static int level;

static void *fill(void *arg)
{
    for (int i = 0; i < 100; i++) {
        level += next(); // RACE
        nap(50);
    }
    return arg;
}

static void work(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        must(pthread_create(&threads[i], NULL, fill, NULL) == 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    keep((unsigned long)level);
}

int main(int argc, char **argv)
{
    extern char **environ;
    char *again[] = {argv[0], (char *)"again", NULL};
    pid_t child;
    int status;
    if (argc > 1) {
        work();
        return 0;
    }
    must(posix_spawn(&child, "/proc/self/exe", NULL, NULL, again, environ) == 0);
    must(waitpid(child, &status, 0) == child && status == 0);
    return 0;
}
