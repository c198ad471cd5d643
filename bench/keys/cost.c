/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a key costs: idle, on with an empty hook, and to switch, alone and under running threads.
 * Built with racehive-cc; being in the same executable, it may call the runtime directly.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include "keys.h"
#include "rt.h"

enum { ROUNDS = 20000000, FLIPS = 20000, THREADS = 3, BATCH = 1000 };

static int words[64];
static atomic_bool stop;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The call keeps the loop from being tight: its one key stands in place. */
__attribute__((noinline)) static void nothing(void)
{
    __asm__ volatile("");
}

__attribute__((noinline)) static void touch(long rounds)
{
    for (long i = 0; i < rounds; i++) {
        words[i & 63] = (int)i;
        nothing();
    }
}

__attribute__((disable_sanitizer_instrumentation, noinline)) static void touch_plain(long rounds)
{
    for (long i = 0; i < rounds; i++) {
        words[i & 63] = (int)i;
        nothing();
    }
}

static void *hammer(void *arg)
{
    while (!atomic_load_explicit(&stop, memory_order_relaxed))
        touch(1000);
    return arg;
}

static bool start(void)
{
    return true;
}

static void ignore(struct rt_thread *self, const struct rt_access *a)
{
    (void)self;
    (void)a;
}

static const struct rt_detector empty = {
    .name = "empty", .summary = "", .start = start, .access = ignore, .after = ignore};

static uint64_t hits[1024];

static void note(struct rt_thread *self, const struct rt_access *a)
{
    (void)self;
    hits[a->site % 1024]++;
}

static const struct rt_detector noting = {
    .name = "noting", .summary = "", .start = start, .access = note, .after = note};

/* The site of touch(): the one that runs most when all keys are on. */
static uint32_t find_site(struct rt_image *image)
{
    uint32_t best = 0;
    rt_detector = &noting;
    rt_keys_all(true);
    touch(1000);
    rt_keys_all(false);
    for (uint32_t s = 0; s < image->site_count; s++)
        if (hits[s] > hits[best])
            best = s;
    rt_detector = &empty;
    return best;
}

static double time_loop(void (*loop)(long))
{
    double a = now();
    loop(ROUNDS);
    return (now() - a) / ROUNDS * 1e9;
}

static double time_flips(struct rt_image *image, uint32_t site)
{
    double a = now();
    for (int i = 0; i < FLIPS; i++)
        rt_keys_sites(image, &site, 1, i % 2 == 0);
    return (now() - a) / FLIPS * 1e6;
}

static double time_batch(struct rt_image *image)
{
    uint32_t sites[BATCH];
    for (uint32_t i = 0; i < BATCH; i++)
        sites[i] = i % image->site_count;
    double a = now();
    for (int i = 0; i < 200; i++)
        rt_keys_sites(image, sites, image->site_count < BATCH ? image->site_count : BATCH, i % 2);
    return (now() - a) / 200 * 1e6;
}

int main(void)
{
    struct rt_image *image = rt_image_at(0);
    pthread_t threads[THREADS];
    if (!image || !image->site_count) {
        fprintf(stderr, "cost: not built with racehive-cc\n");
        return 1;
    }
    atomic_store(&rt_mode, RT_MODE_LIVE);
    rt_thread_start_main();
    uint32_t site = find_site(image);

    printf("a round of the loop, ns: without key %.2f, ", time_loop(touch_plain));
    printf("key off %.2f, ", time_loop(touch));
    rt_keys_sites(image, &site, 1, true);
    printf("key on with an empty hook %.2f\n", time_loop(touch));
    rt_keys_sites(image, &site, 1, false);

    printf("a flip of one key, us: one thread %.2f, ", time_flips(image, site));
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, hammer, NULL);
    printf("under %d running threads %.2f\n", THREADS, time_flips(image, site));
    printf("a batch of all %u sites, us: under %d running threads %.2f\n", image->site_count,
           THREADS, time_batch(image));
    atomic_store(&stop, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return words[site % 64] < 0; /* without a reader the stores would go */
}
