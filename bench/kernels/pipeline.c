/* SPDX-License-Identifier: Apache-2.0 */
/* A stream is cut into chunks that go through queues from stage to stage: hash, look up in a table
 * with a lock in each bucket, count what is new. The pattern of dedup and ferret.
 *
 * The races are on statistics, as they are in dedup: the workers of a stage count bytes in a global
 * without a lock, and the last stage reads the count while they are at it. */
#include "kernel.h"

#define QUEUE   64
#define CHUNK   4096
#define BUCKETS 256
#define VARIETY 512

struct chunk {
    uint64_t hash;
    unsigned char bytes[CHUNK];
};

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct chunk *slots[QUEUE];
    int first, count, producers;
};

struct bucket {
    pthread_mutex_t lock;
    uint64_t hashes[VARIETY];
    int count;
};

static struct queue to_hash, to_look_up;
static struct bucket buckets[BUCKETS];
static long chunk_count, thread_count;
static long bytes_hashed;
static long found_new, found_known;
static pthread_mutex_t found_lock = PTHREAD_MUTEX_INITIALIZER;

static void open_queue(struct queue *q, long producers)
{
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->changed, NULL);
    q->producers = (int)producers;
}

static void push(struct queue *q, struct chunk *c)
{
    pthread_mutex_lock(&q->lock);
    while (q->count == QUEUE)
        pthread_cond_wait(&q->changed, &q->lock);
    q->slots[(q->first + q->count++) % QUEUE] = c;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

static void close_queue(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->producers--;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

/* NULL when all producers are gone and nothing is left. */
static struct chunk *pop(struct queue *q)
{
    struct chunk *c = NULL;
    pthread_mutex_lock(&q->lock);
    while (!q->count && q->producers)
        pthread_cond_wait(&q->changed, &q->lock);
    if (q->count) {
        c = q->slots[q->first];
        q->first = (q->first + 1) % QUEUE;
        q->count--;
        pthread_cond_broadcast(&q->changed);
    }
    pthread_mutex_unlock(&q->lock);
    return c;
}

static void *cut(void *arg)
{
    for (long i = 0; i < chunk_count; i++) {
        struct chunk *c = allocate(1, sizeof(*c));
        uint64_t seed = (uint64_t)i * 31 % VARIETY;
        for (size_t at = 0; at < CHUNK; at += sizeof(seed)) {
            uint64_t word = next_random(&seed);
            memcpy(c->bytes + at, &word, sizeof(word));
        }
        push(&to_hash, c);
    }
    close_queue(&to_hash);
    return arg;
}

static void *hash(void *arg)
{
    struct chunk *c;
    while ((c = pop(&to_hash))) {
        c->hash = 0xcbf29ce484222325u;
        for (int i = 0; i < CHUNK; i++)
            c->hash = (c->hash ^ c->bytes[i]) * 0x100000001b3u;
        bytes_hashed += CHUNK; // RACE: bytes, bytes itself
        push(&to_look_up, c);
    }
    close_queue(&to_look_up);
    return arg;
}

static int is_known(uint64_t wanted)
{
    struct bucket *b = &buckets[wanted % BUCKETS];
    int at = 0;
    pthread_mutex_lock(&b->lock);
    while (at < b->count && b->hashes[at] != wanted)
        at++;
    int known = at < b->count;
    if (!known)
        b->hashes[b->count++] = wanted;
    pthread_mutex_unlock(&b->lock);
    return known;
}

static void *look_up(void *arg)
{
    struct chunk *c;
    long new = 0, known = 0, behind = 0;
    while ((c = pop(&to_look_up))) {
        *(is_known(c->hash) ? &known : &new) += 1;
        behind += bytes_hashed > (new + known) * CHUNK; // RACE: bytes
        free(c);
    }
    pthread_mutex_lock(&found_lock);
    found_new += new;
    found_known += known;
    pthread_mutex_unlock(&found_lock);
    check(behind <= new + known, "chunks that never came");
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t cutter, stages[2][MOST_THREADS];
    chunk_count = argument(argc, argv, 1, 1, 10000000);
    thread_count = argument(argc, argv, 2, 1, MOST_THREADS);
    for (int i = 0; i < BUCKETS; i++)
        pthread_mutex_init(&buckets[i].lock, NULL);
    open_queue(&to_hash, 1);
    open_queue(&to_look_up, thread_count);
    start(&cutter, cut, NULL);
    for (long i = 0; i < thread_count; i++) {
        start(&stages[0][i], hash, NULL);
        start(&stages[1][i], look_up, NULL);
    }
    finish(cutter);
    for (long i = 0; i < thread_count; i++) {
        finish(stages[0][i]);
        finish(stages[1][i]);
    }
    check(found_new + found_known == chunk_count, "a chunk was lost");
    check(found_new == (chunk_count < VARIETY ? chunk_count : VARIETY),
          "a chunk was taken for another");
    return 0;
}
