/* SPDX-License-Identifier: Apache-2.0 */
/* Race-free: everything that readers look at while it changes is atomic, and a copy is used only
 * if the sequence was even and the same before and after. Writers exclude each other by a mutex,
 * under which also the plain count of updates is kept. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define UPDATES 60
#define READS   60

struct quote {
    long bid, ask, volume;
};

struct board {
    atomic_uint sequence;
    atomic_long bid, ask, volume;
    pthread_mutex_t writers;
    unsigned updates;
};

struct trader {
    struct board *board;
    long start;
    unsigned retries, inconsistent;
};

static void publish(struct board *b, const struct quote *q)
{
    pthread_mutex_lock(&b->writers);
    unsigned s = atomic_load_explicit(&b->sequence, memory_order_relaxed);
    atomic_store_explicit(&b->sequence, s + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&b->bid, q->bid, memory_order_relaxed);
    atomic_store_explicit(&b->ask, q->ask, memory_order_relaxed);
    atomic_store_explicit(&b->volume, q->volume, memory_order_relaxed);
    atomic_store_explicit(&b->sequence, s + 2, memory_order_release);
    b->updates++;
    pthread_mutex_unlock(&b->writers);
}

static struct quote read_quote(struct board *b, unsigned *retries)
{
    struct quote q;
    for (;;) {
        unsigned before = atomic_load_explicit(&b->sequence, memory_order_acquire);
        if (before % 2 == 0) {
            q.bid = atomic_load_explicit(&b->bid, memory_order_relaxed);
            q.ask = atomic_load_explicit(&b->ask, memory_order_relaxed);
            q.volume = atomic_load_explicit(&b->volume, memory_order_relaxed);
            atomic_thread_fence(memory_order_acquire);
            if (atomic_load_explicit(&b->sequence, memory_order_relaxed) == before)
                return q;
        }
        ++*retries;
        sched_yield();
    }
}

static void *make_market(void *arg)
{
    struct trader *t = arg;
    for (int i = 0; i < UPDATES; i++) {
        struct quote q = {t->start + i, t->start + i + 2, 3 * (t->start + i)};
        publish(t->board, &q);
    }
    return NULL;
}

static void *watch(void *arg)
{
    struct trader *t = arg;
    for (int i = 0; i < READS; i++) {
        struct quote q = read_quote(t->board, &t->retries);
        if (q.ask != q.bid + 2 || q.volume != 3 * q.bid)
            t->inconsistent++;
    }
    return NULL;
}

int main(void)
{
    struct board *board = calloc(1, sizeof *board);
    if (!board)
        return 1;
    pthread_mutex_init(&board->writers, NULL);
    struct trader traders[4] = {
        {board, 100, 0, 0}, {board, 5000, 0, 0}, {board, 0, 0, 0}, {board, 0, 0, 0}};
    pthread_t threads[4];
    publish(board, &(struct quote){1, 3, 3});
    for (int i = 0; i < 4; i++)
        if (pthread_create(&threads[i], NULL, i < 2 ? make_market : watch, &traders[i]))
            abort();
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    unsigned wrong = traders[2].inconsistent + traders[3].inconsistent;
    printf("%u updates, %u inconsistent\n", board->updates, wrong);
    pthread_mutex_destroy(&board->writers);
    free(board);
    return wrong != 0;
}
