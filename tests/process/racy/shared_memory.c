/* SPDX-License-Identifier: Apache-2.0 */
/* Two threads race in memory that their process shares with another, which only waits: found in the
 * process, by a collision, since order might come from the other one. */
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../racemob/program.h"

static int *level;

static void *fill(void *arg)
{
    for (int i = 0; i < 100; i++) {
        *level += next(); // RACE
        nap(50);
    }
    return arg;
}

int main(void)
{
    pthread_t threads[2];
    int status;
    level = mmap(NULL, sizeof *level, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must(level != MAP_FAILED);
    pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        nap(2000);
        _exit(*level < 0);
    }
    for (int i = 0; i < 2; i++)
        must(pthread_create(&threads[i], NULL, fill, NULL) == 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    must(waitpid(child, &status, 0) == child && status == 0);
    keep((unsigned long)*level);
    return 0;
}
