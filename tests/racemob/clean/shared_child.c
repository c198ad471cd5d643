/* SPDX-License-Identifier: Apache-2.0 */
/* Memory shared with a forked child: waitpid comes after all the child did, and the fork after all
 * the parent did before it. */
#include "../program.h"
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static long *shared;

static void *fill(void *arg)
{
    shared[0] = 1;
    return arg;
}

int main(void)
{
    pthread_t thread;
    int status;
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must(shared != MAP_FAILED);
    start(&thread, fill, NULL);
    if (unforeseen(1))
        finish(thread);
    pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        start(&thread, fill, NULL);
        if (unforeseen(1))
            finish(thread);
        shared[0]++;
        shared[1] = 5;
        _exit(0);
    }
    must(waitpid(child, &status, 0) == child && status == 0);
    start(&thread, fill, NULL);
    if (unforeseen(1))
        finish(thread);
    must(shared[0] == 1 && shared[1] == 5);
    shared[1] = 0;
    return 0;
}
