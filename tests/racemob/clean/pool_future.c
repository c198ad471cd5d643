/* SPDX-License-Identifier: Apache-2.0 */
/* Race-free: a job is made by main and passes to a worker under the pool's mutex. Its future has a
 * mutex of its own, under which the result is set and read, and two references, dropped with
 * acq_rel decrements; whoever drops the last one comes after the other and frees it. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORKERS 2
#define JOBS    14

struct future {
    atomic_int references;
    pthread_mutex_t lock;
    pthread_cond_t set;
    int is_set;
    void *value;
};

struct job {
    void *(*run)(void *);
    void *argument;
    struct future *future;
    struct job *next;
};

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    struct job *first, **last;
    int closed;
    pthread_t threads[WORKERS];
};

static struct future *future_new(void)
{
    struct future *f = malloc(sizeof *f);
    if (!f)
        abort();
    atomic_init(&f->references, 2);
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->set, NULL);
    f->is_set = 0;
    f->value = NULL;
    return f;
}

static void future_drop(struct future *f)
{
    if (atomic_fetch_sub_explicit(&f->references, 1, memory_order_acq_rel) == 1) {
        pthread_cond_destroy(&f->set);
        pthread_mutex_destroy(&f->lock);
        free(f);
    }
}

static void future_set(struct future *f, void *value)
{
    pthread_mutex_lock(&f->lock);
    f->value = value;
    f->is_set = 1;
    pthread_cond_signal(&f->set);
    pthread_mutex_unlock(&f->lock);
    future_drop(f);
}

static void *future_get(struct future *f)
{
    pthread_mutex_lock(&f->lock);
    while (!f->is_set)
        pthread_cond_wait(&f->set, &f->lock);
    void *value = f->value;
    pthread_mutex_unlock(&f->lock);
    future_drop(f);
    return value;
}

static void *worker(void *arg)
{
    struct pool *p = arg;
    for (;;) {
        pthread_mutex_lock(&p->lock);
        while (!p->first && !p->closed)
            pthread_cond_wait(&p->filled, &p->lock);
        struct job *j = p->first;
        if (j && !(p->first = j->next))
            p->last = &p->first;
        pthread_mutex_unlock(&p->lock);
        if (!j)
            return NULL;
        future_set(j->future, j->run(j->argument));
        free(j);
    }
}

static struct future *submit(struct pool *p, void *(*run)(void *), void *argument)
{
    struct job *j = malloc(sizeof *j);
    if (!j)
        abort();
    struct future *f = future_new();
    *j = (struct job){run, argument, f, NULL};
    pthread_mutex_lock(&p->lock);
    *p->last = j;
    p->last = &j->next;
    pthread_cond_signal(&p->filled);
    pthread_mutex_unlock(&p->lock);
    return f;
}

static void *reverse(void *arg)
{
    char *text = arg;
    for (size_t i = 0, n = strlen(text); i < n / 2; i++) {
        char c = text[i];
        text[i] = text[n - 1 - i];
        text[n - 1 - i] = c;
    }
    return text;
}

static void pool_start(struct pool *p)
{
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->filled, NULL);
    p->first = NULL;
    p->last = &p->first;
    p->closed = 0;
    for (int i = 0; i < WORKERS; i++)
        if (pthread_create(&p->threads[i], NULL, worker, p))
            abort();
}

static void pool_stop(struct pool *p)
{
    pthread_mutex_lock(&p->lock);
    p->closed = 1;
    pthread_cond_broadcast(&p->filled);
    pthread_mutex_unlock(&p->lock);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(p->threads[i], NULL);
}

int main(void)
{
    struct pool pool;
    struct future *futures[JOBS];
    int wrong = 0;
    pool_start(&pool);
    for (int i = 0; i < JOBS; i++) {
        char *text = malloc(16);
        if (!text)
            abort();
        snprintf(text, 16, "word%04d", i * 37);
        futures[i] = submit(&pool, reverse, text);
    }
    for (int i = 0; i < JOBS; i++) {
        char *text = reverse(future_get(futures[i]));
        wrong += atoi(text + 4) != i * 37;
        free(text);
    }
    pool_stop(&pool);
    printf("%d wrong\n", wrong);
    return wrong;
}
