/* SPDX-License-Identifier: Apache-2.0 */
/* A decoder fills in a video frame and raises a relaxed flag, which orders nothing; the display
 * spins on the flag and then reads time stamp and checksum of the frame. Each frame has a memory of
 * its own. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define FRAMES 4
#define BLOCK  64

struct frame {
    uint64_t stamp;
    atomic_int ready;
    int key_frame;
    uint32_t checksum;
};

struct stream {
    struct frame *frames;
    const uint8_t *data;
    uint64_t clock;
    uint64_t late;
    uint32_t mixed;
};

static uint32_t adler(const uint8_t *data, size_t size)
{
    uint32_t a = 1, b = 0;
    while (size--) {
        a = (a + *data++) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}

static void decode(struct stream *s, int index)
{
    struct frame *f = &s->frames[index];
    f->stamp = s->clock += 40;                           // RACE: stamp
    f->checksum = adler(s->data + index * BLOCK, BLOCK); // RACE: checksum
    atomic_store_explicit(&f->ready, 1, memory_order_relaxed);
}

static void *decode_all(void *arg)
{
    for (int i = 0; i < FRAMES; i++)
        decode(arg, i);
    return NULL;
}

static struct frame *await_frame(struct stream *s, int index)
{
    struct frame *f = &s->frames[index];
    while (!atomic_load_explicit(&f->ready, memory_order_relaxed))
        usleep(100);
    return f;
}

static void *display_all(void *arg)
{
    struct stream *s = arg;
    for (int i = 0; i < FRAMES; i++) {
        struct frame *f = await_frame(s, i);
        s->late += f->stamp;                    // RACE: stamp
        s->mixed = s->mixed * 31 + f->checksum; // RACE: checksum
    }
    return NULL;
}

static uint8_t *make_data(size_t size)
{
    uint8_t *data = malloc(size);
    if (!data)
        abort();
    for (size_t i = 0; i < size; i++)
        data[i] = (uint8_t)(i * i >> 3);
    return data;
}

int main(void)
{
    uint8_t *data = make_data(FRAMES * BLOCK);
    struct stream *s = calloc(1, sizeof *s);
    pthread_t decoder, display;
    if (!s || !(s->frames = calloc(FRAMES, sizeof *s->frames)))
        return 1;
    s->data = data;
    if (pthread_create(&display, NULL, display_all, s) ||
        pthread_create(&decoder, NULL, decode_all, s))
        abort();
    pthread_join(decoder, NULL);
    pthread_join(display, NULL);
    printf("stamps %llu, checksum %08x\n", (unsigned long long)s->late, s->mixed);
    free(s->frames);
    free(s);
    free(data);
    return 0;
}
// APART
