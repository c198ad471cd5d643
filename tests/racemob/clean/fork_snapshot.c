/* SPDX-License-Identifier: Apache-2.0 */
/* Race-free: both balances are changed under one mutex. The handlers of pthread_atfork take it
 * before a fork and give it back afterwards in parent and child, so the child's copy is never half
 * changed; the child has only one thread. Main reads the balances after the joins. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define CLERKS    2
#define TRANSFERS 400
#define SNAPSHOTS 3
#define TOTAL     10000

struct bank {
    pthread_mutex_t lock;
    long checking, savings;
    unsigned forks;
};

struct clerk {
    struct bank *bank;
    long step;
};

static struct bank bank = {.lock = PTHREAD_MUTEX_INITIALIZER, .checking = TOTAL};

static void before_fork(void)
{
    pthread_mutex_lock(&bank.lock);
}

static void after_fork_in_parent(void)
{
    bank.forks++;
    pthread_mutex_unlock(&bank.lock);
}

static void after_fork_in_child(void)
{
    pthread_mutex_unlock(&bank.lock);
}

static void move(struct bank *b, long amount)
{
    pthread_mutex_lock(&b->lock);
    b->checking -= amount;
    b->savings += amount;
    pthread_mutex_unlock(&b->lock);
}

static void *work(void *arg)
{
    struct clerk *c = arg;
    for (int i = 0; i < TRANSFERS; i++)
        move(c->bank, i % 2 ? -c->step : c->step + 1);
    return NULL;
}

static int balanced(struct bank *b)
{
    pthread_mutex_lock(&b->lock);
    int fine = b->checking + b->savings == TOTAL;
    pthread_mutex_unlock(&b->lock);
    return fine;
}

static int take_snapshot(struct bank *b)
{
    int status;
    pid_t child = fork();
    if (child < 0)
        return 0;
    if (child == 0)
        _exit(balanced(b) ? 0 : 1);
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return 1;
    return !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
    struct clerk clerks[CLERKS] = {{&bank, 3}, {&bank, 11}};
    pthread_t threads[CLERKS];
    int wrong = 0;
    if (pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child))
        return 1;
    for (int i = 0; i < CLERKS; i++)
        if (pthread_create(&threads[i], NULL, work, &clerks[i]))
            abort();
    for (int i = 0; i < SNAPSHOTS; i++)
        wrong += take_snapshot(&bank);
    for (int i = 0; i < CLERKS; i++)
        pthread_join(threads[i], NULL);
    printf("%ld and %ld, %u forks, %d wrong\n", bank.checking, bank.savings, bank.forks, wrong);
    return wrong || bank.checking + bank.savings != TOTAL;
}
