/* SPDX-License-Identifier: Apache-2.0 */
/* Race-free: a level is filled in before it is published. A player stores the level it is about to
 * use in its hazard slot and checks that it is still the current one (all seq_cst); the loader
 * frees an unpublished level only if it finds it in no slot. Reading a slot synchronises with the
 * store by which the player gave the level up, so its use comes before the free. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define PLAYERS 2
#define LEVELS  15
#define MOVES   60
#define TILES   16

struct level {
    int number;
    int tiles[TILES];
    struct level *next_retired;
};

struct world {
    _Atomic(struct level *) current;
    _Atomic(struct level *) hazards[PLAYERS];
    struct level *retired; /* the loader's own */
    unsigned freed;
};

struct player {
    struct world *world;
    int index;
    long score;
    int mixed_up;
};

static struct level *level_new(int number)
{
    struct level *l = malloc(sizeof *l);
    if (!l)
        abort();
    l->number = number;
    l->next_retired = NULL;
    for (int i = 0; i < TILES; i++)
        l->tiles[i] = number * 100 + i;
    return l;
}

static struct level *protect(struct world *w, int index)
{
    struct level *seen = atomic_load(&w->current), *now;
    for (;;) {
        atomic_store(&w->hazards[index], seen);
        now = atomic_load(&w->current);
        if (now == seen)
            return now;
        seen = now;
    }
}

static void release(struct world *w, int index)
{
    atomic_store_explicit(&w->hazards[index], NULL, memory_order_release);
}

static int in_use(struct world *w, const struct level *l)
{
    for (int i = 0; i < PLAYERS; i++)
        if (atomic_load(&w->hazards[i]) == l)
            return 1;
    return 0;
}

static void scan(struct world *w)
{
    for (struct level **at = &w->retired; *at;) {
        struct level *l = *at;
        if (in_use(w, l)) {
            at = &l->next_retired;
            continue;
        }
        *at = l->next_retired;
        w->freed++;
        free(l);
    }
}

static void *load_levels(void *arg)
{
    struct world *w = arg;
    for (int i = 2; i <= LEVELS; i++) {
        struct level *old = atomic_exchange(&w->current, level_new(i));
        old->next_retired = w->retired;
        w->retired = old;
        scan(w);
        sched_yield();
    }
    return NULL;
}

static void *play(void *arg)
{
    struct player *p = arg;
    for (int i = 0; i < MOVES; i++) {
        const struct level *l = protect(p->world, p->index);
        int tile = l->tiles[i % TILES];
        p->score += tile % 100;
        p->mixed_up += tile / 100 != l->number;
        release(p->world, p->index);
    }
    return NULL;
}

int main(void)
{
    struct world *w = calloc(1, sizeof *w);
    if (!w)
        return 1;
    atomic_store(&w->current, level_new(1));
    struct player players[PLAYERS] = {{w, 0, 0, 0}, {w, 1, 0, 0}};
    pthread_t threads[PLAYERS + 1];
    for (int i = 0; i < PLAYERS; i++)
        if (pthread_create(&threads[i], NULL, play, &players[i]))
            abort();
    if (pthread_create(&threads[PLAYERS], NULL, load_levels, w))
        abort();
    for (int i = 0; i <= PLAYERS; i++)
        pthread_join(threads[i], NULL);
    scan(w);
    free(atomic_load(&w->current));
    int mixed_up = players[0].mixed_up + players[1].mixed_up;
    printf("%u levels freed, scores %ld %ld, %d mixed up\n", w->freed, players[0].score,
           players[1].score, mixed_up);
    free(w);
    return mixed_up != 0;
}
