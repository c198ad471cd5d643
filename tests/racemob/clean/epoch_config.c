/* SPDX-License-Identifier: Apache-2.0 */
/* Race-free: a configuration never changes once it is published (seq_cst). A reader announces the
 * epoch before it fetches the pointer and withdraws it with a release store afterwards; the writer
 * swaps the pointer, begins a new epoch and frees the old configuration only when it has seen that
 * no reader of an older epoch is left, which orders their last reads before the free. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READERS 3
#define READS   50
#define RELOADS 12

struct config {
    unsigned version;
    char motd[32];
    unsigned limits[4];
};

struct slot {
    _Alignas(64) atomic_ulong epoch; /* 0: outside */
};

struct domain {
    _Atomic(struct config *) current;
    atomic_ulong epoch;
    struct slot slots[READERS];
};

struct reader {
    struct domain *domain;
    int index;
    unsigned wrong, newest;
};

static struct config *config_new(unsigned version)
{
    struct config *c = malloc(sizeof *c);
    if (!c)
        abort();
    c->version = version;
    snprintf(c->motd, sizeof c->motd, "welcome %u", version);
    for (unsigned i = 0; i < 4; i++)
        c->limits[i] = version * 10 + i;
    return c;
}

static const struct config *enter(struct domain *d, int index)
{
    atomic_store(&d->slots[index].epoch, atomic_load(&d->epoch));
    return atomic_load(&d->current);
}

static void leave(struct domain *d, int index)
{
    atomic_store_explicit(&d->slots[index].epoch, 0, memory_order_release);
}

static void wait_for_readers(struct domain *d)
{
    unsigned long now = atomic_fetch_add(&d->epoch, 1) + 1, seen;
    for (int i = 0; i < READERS; i++)
        while ((seen = atomic_load(&d->slots[i].epoch)) != 0 && seen < now)
            sched_yield();
}

static void reload(struct domain *d, unsigned version)
{
    struct config *old = atomic_exchange(&d->current, config_new(version));
    wait_for_readers(d);
    memset(old, 0xee, sizeof *old);
    free(old);
}

static int consistent(const struct config *c)
{
    char motd[32];
    snprintf(motd, sizeof motd, "welcome %u", c->version);
    return !strcmp(motd, c->motd) && c->limits[3] == c->version * 10 + 3;
}

static void *read_often(void *arg)
{
    struct reader *r = arg;
    for (int i = 0; i < READS; i++) {
        const struct config *c = enter(r->domain, r->index);
        r->wrong += !consistent(c);
        r->newest = c->version;
        leave(r->domain, r->index);
    }
    return NULL;
}

static void *reload_often(void *arg)
{
    for (unsigned version = 2; version < 2 + RELOADS; version++)
        reload(arg, version);
    return NULL;
}

int main(void)
{
    struct domain *d = aligned_alloc(64, sizeof *d);
    struct reader readers[READERS];
    pthread_t threads[READERS + 1];
    unsigned wrong = 0;
    if (!d)
        return 1;
    atomic_init(&d->current, config_new(1));
    atomic_init(&d->epoch, 1);
    for (int i = 0; i < READERS; i++)
        atomic_init(&d->slots[i].epoch, 0);
    for (int i = 0; i < READERS; i++) {
        readers[i] = (struct reader){d, i, 0, 0};
        if (pthread_create(&threads[i], NULL, read_often, &readers[i]))
            abort();
    }
    if (pthread_create(&threads[READERS], NULL, reload_often, d))
        abort();
    for (int i = 0; i <= READERS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < READERS; i++)
        wrong += readers[i].wrong;
    printf("version %u, %u wrong\n", atomic_load(&d->current)->version, wrong);
    free(atomic_load(&d->current));
    free(d);
    return wrong != 0;
}
