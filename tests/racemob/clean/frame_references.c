/* SPDX-License-Identifier: Apache-2.0 */
/* Race-free: each filter writes a band of its own of the frame and then drops its reference with
 * an acq_rel fetch_sub. These form one release sequence, so the one who brings the count to zero
 * comes after all the others; it alone reads the whole frame and frees it. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define BANDS  4
#define WIDTH  40
#define FRAMES 6

struct frame {
    atomic_int references;
    int number;
    unsigned char pixels[BANDS][WIDTH];
};

struct filter {
    struct frame **frames;
    int band;
    unsigned char (*apply)(int frame, int x);
};

static atomic_ulong digest;
static atomic_int freed;

static unsigned char brighten(int frame, int x)
{
    return (unsigned char)(frame * 3 + x);
}

static unsigned char invert(int frame, int x)
{
    return (unsigned char)~(frame + 2 * x);
}

static struct frame *frame_new(int number)
{
    struct frame *f = malloc(sizeof *f);
    if (!f)
        abort();
    atomic_init(&f->references, BANDS);
    f->number = number;
    return f;
}

static unsigned long frame_sum(const struct frame *f)
{
    unsigned long sum = 0;
    for (int band = 0; band < BANDS; band++)
        for (int x = 0; x < WIDTH; x++)
            sum += f->pixels[band][x];
    return sum;
}

static void frame_put(struct frame *f)
{
    if (atomic_fetch_sub_explicit(&f->references, 1, memory_order_acq_rel) > 1)
        return;
    atomic_fetch_add_explicit(&digest, frame_sum(f), memory_order_relaxed);
    atomic_fetch_add_explicit(&freed, 1, memory_order_relaxed);
    free(f);
}

static void *run_filter(void *arg)
{
    struct filter *filter = arg;
    for (int i = 0; i < FRAMES; i++) {
        struct frame *f = filter->frames[i];
        for (int x = 0; x < WIDTH; x++)
            f->pixels[filter->band][x] = filter->apply(f->number, x);
        frame_put(f);
    }
    return NULL;
}

static unsigned long expected(const struct filter *filters)
{
    unsigned long sum = 0;
    for (int n = 0; n < FRAMES; n++)
        for (int b = 0; b < BANDS; b++)
            for (int x = 0; x < WIDTH; x++)
                sum += filters[b].apply(n, x);
    return sum;
}

int main(void)
{
    struct frame *frames[FRAMES];
    struct filter filters[BANDS];
    pthread_t threads[BANDS];
    for (int i = 0; i < FRAMES; i++)
        frames[i] = frame_new(i);
    for (int i = 0; i < BANDS; i++) {
        filters[i] = (struct filter){frames, i, i % 2 ? invert : brighten};
        if (pthread_create(&threads[i], NULL, run_filter, &filters[i]))
            abort();
    }
    for (int i = 0; i < BANDS; i++)
        pthread_join(threads[i], NULL);
    printf("%d frames, digest %lu\n", atomic_load(&freed), atomic_load(&digest));
    return atomic_load(&digest) != expected(filters);
}
