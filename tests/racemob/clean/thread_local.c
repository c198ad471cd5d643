/* SPDX-License-Identifier: Apache-2.0 */
/* A thread-local variable is memory of each thread's own, even if its address is lent to a slot
 * that looks shared; the owner writes it by name, and the next thread may find its own at the same
 * place. The lender's join orders what main reads through the slot. */
#include "../program.h"

enum { THREADS = 3, ROUNDS = 3 };

static _Thread_local long own;
static long *slots[THREADS];
static long sums[THREADS];

static NOINLINE void add(int me, long value)
{
    *slots[unforeseen(me)] += value;
}

static void *work(void *arg)
{
    int me = (int)(long)arg;
    slots[unforeseen(me)] = &own;
    for (int i = 0; i < 5; i++) {
        own += i + 1;
        add(me, me);
    }
    sums[unforeseen(me)] = own;
    return NULL;
}

int main(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t threads[THREADS];
        for (int i = 0; i < THREADS; i++)
            start(&threads[i], work, (void *)(long)i);
        for (int i = 0; i < THREADS; i++)
            finish(threads[i]);
        for (int i = 0; i < THREADS; i++)
            must(sums[i] == 15 + 5 * i);
    }
    return 0;
}
