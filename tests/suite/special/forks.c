/* SPDX-License-Identifier: Apache-2.0 */
/* Children of a fork without exec start threads that share and race, as their parent does. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILDREN = 3, ROUNDS = 500 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile long counted, shared;

static void *work(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&lock);
        counted++;
        pthread_mutex_unlock(&lock);
    }
    shared++; // RACE: child
    return arg;
}

static int run(void)
{
    pthread_t a, b;
    counted = 0;
    if (pthread_create(&a, NULL, work, NULL) || pthread_create(&b, NULL, work, NULL))
        return 1;
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return counted != 2 * ROUNDS;
}

int main(void)
{
    int failed = 0;
    for (int i = 0; i < CHILDREN; i++) {
        pid_t child = fork();
        if (child == 0)
            _exit(run());
        int status = 1;
        waitpid(child, &status, 0);
        failed |= status;
    }
    return run() || failed;
}
