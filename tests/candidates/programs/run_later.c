/* SPDX-License-Identifier: Apache-2.0 */
// TSAN: cannot, it waits for ever when main has forked and ends before others
/* What was given to a library to be called later, and is called by the main thread: when it forks,
 * and when it ends. */
#include <sys/wait.h>
#include <unistd.h>

#include "program.h"

static long forks, value;
static pthread_key_t key;

static void prepare(void)
{
    forks = 1; // RACE: fork
}

static void destroy(void *at)
{
    *(long *)at = 2; // RACE: end
}

static void *work(void *arg)
{
    keep((unsigned long)forks); // RACE: fork
    keep((unsigned long)value); // RACE: end
    return arg;
}

int main(void)
{
    pthread_t thread;
    if (pthread_atfork(prepare, NULL, NULL) || pthread_key_create(&key, destroy) ||
        pthread_setspecific(key, &value))
        return 1;
    start(&thread, work, NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    pthread_exit(NULL);
}
