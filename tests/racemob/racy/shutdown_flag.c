/* SPDX-License-Identifier: Apache-2.0 */
/* Workers drain a mailbox under its lock, but look at the server's shutdown flag without any, and
 * the main thread sets it without any, too. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define WORKERS 2

struct mail {
    int kind;
    int payload;
    struct mail *next;
};

struct server {
    pthread_mutex_t lock;
    struct mail *inbox;
    long handled[3];
    int shutting_down;
};

static void post(struct server *s, int kind, int payload)
{
    struct mail *m = malloc(sizeof *m);
    if (!m)
        abort();
    m->kind = kind;
    m->payload = payload;
    pthread_mutex_lock(&s->lock);
    m->next = s->inbox;
    s->inbox = m;
    pthread_mutex_unlock(&s->lock);
}

static struct mail *take(struct server *s)
{
    pthread_mutex_lock(&s->lock);
    struct mail *m = s->inbox;
    if (m)
        s->inbox = m->next;
    pthread_mutex_unlock(&s->lock);
    return m;
}

static void handle(struct server *s, struct mail *m)
{
    pthread_mutex_lock(&s->lock);
    s->handled[m->kind] += m->payload;
    pthread_mutex_unlock(&s->lock);
    free(m);
}

static int must_stop(const struct server *s)
{
    return s->shutting_down; // RACE
}

static void *worker(void *arg)
{
    struct server *s = arg;
    for (int round = 0; round < 100 && !must_stop(s); round++) {
        struct mail *m = take(s);
        if (m)
            handle(s, m);
        else
            usleep(500);
    }
    return NULL;
}

static void shut_down(struct server *s)
{
    s->shutting_down = 1; // RACE
}

int main(void)
{
    struct server *s = calloc(1, sizeof *s);
    pthread_t threads[WORKERS];
    if (!s)
        return 1;
    pthread_mutex_init(&s->lock, NULL);
    for (int i = 0; i < 30; i++)
        post(s, i % 3, i);
    for (int i = 0; i < WORKERS; i++)
        if (pthread_create(&threads[i], NULL, worker, s))
            abort();
    usleep(5000);
    shut_down(s);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    int left = 0;
    for (struct mail *m; (m = take(s)) != NULL; free(m))
        left++;
    printf("handled %ld %ld %ld, %d left\n", s->handled[0], s->handled[1], s->handled[2], left);
    pthread_mutex_destroy(&s->lock);
    free(s);
    return 0;
}
