/* SPDX-License-Identifier: Apache-2.0 */
/* A server with threads forks children while they run; each child has threads of its own, at the
 * addresses that the parent's have. Nothing that a process does is ordered or not with what another
 * does to its own memory. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../racemob/program.h"

enum { CHILDREN = 3, ROUNDS = 60 };

static long served, own[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *serve(void *arg)
{
    long *mine = arg;
    for (int i = 0; i < ROUNDS; i++) {
        *mine += next();
        pthread_mutex_lock(&lock);
        served += *mine;
        pthread_mutex_unlock(&lock);
        nap(50);
    }
    return arg;
}

static void start_threads(pthread_t *threads)
{
    for (int i = 0; i < 2; i++)
        must(pthread_create(&threads[i], NULL, serve, &own[unforeseen(i)]) == 0);
}

static void join_threads(pthread_t *threads)
{
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    keep((unsigned long)(served + own[0] + own[1]));
}

/* The lock may be held by a thread that the child does not have. */
static void begin_child(void)
{
    pthread_t threads[2];
    pthread_mutex_init(&lock, NULL);
    own[0] = own[1] = served = 0;
    start_threads(threads);
    join_threads(threads);
    exit(0);
}

int main(void)
{
    pthread_t threads[2];
    int status;
    start_threads(threads);
    for (int i = 0; i < CHILDREN; i++) {
        nap(500);
        pid_t child = fork();
        must(child >= 0);
        if (child == 0)
            begin_child();
    }
    join_threads(threads);
    for (int i = 0; i < CHILDREN; i++)
        must(wait(&status) > 0 && status == 0);
    return 0;
}
