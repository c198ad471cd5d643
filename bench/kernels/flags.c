/* SPDX-License-Identifier: Apache-2.0 */
/* Threads hand work to each other through flags of their own making: the ad-hoc synchronisation
 * that the papers' programs have. Pairs of threads play ping-pong with boxes; half of the pairs
 * have flags that are volatile, the other half atomic ones.
 *
 * With volatile flags, the flag and what it guards race by the rules of C. With atomic flags
 * nothing does, and a tool that does not know them is wrong there. */
#include "kernel.h"

#include <time.h>

#define WORDS 8
#define RARER 8
#define STEPS 32768 /* of work that a box is worth */

struct volatile_box {
    volatile int full;
    uint64_t words[WORDS];
};

struct atomic_box {
    int full; /* by __atomic only */
    uint64_t words[WORDS];
};

static long atomic_rounds, volatile_rounds;
static struct volatile_box volatile_boxes[MOST_THREADS];
static struct atomic_box atomic_boxes[MOST_THREADS];
static uint64_t sums[MOST_THREADS];

static void nap(void)
{
    struct timespec length = {0, 20000};
    nanosleep(&length, NULL);
}

static uint64_t worth(long round)
{
    uint64_t seed = (uint64_t)round, sum = 0;
    for (int i = 0; i < STEPS; i++)
        sum += next_random(&seed);
    return sum;
}

static void *give_volatile(void *arg)
{
    struct volatile_box *box = &volatile_boxes[(long)arg];
    for (long round = 0; round < volatile_rounds; round++) {
        uint64_t value = worth(round);
        while (box->full) // RACE: emptied
            nap();
        for (int i = 0; i < WORDS; i++)
            box->words[i] = value + (uint64_t)i; // RACE: words
        box->full = 1;                           // RACE: filled, both
    }
    return NULL;
}

static void *take_volatile(void *arg)
{
    struct volatile_box *box = &volatile_boxes[(long)arg];
    uint64_t sum = 0;
    for (long round = 0; round < volatile_rounds; round++) {
        while (!box->full) // RACE: filled
            nap();
        for (int i = 0; i < WORDS; i++)
            sum += box->words[i]; // RACE: words
        box->full = 0;            // RACE: emptied, both
    }
    sums[(long)arg] = sum;
    return NULL;
}

static void *give_atomic(void *arg)
{
    struct atomic_box *box = &atomic_boxes[(long)arg];
    for (long round = 0; round < atomic_rounds; round++) {
        uint64_t value = worth(round);
        while (__atomic_load_n(&box->full, __ATOMIC_ACQUIRE))
            nap();
        for (int i = 0; i < WORDS; i++)
            box->words[i] = value + (uint64_t)i; // NORACE
        __atomic_store_n(&box->full, 1, __ATOMIC_RELEASE);
    }
    return NULL;
}

static void *take_atomic(void *arg)
{
    struct atomic_box *box = &atomic_boxes[(long)arg];
    uint64_t sum = 0;
    for (long round = 0; round < atomic_rounds; round++) {
        while (!__atomic_load_n(&box->full, __ATOMIC_ACQUIRE))
            nap();
        for (int i = 0; i < WORDS; i++)
            sum += box->words[i]; // NORACE
        __atomic_store_n(&box->full, 0, __ATOMIC_RELEASE);
    }
    sums[(long)arg] = sum;
    return NULL;
}

static uint64_t expected_sum(long rounds)
{
    uint64_t sum = (uint64_t)rounds * WORDS * (WORDS - 1) / 2;
    for (long round = 0; round < rounds; round++)
        sum += WORDS * worth(round);
    return sum;
}

int main(int argc, char **argv)
{
    pthread_t givers[MOST_THREADS], takers[MOST_THREADS];
    atomic_rounds = argument(argc, argv, 1, 1, 100000000);
    volatile_rounds = (atomic_rounds + RARER - 1) / RARER;
    long pairs = argument(argc, argv, 2, 1, MOST_THREADS);
    for (long i = 0; i < pairs; i++) {
        start(&givers[i], i % 2 ? give_atomic : give_volatile, (void *)i);
        start(&takers[i], i % 2 ? take_atomic : take_volatile, (void *)i);
    }
    for (long i = 0; i < pairs; i++) {
        finish(givers[i]);
        finish(takers[i]);
        check(sums[i] == expected_sum(i % 2 ? atomic_rounds : volatile_rounds),
              "what was taken is not what was given");
    }
    return 0;
}
