/* SPDX-License-Identifier: Apache-2.0 */
/* A mapping is removed by one thread, and another maps memory at the same address. The kernel
 * orders the two lives; nothing else does. */
#include "../program.h"
#include <stdint.h>
#include <sys/mman.h>

enum { SIZE = 1 << 16, ROUNDS = 10 };

static int turn;
static uintptr_t place; /* only a hint */

static void live(int i)
{
    void *hint = (void *)__atomic_load_n(&place, __ATOMIC_RELAXED);
    int *words = mmap(hint, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(words != MAP_FAILED);
    for (int k = 0; k < 100; k++)
        words[k] += i;
    keep((unsigned long)words[next() % 100]);
    __atomic_store_n(&place, (uintptr_t)words, __ATOMIC_RELAXED);
    must(munmap(words, SIZE) == 0);
    tell(&turn, i + 1);
}

static void *even(void *arg)
{
    for (int i = 0; i < ROUNDS; i += 2) {
        await(&turn, i);
        live(i);
    }
    return arg;
}

static void *odd(void *arg)
{
    for (int i = 1; i < ROUNDS; i += 2) {
        await(&turn, i);
        live(i);
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&a, even, NULL);
    start(&b, odd, NULL);
    finish(a);
    finish(b);
    return 0;
}
