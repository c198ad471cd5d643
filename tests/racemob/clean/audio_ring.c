/* SPDX-License-Identifier: Apache-2.0 */
/* Race-free: the decoder alone moves `written`, the player alone moves `played`, each with a
 * release store after it is done with the blocks and an acquire load of the other's index before it
 * touches them. A block is overwritten only after `played` says that it was read. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define BLOCKS  4 /* a power of two */
#define SAMPLES 32
#define TOTAL   60

struct block {
    int16_t samples[SAMPLES];
    unsigned count;
    uint32_t position;
};

struct ring {
    struct block blocks[BLOCKS];
    _Alignas(64) atomic_uint written;
    _Alignas(64) atomic_uint played;
};

struct decoder {
    struct ring *ring;
    int32_t state;
};

struct player {
    struct ring *ring;
    int64_t volume;
    uint32_t position;
    int gaps;
};

static void decode_block(struct decoder *d, struct block *b, uint32_t position)
{
    b->count = SAMPLES - position % 3;
    b->position = position;
    for (unsigned i = 0; i < b->count; i++) {
        d->state += (int32_t)(position % 7) - 3;
        b->samples[i] = (int16_t)d->state;
    }
}

static void *decode(void *arg)
{
    struct decoder *d = arg;
    struct ring *r = d->ring;
    uint32_t position = 0;
    for (unsigned n = 0; n < TOTAL; n++) {
        while (n - atomic_load_explicit(&r->played, memory_order_acquire) == BLOCKS)
            sched_yield();
        struct block *b = &r->blocks[n % BLOCKS];
        decode_block(d, b, position);
        position += b->count;
        atomic_store_explicit(&r->written, n + 1, memory_order_release);
    }
    return NULL;
}

static void play_block(struct player *p, const struct block *b)
{
    if (b->position != p->position)
        p->gaps++;
    for (unsigned i = 0; i < b->count; i++)
        p->volume += b->samples[i] < 0 ? -b->samples[i] : b->samples[i];
    p->position += b->count;
}

static void *play(void *arg)
{
    struct player *p = arg;
    struct ring *r = p->ring;
    for (unsigned n = 0; n < TOTAL; n++) {
        while (atomic_load_explicit(&r->written, memory_order_acquire) == n)
            sched_yield();
        play_block(p, &r->blocks[n % BLOCKS]);
        atomic_store_explicit(&r->played, n + 1, memory_order_release);
    }
    return NULL;
}

int main(void)
{
    struct ring *ring = aligned_alloc(64, sizeof *ring);
    struct decoder decoder = {ring, 0};
    struct player player = {.ring = ring};
    pthread_t threads[2];
    if (!ring)
        return 1;
    atomic_init(&ring->written, 0);
    atomic_init(&ring->played, 0);
    if (pthread_create(&threads[0], NULL, play, &player) ||
        pthread_create(&threads[1], NULL, decode, &decoder))
        abort();
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    printf("%u samples, volume %lld, %d gaps\n", player.position, (long long)player.volume,
           player.gaps);
    free(ring);
    return player.gaps != 0;
}
