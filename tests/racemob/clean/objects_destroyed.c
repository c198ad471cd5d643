/* SPDX-License-Identifier: Apache-2.0 */
/* Who sees that he is the last to use a lock, condition, semaphore or barrier destroys it, and
 * gives its memory back: the object's own order is enough. */
#include <semaphore.h>
#include <stdlib.h>

#include "../program.h"

enum { ROUNDS = 60 };

struct shared {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    pthread_barrier_t barrier;
    sem_t done;
    int users, is_ready;
};

static void leave(struct shared *s)
{
    pthread_mutex_lock(&s->mutex);
    int left = --s->users;
    pthread_mutex_unlock(&s->mutex);
    if (left)
        return;
    pthread_mutex_destroy(&s->mutex);
    pthread_cond_destroy(&s->changed);
    free(s);
}

static void *work(void *arg)
{
    struct shared *s = arg;
    pthread_mutex_lock(&s->mutex);
    s->is_ready = 1;
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->mutex);
    pthread_barrier_wait(&s->barrier);
    sem_post(&s->done);
    leave(s);
    return arg;
}

static struct shared *make(void)
{
    struct shared *s = calloc(1, sizeof *s);
    pthread_mutex_init(&s->mutex, NULL);
    pthread_cond_init(&s->changed, NULL);
    pthread_barrier_init(&s->barrier, NULL, 2);
    sem_init(&s->done, 0, 0);
    s->users = 2;
    return s;
}

int main(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        struct shared *s = make();
        pthread_t worker;
        start(&worker, work, s);
        pthread_mutex_lock(&s->mutex);
        while (!s->is_ready)
            pthread_cond_wait(&s->changed, &s->mutex);
        pthread_mutex_unlock(&s->mutex);
        pthread_barrier_wait(&s->barrier);
        pthread_barrier_destroy(&s->barrier);
        while (sem_wait(&s->done) != 0)
            ;
        sem_destroy(&s->done);
        leave(s);
        finish(worker);
    }
    return 0;
}
