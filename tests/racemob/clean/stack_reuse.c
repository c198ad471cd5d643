/* SPDX-License-Identifier: Apache-2.0 */
/* The stack of a detached thread that has ended becomes the stack of the next one. The end of the
 * one and the creation of the other order the two lives; no join does. The local variable is lent
 * to a slot that looks as if it were shared. */
#include "../program.h"

enum { ROUNDS = 8 };

static int ended;
static int *slots[ROUNDS + 1];

static NOINLINE void fill(int me)
{
    int *lent = slots[unforeseen(me)];
    for (int i = 0; i < 64; i++)
        lent[i] += next();
}

static void *live(void *arg)
{
    int local[64], me = (int)(long)arg;
    for (int i = 0; i < 64; i++)
        local[i] = me;
    slots[unforeseen(me)] = local;
    fill(me);
    keep((unsigned long)local[next() % 64]);
    tell(&ended, me);
    return NULL;
}

int main(void)
{
    for (long i = 1; i <= ROUNDS; i++) {
        pthread_t thread;
        start(&thread, live, (void *)i);
        pthread_detach(thread);
        await(&ended, (int)i);
        nap(1000); /* until the stack is free again */
    }
    return 0;
}
