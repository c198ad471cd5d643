/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Order that goes through another process. A child of fork takes what one thread of its parent
 * tells it, by a semaphore, an atomic or a mutex in shared memory, and tells another thread: what
 * the first did before comes before what the second does then, though nobody in the parent sees the
 * way.
 */
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../racemob/program.h"

enum { ROUNDS = 40, WAYS = 3 };

struct shared {
    sem_t to_child, from_child;
    int flags[2];
    pthread_mutex_t lock;
    int stages[2];
};

static struct shared *shared;
static long data[WAYS]; /* of each process its own */
static sem_t heard;

static void set(int which, int value)
{
    __atomic_store_n(&shared->flags[which], value, __ATOMIC_RELEASE);
}

static void wait_for(int which, int value)
{
    while (__atomic_load_n(&shared->flags[which], __ATOMIC_ACQUIRE) < value)
        nap(20);
}

static void set_locked(int which, int value)
{
    pthread_mutex_lock(&shared->lock);
    shared->stages[which] = value;
    pthread_mutex_unlock(&shared->lock);
}

static void wait_locked(int which, int value)
{
    for (int seen = 0; seen < value; nap(20)) {
        pthread_mutex_lock(&shared->lock);
        seen = shared->stages[which];
        pthread_mutex_unlock(&shared->lock);
    }
}

static void pass_on(void)
{
    for (int i = 1; i <= ROUNDS; i++) {
        sem_wait(&shared->to_child);
        sem_post(&shared->from_child);
        wait_for(0, i);
        set(1, i);
        wait_locked(0, i);
        set_locked(1, i);
    }
}

static void *say(void *arg)
{
    for (int i = 1; i <= ROUNDS; i++) {
        data[0] = i * next();
        sem_post(&shared->to_child);
        data[1] = i * next();
        set(0, i);
        data[2] = i * next();
        set_locked(0, i);
        while (sem_wait(&heard) != 0)
            continue;
    }
    return arg;
}

static void *listen(void *arg)
{
    for (int i = 1; i <= ROUNDS; i++) {
        while (sem_wait(&shared->from_child) != 0)
            continue;
        keep((unsigned long)data[0]);
        wait_for(1, i);
        keep((unsigned long)data[1]);
        wait_locked(1, i);
        keep((unsigned long)data[2]);
        sem_post(&heard);
    }
    return arg;
}

int main(void)
{
    pthread_t threads[2];
    pthread_mutexattr_t attr;
    int status;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must(shared != MAP_FAILED);
    sem_init(&shared->to_child, 1, 0);
    sem_init(&shared->from_child, 1, 0);
    sem_init(&heard, 0, 0);
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&shared->lock, &attr);
    pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        pass_on();
        _exit(0);
    }
    must(pthread_create(&threads[0], NULL, say, NULL) == 0);
    must(pthread_create(&threads[1], NULL, listen, NULL) == 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    must(waitpid(child, &status, 0) == child && status == 0);
    return 0;
}
