/* SPDX-License-Identifier: Apache-2.0 */
/* Race-free: the stock and the flag for closing are read and changed under one mutex only. Three
 * kinds of waiters with different predicates share one condition, so each change is broadcast. What
 * the clerks count for themselves is read by main after the joins. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum goods { WOOD, NAILS, PAINT, KINDS };

#define ROUNDS 12

struct warehouse {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned stock[KINDS];
    unsigned shipped;
    int closed;
};

struct order {
    unsigned need[KINDS];
};

struct clerk {
    struct warehouse *house;
    struct order order;
    unsigned filled;
};

struct supplier {
    struct warehouse *house;
    enum goods kind;
    unsigned amount, limit;
};

static int enough(const struct warehouse *w, const struct order *o)
{
    for (int i = 0; i < KINDS; i++)
        if (w->stock[i] < o->need[i])
            return 0;
    return 1;
}

static void take(struct warehouse *w, const struct order *o)
{
    for (int i = 0; i < KINDS; i++)
        w->stock[i] -= o->need[i];
    w->shipped++;
}

static void *fill_orders(void *arg)
{
    struct clerk *c = arg;
    struct warehouse *w = c->house;
    pthread_mutex_lock(&w->lock);
    for (;;) {
        while (!enough(w, &c->order) && !w->closed)
            pthread_cond_wait(&w->changed, &w->lock);
        if (!enough(w, &c->order))
            break;
        take(w, &c->order);
        c->filled++;
        pthread_cond_broadcast(&w->changed);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static void *supply(void *arg)
{
    struct supplier *s = arg;
    struct warehouse *w = s->house;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&w->lock);
        while (w->stock[s->kind] + s->amount > s->limit && !w->closed)
            pthread_cond_wait(&w->changed, &w->lock);
        w->stock[s->kind] += s->amount;
        pthread_cond_broadcast(&w->changed);
        pthread_mutex_unlock(&w->lock);
    }
    return NULL;
}

static void close_when(struct warehouse *w, unsigned shipped)
{
    pthread_mutex_lock(&w->lock);
    while (w->shipped < shipped)
        pthread_cond_wait(&w->changed, &w->lock);
    w->closed = 1;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

int main(void)
{
    struct warehouse w = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, {0}, 0, 0};
    struct clerk clerks[2] = {{&w, {{2, 8, 0}}, 0}, {&w, {{1, 4, 1}}, 0}};
    struct supplier suppliers[KINDS] = {{&w, WOOD, 2, 10}, {&w, NAILS, 8, 40}, {&w, PAINT, 2, 40}};
    pthread_t threads[2 + KINDS];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, fill_orders, &clerks[i]))
            abort();
    for (int i = 0; i < KINDS; i++)
        if (pthread_create(&threads[2 + i], NULL, supply, &suppliers[i]))
            abort();
    close_when(&w, 5);
    for (int i = 0; i < 2 + KINDS; i++)
        pthread_join(threads[i], NULL);
    printf("%u and %u orders, left %u %u %u\n", clerks[0].filled, clerks[1].filled, w.stock[WOOD],
           w.stock[NAILS], w.stock[PAINT]);
    return clerks[0].filled + clerks[1].filled != w.shipped;
}
