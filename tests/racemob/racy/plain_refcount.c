/* SPDX-License-Identifier: Apache-2.0 */
/* Whoever holds a blob may take another reference "without the lock, since it cannot go away";
 * references are given back under the lock. The unlocked ++ races with itself and with the --. The
 * count may come out wrong, therefore blobs are only marked dead and freed after the threads. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READERS 2
#define ROUNDS  25

struct store;

struct blob {
    struct store *store;
    size_t size;
    int refs;
    int dead;
    unsigned char bytes[];
};

struct store {
    pthread_mutex_t lock;
    unsigned deaths;
    struct blob *blob;
};

struct reader {
    struct store *store;
    unsigned start;
    unsigned long sum;
};

static struct blob *blob_new(struct store *s, size_t size)
{
    struct blob *b = malloc(sizeof *b + size);
    if (!b)
        abort();
    b->store = s;
    b->size = size;
    b->refs = 1;
    b->dead = 0;
    for (size_t i = 0; i < size; i++)
        b->bytes[i] = (unsigned char)(i * 7);
    return b;
}

static struct blob *blob_get(struct blob *b)
{
    b->refs++; // RACE: taken twice, taken and given back
    return b;
}

static void blob_put(struct blob *b)
{
    pthread_mutex_lock(&b->store->lock);
    if (--b->refs == 0) { // RACE: taken and given back
        b->dead = 1;
        b->store->deaths++;
    }
    pthread_mutex_unlock(&b->store->lock);
}

static unsigned long checksum(const struct blob *b, unsigned start)
{
    unsigned long sum = start;
    for (size_t i = start; i < b->size; i++)
        sum = sum * 31 + b->bytes[i];
    return sum;
}

static void *read_blob(void *arg)
{
    struct reader *r = arg;
    for (int i = 0; i < ROUNDS; i++) {
        struct blob *mine = blob_get(r->store->blob);
        r->sum ^= checksum(mine, r->start);
        blob_put(mine);
    }
    return NULL;
}

int main(void)
{
    struct store store = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct reader readers[READERS];
    pthread_t threads[READERS];
    store.blob = blob_new(&store, 300);
    for (unsigned i = 0; i < READERS; i++) {
        readers[i] = (struct reader){&store, 10 * i, 0};
        if (pthread_create(&threads[i], NULL, read_blob, &readers[i]))
            abort();
    }
    for (int i = 0; i < READERS; i++)
        pthread_join(threads[i], NULL);
    printf("%lx %lx, %d references, %s, %u deaths\n", readers[0].sum, readers[1].sum,
           store.blob->refs, store.blob->dead ? "dead" : "alive", store.deaths);
    free(store.blob);
    return 0;
}
