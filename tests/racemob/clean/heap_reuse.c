/* SPDX-License-Identifier: Apache-2.0 */
/* A block is freed by one thread and given to another by malloc. The allocator itself orders the
 * two lives of the memory; nothing else does. Blocks of this size go back to the one arena at once,
 * so the address does come back. Each thread has a slot that looks as if it were shared. */
#include "../program.h"
#include <malloc.h>

enum { WORDS = 1024, ROUNDS = 20 };

static int turn;
static int *slots[2];

static NOINLINE void live(int me, int value)
{
    slots[unforeseen(me)] = malloc(WORDS * sizeof *slots[0]);
    must(slots[unforeseen(me)] != NULL);
    int *block = slots[unforeseen(me)];
    for (int i = 0; i < WORDS; i++)
        block[i] = value;
    keep((unsigned long)block[next() % WORDS]);
    free(slots[unforeseen(me)]);
}

static void *even(void *arg)
{
    for (int i = 0; i < ROUNDS; i += 2) {
        await(&turn, i);
        live(0, i);
        tell(&turn, i + 1);
    }
    return arg;
}

static void *odd(void *arg)
{
    for (int i = 1; i < ROUNDS; i += 2) {
        await(&turn, i);
        live(1, i);
        tell(&turn, i + 1);
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    mallopt(M_ARENA_MAX, 1);
    start(&a, even, NULL);
    start(&b, odd, NULL);
    finish(a);
    finish(b);
    return 0;
}
