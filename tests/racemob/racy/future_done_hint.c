/* SPDX-License-Identifier: Apache-2.0 */
/* Whoever waits for a task first spins a little on its "done" flag, then takes the lock and waits
 * for the real state. The flag is set before the lock is taken and read without it. The first
 * task's flag is looked at before the waiter has taken any lock, and set before the worker has. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#define TASKS 5
#define SPINS 10

enum state { WAITING, FINISHED };

struct task {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    enum state state;
    long (*work)(long);
    long input, result;
    int done;
};

struct waiter {
    struct task *tasks;
    unsigned spins;
    long sum;
};

static long fibonacci(long n)
{
    long a = 0, b = 1;
    while (n-- > 0) {
        long next = a + b;
        a = b;
        b = next;
    }
    return a;
}

static long triangle(long n)
{
    return n * (n + 1) / 2;
}

static void finish(struct task *t, long result)
{
    t->done = 1; // RACE
    pthread_mutex_lock(&t->lock);
    t->result = result;
    t->state = FINISHED;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
}

static int seems_done(const struct task *t)
{
    return t->done; // RACE
}

static long get(struct task *t, unsigned *spins)
{
    for (int i = 0; i < SPINS && !seems_done(t); i++) {
        sched_yield();
        ++*spins;
    }
    pthread_mutex_lock(&t->lock);
    while (t->state != FINISHED)
        pthread_cond_wait(&t->changed, &t->lock);
    long result = t->result;
    pthread_mutex_unlock(&t->lock);
    return result;
}

static void *execute(void *arg)
{
    struct task *tasks = arg;
    for (int i = 0; i < TASKS; i++)
        finish(&tasks[i], tasks[i].work(tasks[i].input));
    return NULL;
}

static void *collect(void *arg)
{
    struct waiter *w = arg;
    for (int i = 0; i < TASKS; i++)
        w->sum += get(&w->tasks[i], &w->spins);
    return NULL;
}

int main(void)
{
    struct task *tasks = calloc(TASKS, sizeof *tasks);
    struct waiter waiter = {tasks, 0, 0};
    pthread_t worker, collector;
    if (!tasks)
        return 1;
    for (int i = 0; i < TASKS; i++) {
        pthread_mutex_init(&tasks[i].lock, NULL);
        pthread_cond_init(&tasks[i].changed, NULL);
        tasks[i].work = i % 2 ? triangle : fibonacci;
        tasks[i].input = 10 + i;
    }
    if (pthread_create(&collector, NULL, collect, &waiter) ||
        pthread_create(&worker, NULL, execute, tasks))
        abort();
    pthread_join(worker, NULL);
    pthread_join(collector, NULL);
    printf("sum %ld after %u spins\n", waiter.sum, waiter.spins);
    for (int i = 0; i < TASKS; i++) {
        pthread_cond_destroy(&tasks[i].changed);
        pthread_mutex_destroy(&tasks[i].lock);
    }
    free(tasks);
    return 0;
}
