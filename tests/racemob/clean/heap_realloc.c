/* SPDX-License-Identifier: Apache-2.0 */
/* realloc gives the end of a block back, or the whole of it when it moves; another thread gets that
 * memory from malloc. The allocator orders the two lives; nothing else does. Each thread has a slot
 * that looks as if it were shared. */
#include "../program.h"
#include <malloc.h>

enum { LARGE = 16384, SMALL = 2048, ROUNDS = 10 };

static int turn;
static char *slots[2];

static NOINLINE void resize(int me, size_t from, size_t to)
{
    slots[unforeseen(me)] = malloc(from);
    must(slots[unforeseen(me)] != NULL);
    char *block = slots[unforeseen(me)];
    for (size_t i = 0; i < from; i += 64)
        block[i] = (char)next();
    slots[unforeseen(me)] = realloc(block, to);
    must(slots[unforeseen(me)] != NULL);
    block = slots[unforeseen(me)];
    for (size_t i = 0; i < to; i += 64)
        block[i] = (char)next();
}

static void *shrink(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        await(&turn, 2 * i);
        resize(0, LARGE, SMALL);
        tell(&turn, 2 * i + 1);
        free(slots[unforeseen(0)]);
    }
    return arg;
}

static void *grow(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        await(&turn, 2 * i + 1);
        resize(1, SMALL, LARGE);
        free(slots[unforeseen(1)]);
        tell(&turn, 2 * i + 2);
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    mallopt(M_ARENA_MAX, 1);
    start(&a, shrink, NULL);
    start(&b, grow, NULL);
    finish(a);
    finish(b);
    return 0;
}
