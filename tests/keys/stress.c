/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Four threads compute with every form of access while keys are flipped at random; a wrong
 * execution shows as a wrong result. One thread blocks every signal, SIGTRAP included.
 * Usage: stress ROUNDS. Prints "right" and ends with 0, or says what was wrong and ends with 1.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, SIZE = 64 };

struct node {
    struct node *next;
    uint64_t value;
    uint32_t low, high;
    uint8_t bytes[16];
};

struct state {
    struct node nodes[SIZE];
    uint64_t table[SIZE];
    double numbers[SIZE];
    _Atomic uint64_t counter;
    uint64_t seed;
};

static uint64_t rounds;

__attribute__((noinline)) static uint64_t mix(struct state *s, uint64_t i)
{
    struct node *n = &s->nodes[i % SIZE];
    n->value += i;
    n->low ^= (uint32_t)n->value;
    n->high += n->low * 3;
    n->bytes[i & 15]++;
    return n->value ^ n->high;
}

__attribute__((noinline)) static uint64_t walk(const struct state *s)
{
    uint64_t sum = 0;
    for (const struct node *n = &s->nodes[0]; n; n = n->next)
        sum = sum * 31 + n->value + n->bytes[3];
    return sum;
}

__attribute__((noinline)) static double smooth(struct state *s)
{
    double sum = 0;
    for (int i = 1; i < SIZE - 1; i++) {
        s->numbers[i] = (s->numbers[i - 1] + s->numbers[i] + s->numbers[i + 1]) / 3;
        sum += s->numbers[i];
    }
    return sum;
}

__attribute__((noinline)) static void escape(uint64_t *slot, uint64_t by)
{
    *slot += by;
}

__attribute__((noinline)) static uint64_t copy(struct state *s, size_t bytes)
{
    uint64_t there[SIZE];
    memset(there, 0, sizeof there);
    memcpy(there, s->table, bytes);
    escape(&there[1], bytes);
    memmove(s->table, &there[1], bytes / 2 & ~(size_t)7);
    return there[1];
}

static void prepare(struct state *s, uint64_t seed)
{
    memset(s, 0, sizeof *s);
    s->seed = seed;
    for (int i = 0; i < SIZE; i++) {
        s->nodes[i].next = i + 1 < SIZE ? &s->nodes[i + 1] : NULL;
        s->table[i] = seed * (uint64_t)i;
        s->numbers[i] = (double)((seed + (uint64_t)i) % 17);
    }
}

/* One round is a few microseconds: keys change many times while a thread is on its way. */
static uint64_t compute(struct state *s, uint64_t count)
{
    uint64_t hash = s->seed;
    for (uint64_t i = 0; i < count; i++) {
        hash = hash * 6364136223846793005u + mix(s, i);
        hash ^= walk(s);
        double sum = smooth(s);
        uint64_t bits;
        memcpy(&bits, &sum, sizeof bits);
        hash += bits + copy(s, (size_t)(i % 32) * 8);
        hash ^= atomic_fetch_add(&s->counter, 1);
        if (atomic_load_explicit(&s->counter, memory_order_acquire) != i + 1)
            return 0;
    }
    return hash;
}

static void *work(void *arg)
{
    struct state *s = arg;
    if (s->seed == 1) {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, NULL);
    }
    uint64_t *result = malloc(sizeof *result);
    *result = compute(s, rounds);
    return result;
}

int main(int argc, char **argv)
{
    static struct state states[THREADS];
    uint64_t results[THREADS];
    pthread_t threads[THREADS];
    rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000;
    for (uint64_t i = 0; i < THREADS; i++) {
        prepare(&states[i], i / 2 + 1); /* two threads each compute the same */
        if (pthread_create(&threads[i], NULL, work, &states[i]))
            return 1;
    }
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        results[i] = *(uint64_t *)result;
        free(result);
    }
    bool right = results[0] && results[0] == results[1] && results[2] == results[3] &&
                 results[0] != results[2];
    printf("%s %016llx %016llx\n", right ? "right" : "wrong", (unsigned long long)results[0],
           (unsigned long long)results[2]);
    return right ? 0 : 1;
}
