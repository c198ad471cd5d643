/* SPDX-License-Identifier: Apache-2.0 */
/* fork in a threaded program: the child has the memory for itself, so what it writes is in conflict
 * with nothing the parent's threads do meanwhile; parent and child speak by exit status. */
#include "../program.h"
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long counter;
static int stage;

static void *count(void *arg)
{
    while (!__atomic_load_n(&stage, __ATOMIC_RELAXED)) {
        pthread_mutex_lock(&lock);
        counter++;
        pthread_mutex_unlock(&lock);
        nap(100);
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    int status;
    start(&a, count, NULL);
    start(&b, count, NULL);
    nap(1000);
    pthread_mutex_lock(&lock);
    pid_t child = fork();
    if (child == 0) {
        counter++; /* its only thread is the one that forked, and holds the lock */
        pthread_mutex_unlock(&lock);
        for (int i = 0; i < 20; i++)
            counter = counter * 3 + next();
        _exit(counter != 0 ? 7 : 8);
    }
    pthread_mutex_unlock(&lock);
    must(child > 0);
    must(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
    tell(&stage, 1);
    finish(a);
    finish(b);
    keep((unsigned long)counter);
    return 0;
}
