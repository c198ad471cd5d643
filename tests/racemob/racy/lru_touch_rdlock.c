/* SPDX-License-Identifier: Apache-2.0 */
/* Look-ups in a page cache hold the lock for reading, and still note in the page when it was last
 * used. Pages are loaded before the threads start and evicted after they are joined. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGES 6

struct page {
    unsigned number;
    unsigned char data[64];
    unsigned long last_used;
    struct page *next;
};

struct page_cache {
    pthread_rwlock_t lock;
    struct page *pages;
    atomic_ulong clock;
};

struct scan {
    struct page_cache *cache;
    unsigned step;
    unsigned long sum;
};

static void load_page(struct page_cache *c, unsigned number)
{
    struct page *p = calloc(1, sizeof *p);
    if (!p)
        abort();
    p->number = number;
    memset(p->data, (int)number + 1, sizeof p->data);
    pthread_rwlock_wrlock(&c->lock);
    p->next = c->pages;
    c->pages = p;
    pthread_rwlock_unlock(&c->lock);
}

static struct page *find(struct page_cache *c, unsigned number)
{
    struct page *p = c->pages;
    while (p && p->number != number)
        p = p->next;
    return p;
}

static int read_byte(struct page_cache *c, unsigned number, unsigned offset)
{
    int value = -1;
    pthread_rwlock_rdlock(&c->lock);
    struct page *p = find(c, number);
    if (p) {
        value = p->data[offset % sizeof p->data];
        p->last_used = atomic_fetch_add_explicit(&c->clock, 1, memory_order_relaxed); // RACE
    }
    pthread_rwlock_unlock(&c->lock);
    return value;
}

static void evict_oldest(struct page_cache *c)
{
    struct page **oldest = NULL;
    pthread_rwlock_wrlock(&c->lock);
    for (struct page **at = &c->pages; *at; at = &(*at)->next)
        if (!oldest || (*at)->last_used < (*oldest)->last_used)
            oldest = at;
    if (oldest) {
        struct page *gone = *oldest;
        *oldest = gone->next;
        free(gone);
    }
    pthread_rwlock_unlock(&c->lock);
}

static void *scan(void *arg)
{
    struct scan *s = arg;
    for (unsigned i = 0; i < 60; i++) {
        int byte = read_byte(s->cache, i * s->step % (PAGES + 1), i);
        if (byte >= 0)
            s->sum += (unsigned long)byte;
    }
    return NULL;
}

int main(void)
{
    struct page_cache cache = {.pages = NULL};
    struct scan scans[2] = {{&cache, 1, 0}, {&cache, 3, 0}};
    pthread_t threads[2];
    pthread_rwlock_init(&cache.lock, NULL);
    for (unsigned i = 0; i < PAGES; i++)
        load_page(&cache, i);
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, scan, &scans[i]))
            abort();
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    while (cache.pages)
        evict_oldest(&cache);
    printf("%lu %lu\n", scans[0].sum, scans[1].sum);
    pthread_rwlock_destroy(&cache.lock);
    return 0;
}
