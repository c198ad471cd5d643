/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a stack costs: a frame whose row is in the cache, one whose row is not, one whose row cannot
 * be kept there, a stack of unknown bounds, a check for new images; libgcc's unwinder beside it.
 */
#include <execinfo.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "stack/images.h"
#include "stack/stack.h"

enum { MAX = 256, DEPTH = 100, ROUNDS = 20000 };

static struct rt_thread self;
static uintptr_t pcs[MAX];
static void *their_pcs[MAX];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

typedef uint32_t take_function(void);

static uint32_t take_known(void)
{
    return rt_stack_here(&self, pcs, MAX);
}

static uint32_t take_unknown(void)
{
    return rt_stack_here(NULL, pcs, MAX);
}

/* As after the unloading of an image: no row of the cache counts any more. */
static uint32_t take_uncached(void)
{
    atomic_fetch_add(&rt_stack_generation, 1);
    return rt_stack_here(&self, pcs, MAX);
}

static uint32_t take_theirs(void)
{
    return (uint32_t)backtrace(their_pcs, MAX);
}

/* The best of several: others may want the processor too. */
static double measure(take_function *take, uint32_t *frames, int rounds)
{
    double best = 1e18;
    for (int attempt = 0; attempt < 7; attempt++) {
        double start = now();
        for (int i = 0; i < rounds; i++)
            *frames = take();
        double each = (now() - start) / rounds;
        best = each < best ? each : best;
    }
    return best;
}

static void report(const char *what, take_function *take, int rounds)
{
    uint32_t frames;
    double cost = measure(take, &frames, rounds);
    printf("%-46s %8.0f ns %4u frames %7.1f ns a frame\n", what, cost, frames, cost / frames);
}

static void report_all(void)
{
    report("rows cached", take_known, ROUNDS);
    report("rows cached, bounds of the stack unknown", take_unknown, ROUNDS);
    report("backtrace() of libc", take_theirs, ROUNDS / 100);
}

/* Few enough levels that no return address comes twice. */
static void report_uncached(void)
{
    report("rows not cached", take_uncached, ROUNDS / 10);
}

/* Different functions, for a cache that is really used: one return address for each level. */
#define LEVELS(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
typedef void level_function(int depth, void (*then)(void));
static level_function *const levels[8];
#define LEVEL(n)                                                                                   \
    __attribute__((noinline)) static void level_##n(int depth, void (*then)(void))                 \
    {                                                                                              \
        volatile int room[4 + n];                                                                  \
        room[n] = depth;                                                                           \
        if (depth == 0)                                                                            \
            then();                                                                                \
        else                                                                                       \
            levels[(n * 5 + depth) % 8](room[n] - 1, then);                                        \
        room[n + 1] = 1;                                                                           \
    }
LEVELS(LEVEL)
#define LEVEL_ROW(n) level_##n,
static level_function *const levels[8] = {LEVELS(LEVEL_ROW)};

/* gcc gives such a frame a row that is an expression. */
__attribute__((noinline)) static void realigned(int size)
{
    _Alignas(64) volatile char block[64];
    volatile char more[size];
    block[0] = more[0] = 1;
    uint32_t frames;
    printf("%-46s %8.0f ns\n", "10 frames and one realigned frame",
           measure(take_known, &frames, ROUNDS / 10));
    block[1] = more[1] = block[0];
}

static void call_realigned(void)
{
    realigned(100);
}

static void report_small(void)
{
    uint32_t frames;
    printf("%-46s %8.0f ns\n", "10 frames", measure(take_known, &frames, ROUNDS));
}

static uint32_t refresh(void)
{
    rt_stack_refresh();
    return 1;
}

int main(void)
{
    pthread_attr_t attr;
    void *low;
    size_t size;
    uint32_t frames;
    pthread_getattr_np(pthread_self(), &attr);
    pthread_attr_getstack(&attr, &low, &size);
    self.stack_low = (uintptr_t)low;
    self.stack_high = (uintptr_t)low + size;
    rt_stack_refresh();
    level_0(DEPTH, report_all);
    level_0(7, report_uncached);
    level_0(5, report_small);
    level_0(4, call_realigned);
    printf("%-46s %8.0f ns\n", "refresh when nothing has changed",
           measure(refresh, &frames, ROUNDS));
    return 0;
}
