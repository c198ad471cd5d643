/* SPDX-License-Identifier: Apache-2.0 */
/* Race-free: two eventfds that count like semaphores say how many slots are filled and how many are
 * free. A slot is written after a count was taken from the one and before a count is put into the
 * other, and read the other way round; there is one writer and one reader, both in order. */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define SLOTS 4
#define FILES 30

struct scan {
    char path[32];
    uint32_t crc;
    int last;
};

struct channel {
    int filled, freed;
    struct scan slots[SLOTS];
};

struct totals {
    struct channel *channel;
    unsigned files, wrong;
    uint32_t mixed;
};

static void put_count(int fd, uint64_t count)
{
    while (write(fd, &count, sizeof count) != (ssize_t)sizeof count)
        if (errno != EINTR)
            abort();
}

static void take_count(int fd)
{
    uint64_t count;
    while (read(fd, &count, sizeof count) != (ssize_t)sizeof count)
        if (errno != EINTR)
            abort();
}

static uint32_t crc_of(const char *text)
{
    uint32_t crc = ~0u;
    for (; *text; text++) {
        crc ^= (unsigned char)*text;
        for (int i = 0; i < 8; i++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

static void *scan_files(void *arg)
{
    struct channel *c = arg;
    for (int i = 0; i < FILES; i++) {
        take_count(c->freed);
        struct scan *s = &c->slots[i % SLOTS];
        snprintf(s->path, sizeof s->path, "/srv/data/%03d.bin", i);
        s->crc = crc_of(s->path);
        s->last = i == FILES - 1;
        put_count(c->filled, 1);
    }
    return NULL;
}

static void *store_results(void *arg)
{
    struct totals *t = arg;
    int last = 0;
    for (int i = 0; !last; i++) {
        take_count(t->channel->filled);
        struct scan *s = &t->channel->slots[i % SLOTS];
        t->files++;
        t->wrong += crc_of(s->path) != s->crc;
        t->mixed = t->mixed * 31 + s->crc;
        last = s->last;
        memset(s, 0, sizeof *s);
        put_count(t->channel->freed, 1);
    }
    return NULL;
}

int main(void)
{
    struct channel *c = calloc(1, sizeof *c);
    struct totals totals = {.channel = c};
    pthread_t scanner, store;
    if (!c)
        return 1;
    c->filled = eventfd(0, EFD_SEMAPHORE);
    c->freed = eventfd(SLOTS, EFD_SEMAPHORE);
    if (c->filled < 0 || c->freed < 0)
        return 1;
    if (pthread_create(&store, NULL, store_results, &totals) ||
        pthread_create(&scanner, NULL, scan_files, c))
        abort();
    pthread_join(scanner, NULL);
    pthread_join(store, NULL);
    printf("%u files, %u wrong, %08x\n", totals.files, totals.wrong, totals.mixed);
    close(c->filled);
    close(c->freed);
    free(c);
    return totals.wrong != 0;
}
