/* SPDX-License-Identifier: Apache-2.0 */
/* A symbol cache remembers its last hit. The slow path sets that pointer under the lock, the fast
 * path looks at it without. The entries themselves are made before the threads and never change. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define BUCKETS 16
#define SYMBOLS 40

struct symbol {
    uint32_t address;
    uint32_t size;
    struct symbol *next;
};

struct cache {
    pthread_mutex_t lock;
    struct symbol *bucket[BUCKETS];
    struct symbol *hot;
    unsigned long slow_lookups;
};

struct walker {
    struct cache *cache;
    uint32_t seed;
    unsigned found;
};

static unsigned bucket_of(uint32_t address)
{
    return (address * 2654435761u) >> 28;
}

static void add_symbol(struct cache *c, uint32_t address, uint32_t size)
{
    struct symbol *s = malloc(sizeof *s);
    if (!s)
        abort();
    s->address = address;
    s->size = size;
    s->next = c->bucket[bucket_of(address)];
    c->bucket[bucket_of(address)] = s;
}

static const struct symbol *lookup_slow(struct cache *c, uint32_t address)
{
    struct symbol *s;
    pthread_mutex_lock(&c->lock);
    c->slow_lookups++;
    for (s = c->bucket[bucket_of(address)]; s; s = s->next)
        if (s->address == address)
            break;
    if (s)
        c->hot = s; // RACE
    pthread_mutex_unlock(&c->lock);
    return s;
}

static const struct symbol *lookup(struct cache *c, uint32_t address)
{
    const struct symbol *s = c->hot; // RACE
    if (s && s->address == address)
        return s;
    return lookup_slow(c, address);
}

static void *walk_stack(void *arg)
{
    struct walker *w = arg;
    uint32_t x = w->seed;
    for (int i = 0; i < 60; i++) {
        x = x * 1103515245u + 12345u;
        uint32_t address = 0x1000 + 64 * ((x >> 16) % SYMBOLS);
        if (lookup(w->cache, address))
            w->found++;
    }
    return NULL;
}

static void destroy(struct cache *c)
{
    for (int i = 0; i < BUCKETS; i++)
        while (c->bucket[i]) {
            struct symbol *s = c->bucket[i];
            c->bucket[i] = s->next;
            free(s);
        }
    pthread_mutex_destroy(&c->lock);
    free(c);
}

int main(void)
{
    struct cache *cache = calloc(1, sizeof *cache);
    if (!cache)
        return 1;
    pthread_mutex_init(&cache->lock, NULL);
    for (uint32_t i = 0; i < SYMBOLS; i++)
        add_symbol(cache, 0x1000 + 64 * i, 16 + i);
    struct walker walkers[2] = {{cache, 7, 0}, {cache, 4711, 0}};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, walk_stack, &walkers[i]))
            abort();
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%u and %u frames, %lu slow lookups\n", walkers[0].found, walkers[1].found,
           cache->slow_lookups);
    destroy(cache);
    return 0;
}
