/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of whole contexts that others update member by member: under a lock; handed over by a
 * semaphore; of blocks that are given back and come again to another thread; and of a variable on
 * the stack of a thread that has ended. */
#include <semaphore.h>
#include <string.h>

#include "../program.h"

enum { ROUNDS = 60, STATE = 500 };

struct context {
    long frame;
    int state[STATE];
};

static struct context working;
static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static struct context *mailbox;
static sem_t full, empty;

static void *update(void *arg)
{
    for (int i = 0; i < ROUNDS * 10; i++) {
        pthread_mutex_lock(&locks[unforeseen(1)]);
        for (int k = 0; k < 20; k++)
            working.state[(i + k * next()) % STATE] = i;
        pthread_mutex_unlock(&locks[unforeseen(1)]);
    }
    return arg;
}

static void *snapshot(void *arg)
{
    struct context *mine = malloc(sizeof *mine);
    must(mine != NULL);
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&locks[unforeseen(1)]);
        memcpy(mine, &working, sizeof *mine);
        pthread_mutex_unlock(&locks[unforeseen(1)]);
        keep((unsigned long)mine->state[i]);
        nap(100);
    }
    free(mine);
    return arg;
}

/* Blocks go from one to the other, who gives them back; the first may get them again. */
static void *produce(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        struct context *made = malloc(sizeof *made);
        must(made != NULL);
        memset(made, 0, sizeof *made);
        for (int k = 0; k < STATE; k++)
            made->state[k] = i + next();
        sem_wait(&empty);
        mailbox = made;
        sem_post(&full);
    }
    return arg;
}

static void *consume(void *arg)
{
    struct context last;
    for (int i = 0; i < ROUNDS; i++) {
        sem_wait(&full);
        struct context *got = mailbox;
        sem_post(&empty);
        memcpy(&last, got, sizeof last);
        got->state[i % STATE]++;
        free(got);
        keep((unsigned long)last.state[STATE - 1]);
    }
    return arg;
}

/* Its stack may have been another's, who copied a context there. */
static void *copy_on_stack(void *arg)
{
    struct context local;
    memcpy(&local, arg, sizeof local);
    for (int k = 0; k < STATE; k++)
        local.state[k] += next();
    keep((unsigned long)local.state[STATE / 2]);
    return NULL;
}

int main(void)
{
    pthread_t threads[4], one;
    static struct context constant;
    sem_init(&full, 0, 0);
    sem_init(&empty, 0, 1);
    start(&threads[0], update, NULL);
    start(&threads[1], snapshot, NULL);
    start(&threads[2], produce, NULL);
    start(&threads[3], consume, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        start(&one, copy_on_stack, &constant);
        finish(one);
    }
    for (int i = 0; i < 4; i++)
        finish(threads[i]);
    keep((unsigned long)working.frame);
    return 0;
}
