/* SPDX-License-Identifier: Apache-2.0 */
/* Race-free: entries are found and read with the lock held for reading, and made, changed and
 * removed with it held for writing; a miss is looked up again once the lock is held for writing.
 * The hit counts that readers change are atomic. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 8
#define CLIENTS 3
#define LOOKUPS 60

struct entry {
    char *name;
    uint32_t address;
    unsigned expires;
    atomic_uint hits;
    struct entry *next;
};

struct cache {
    pthread_rwlock_t lock;
    struct entry *buckets[BUCKETS];
    unsigned size, now;
    atomic_ulong misses;
};

struct client {
    struct cache *cache;
    unsigned seed;
    uint32_t check;
};

static unsigned hash(const char *text)
{
    unsigned h = 0;
    while (*text)
        h = h * 131 + (unsigned char)*text++;
    return h;
}

static struct entry *find_locked(struct cache *c, const char *name)
{
    struct entry *e = c->buckets[hash(name) % BUCKETS];
    while (e && strcmp(e->name, name))
        e = e->next;
    return e;
}

static uint32_t resolve(const char *name)
{
    return 0x0a000000u | (hash(name) & 0xffffffu);
}

static struct entry *insert_locked(struct cache *c, const char *name)
{
    struct entry *e = malloc(sizeof *e);
    if (!e || !(e->name = strdup(name)))
        abort();
    e->address = resolve(name);
    e->expires = c->now + 10;
    atomic_init(&e->hits, 0);
    e->next = c->buckets[hash(name) % BUCKETS];
    c->buckets[hash(name) % BUCKETS] = e;
    c->size++;
    return e;
}

static void expire_locked(struct cache *c)
{
    c->now++;
    for (int i = 0; i < BUCKETS; i++)
        for (struct entry **at = &c->buckets[i]; *at;) {
            struct entry *e = *at;
            if (e->expires >= c->now) {
                at = &e->next;
                continue;
            }
            *at = e->next;
            free(e->name);
            free(e);
            c->size--;
        }
}

static uint32_t lookup(struct cache *c, const char *name)
{
    uint32_t address = 0;
    pthread_rwlock_rdlock(&c->lock);
    struct entry *e = find_locked(c, name);
    if (e) {
        address = e->address;
        atomic_fetch_add_explicit(&e->hits, 1, memory_order_relaxed);
    }
    pthread_rwlock_unlock(&c->lock);
    if (address)
        return address;
    atomic_fetch_add_explicit(&c->misses, 1, memory_order_relaxed);
    pthread_rwlock_wrlock(&c->lock);
    expire_locked(c);
    e = find_locked(c, name);
    if (!e)
        e = insert_locked(c, name);
    address = e->address;
    pthread_rwlock_unlock(&c->lock);
    return address;
}

static void *resolve_many(void *arg)
{
    struct client *c = arg;
    char name[32];
    for (int i = 0; i < LOOKUPS; i++) {
        c->seed = c->seed * 1103515245u + 12345u;
        snprintf(name, sizeof name, "host%u.example", (c->seed >> 16) % 20);
        c->check += lookup(c->cache, name) != resolve(name);
    }
    return NULL;
}

int main(void)
{
    struct cache *cache = calloc(1, sizeof *cache);
    struct client clients[CLIENTS];
    pthread_t threads[CLIENTS];
    unsigned wrong = 0, hits = 0;
    if (!cache || pthread_rwlock_init(&cache->lock, NULL))
        return 1;
    for (unsigned i = 0; i < CLIENTS; i++) {
        clients[i] = (struct client){cache, i * 77 + 1, 0};
        if (pthread_create(&threads[i], NULL, resolve_many, &clients[i]))
            abort();
    }
    for (int i = 0; i < CLIENTS; i++) {
        pthread_join(threads[i], NULL);
        wrong += clients[i].check;
    }
    for (int i = 0; i < BUCKETS; i++)
        while (cache->buckets[i]) {
            struct entry *e = cache->buckets[i];
            cache->buckets[i] = e->next;
            hits += atomic_load(&e->hits);
            free(e->name);
            free(e);
        }
    printf("%u entries, %u hits, %lu misses\n", cache->size, hits, atomic_load(&cache->misses));
    pthread_rwlock_destroy(&cache->lock);
    free(cache);
    return wrong != 0;
}
