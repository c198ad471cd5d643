/* SPDX-License-Identifier: Apache-2.0 */
/* Race-free: a cell of the slab belongs to whoever took it from the free list, until it is put
 * back; both happen under the slab's mutex. So the unguarded use of a cell by its owner comes
 * before its use by the next one, though the same memory goes through many threads. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CELLS   3
#define THREADS 4
#define ROUNDS  25

union cell {
    union cell *next_free;
    struct {
        uint32_t owner;
        uint32_t values[7];
    } record;
};

struct slab {
    pthread_mutex_t lock;
    pthread_cond_t freed;
    union cell *free;
    union cell *memory;
    unsigned taken;
};

struct user {
    struct slab *slab;
    uint32_t number;
    unsigned mixed_up;
    uint64_t sum;
};

static void slab_init(struct slab *s)
{
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->freed, NULL);
    s->memory = malloc(CELLS * sizeof *s->memory);
    if (!s->memory)
        abort();
    s->free = NULL;
    s->taken = 0;
    for (int i = 0; i < CELLS; i++) {
        s->memory[i].next_free = s->free;
        s->free = &s->memory[i];
    }
}

static void slab_destroy(struct slab *s)
{
    pthread_cond_destroy(&s->freed);
    pthread_mutex_destroy(&s->lock);
    free(s->memory);
}

static union cell *slab_take(struct slab *s)
{
    pthread_mutex_lock(&s->lock);
    while (!s->free)
        pthread_cond_wait(&s->freed, &s->lock);
    union cell *c = s->free;
    s->free = c->next_free;
    s->taken++;
    pthread_mutex_unlock(&s->lock);
    return c;
}

static void slab_give(struct slab *s, union cell *c)
{
    memset(c, 0xa5, sizeof *c);
    pthread_mutex_lock(&s->lock);
    c->next_free = s->free;
    s->free = c;
    pthread_cond_signal(&s->freed);
    pthread_mutex_unlock(&s->lock);
}

static void fill(union cell *c, uint32_t owner, uint32_t round)
{
    c->record.owner = owner;
    for (uint32_t i = 0; i < 7; i++)
        c->record.values[i] = owner * 1000 + round + i;
}

static void *use_cells(void *arg)
{
    struct user *u = arg;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        union cell *a = slab_take(u->slab);
        fill(a, u->number, round);
        for (int i = 0; i < 7; i++)
            u->sum += a->record.values[i];
        u->mixed_up += a->record.owner != u->number;
        slab_give(u->slab, a);
    }
    return NULL;
}

int main(void)
{
    struct slab slab;
    struct user users[THREADS];
    pthread_t threads[THREADS];
    unsigned mixed_up = 0;
    slab_init(&slab);
    for (uint32_t i = 0; i < THREADS; i++) {
        users[i] = (struct user){&slab, i, 0, 0};
        if (pthread_create(&threads[i], NULL, use_cells, &users[i]))
            abort();
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        mixed_up += users[i].mixed_up;
    }
    printf("%u taken, %u mixed up, sum %llu\n", slab.taken, mixed_up,
           (unsigned long long)users[THREADS - 1].sum);
    slab_destroy(&slab);
    return mixed_up != 0 || slab.taken != THREADS * ROUNDS;
}
