/* Threads hand work to each other through flags of their own making: the ad-hoc synchronisation
 * that the papers' programs have. Pairs of threads play ping-pong with boxes; half of the pairs
 * have flags that are volatile, the other half atomic ones.
 *
 * With volatile flags, the flag and what it guards race by the rules of C. With atomic flags
 * nothing does, and a tool that does not know them is wrong there. */
#include "kernel.h"

#include <sched.h>

#define WORDS 64

struct volatile_box {
    volatile int full;
    uint64_t words[WORDS];
};

struct atomic_box {
    int full; /* by __atomic only */
    uint64_t words[WORDS];
};

static long rounds, pairs;
static struct volatile_box volatile_boxes[MOST_THREADS];
static struct atomic_box atomic_boxes[MOST_THREADS];
static uint64_t sums[MOST_THREADS];

static void *give_volatile(void *arg)
{
    struct volatile_box *box = &volatile_boxes[(long)arg];
    for (long round = 0; round < rounds; round++) {
        while (box->full) // RACE: emptied
            sched_yield();
        for (int i = 0; i < WORDS; i++)
            box->words[i] = (uint64_t)(round + i); // RACE: words
        box->full = 1;                             // RACE: filled, both
    }
    return NULL;
}

static void *take_volatile(void *arg)
{
    struct volatile_box *box = &volatile_boxes[(long)arg];
    uint64_t sum = 0;
    for (long round = 0; round < rounds; round++) {
        while (!box->full) // RACE: filled
            sched_yield();
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
    for (long round = 0; round < rounds; round++) {
        while (__atomic_load_n(&box->full, __ATOMIC_ACQUIRE))
            sched_yield();
        for (int i = 0; i < WORDS; i++)
            box->words[i] = (uint64_t)(round + i); // NORACE
        __atomic_store_n(&box->full, 1, __ATOMIC_RELEASE);
    }
    return NULL;
}

static void *take_atomic(void *arg)
{
    struct atomic_box *box = &atomic_boxes[(long)arg];
    uint64_t sum = 0;
    for (long round = 0; round < rounds; round++) {
        while (!__atomic_load_n(&box->full, __ATOMIC_ACQUIRE))
            sched_yield();
        for (int i = 0; i < WORDS; i++)
            sum += box->words[i]; // NORACE
        __atomic_store_n(&box->full, 0, __ATOMIC_RELEASE);
    }
    sums[(long)arg] = sum;
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t givers[MOST_THREADS], takers[MOST_THREADS];
    rounds = argument(argc, argv, 1, 1, 100000000);
    pairs = argument(argc, argv, 2, 1, MOST_THREADS);
    for (long i = 0; i < pairs; i++) {
        start(&givers[i], i % 2 ? give_atomic : give_volatile, (void *)i);
        start(&takers[i], i % 2 ? take_atomic : take_volatile, (void *)i);
    }
    uint64_t expected = (uint64_t)rounds * WORDS * (WORDS - 1) / 2;
    expected += (uint64_t)WORDS * (uint64_t)rounds * (uint64_t)(rounds - 1) / 2;
    for (long i = 0; i < pairs; i++) {
        finish(givers[i]);
        finish(takers[i]);
        check(sums[i] == expected, "what was taken is not what was given");
    }
    return 0;
}
