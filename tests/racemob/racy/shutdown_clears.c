/* SPDX-License-Identifier: Apache-2.0 */
/* The server wipes its table of rates at shutdown before it has joined the workers, which still
 * charge their last requests by it. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORKERS 2
#define CLASSES 24

struct server {
    long rates[CLASSES];
    pthread_mutex_t lock;
    long income;
    long requests;
    atomic_bool open;
    pthread_t threads[WORKERS];
};

static long rate_of(const struct server *s, unsigned class)
{
    return s->rates[class % CLASSES]; // RACE
}

static void book(struct server *s, long price)
{
    pthread_mutex_lock(&s->lock);
    s->income += price;
    s->requests++;
    pthread_mutex_unlock(&s->lock);
}

static void *serve(void *arg)
{
    struct server *s = arg;
    unsigned class = 3;
    for (int i = 0; i < 30; i++) {
        class = class * 5 + 1;
        book(s, rate_of(s, class));
        if (!atomic_load_explicit(&s->open, memory_order_relaxed))
            break;
        usleep(200);
    }
    book(s, rate_of(s, class + 1)); /* the closing fee */
    return NULL;
}

static struct server *server_start(void)
{
    struct server *s = calloc(1, sizeof *s);
    if (!s)
        abort();
    for (int i = 0; i < CLASSES; i++)
        s->rates[i] = 100 + i * i;
    pthread_mutex_init(&s->lock, NULL);
    atomic_init(&s->open, 1);
    for (int i = 0; i < WORKERS; i++)
        if (pthread_create(&s->threads[i], NULL, serve, s))
            abort();
    return s;
}

static void wipe(struct server *s)
{
    memset(s->rates, 0, sizeof s->rates); // RACE
}

static void server_stop(struct server *s)
{
    atomic_store_explicit(&s->open, 0, memory_order_relaxed);
    wipe(s);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(s->threads[i], NULL);
    printf("%ld requests, income %ld, left %ld\n", s->requests, s->income, s->rates[CLASSES / 2]);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

int main(void)
{
    struct server *s = server_start();
    usleep(1500);
    server_stop(s);
    return 0;
}
