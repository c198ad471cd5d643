/* SPDX-License-Identifier: Apache-2.0 */
/* Two threads work on one array in loops that take only their own elements: every second one, those
 * up to a bound, from the end down, up to one that ends the search, those with a mark. */
#include "../program.h"

enum { ROUNDS = 60, LENGTH = 203, MARK = 1000000 };

static int small[LENGTH];
static long large[LENGTH];
static struct pair {
    long mine[2], other;
} pairs[LENGTH];
static long sums[2];
static pthread_barrier_t done;

NOINLINE void take_every_second(int self, int length)
{
    for (int i = self; i < length; i += 2)
        small[i]++;
    for (int i = self; i < length; i += 2)
        large[i] += small[i];
}

NOINLINE void take_part(int self, long bound, long length)
{
    if (self) {
        for (long i = bound; i < length; i++)
            large[i]--;
        for (long *at = large + length; at > large + bound; at--)
            at[-1] ^= 1;
    } else {
        for (long i = bound; --i >= 0;)
            large[i]--;
        for (long i = 0; i < bound; i += 3)
            sums[0] += large[i];
    }
}

/* The first thread stops at the mark, behind which the second one writes. */
NOINLINE void search(int self, long bound, long length)
{
    if (self) {
        for (long i = bound + 1; i < length; i++)
            large[i] = i;
    } else {
        long i = 0;
        while (i < length && large[i] != MARK)
            i++;
        sums[0] += i;
    }
}

NOINLINE void take_marked(int self, int length)
{
    for (int i = 0; i < length; i++) {
        if ((i * 7 % 5 > 2) == self)
            pairs[i].mine[i & 1]++;
        pairs[i].mine[0] += self ? 0 : pairs[i].mine[0] < 0;
    }
}

/* Members of neighbours, of which each thread has one. */
NOINLINE void take_members(int self, int length)
{
    if (self)
        for (int i = 0; i < length; i++)
            pairs[i].other += i;
    else
        for (int i = 0; i < length; i++)
            pairs[i].mine[0] = pairs[i].mine[1] = i;
}

static void *work(void *arg)
{
    int self = (int)(long)arg, length = unforeseen(LENGTH);
    for (int round = 0; round < ROUNDS; round++) {
        long bound = round * 3 % length;
        take_every_second(self, length);
        pthread_barrier_wait(&done);
        take_part(self, bound, length);
        pthread_barrier_wait(&done);
        if (self)
            large[bound] = MARK;
        pthread_barrier_wait(&done);
        search(self, bound, length);
        pthread_barrier_wait(&done);
        take_members(self, length);
        pthread_barrier_wait(&done);
        if (self == round % 2)
            take_marked(self, length);
        pthread_barrier_wait(&done);
    }
    return NULL;
}

int main(void)
{
    pthread_t second;
    pthread_barrier_init(&done, NULL, 2);
    start(&second, work, (void *)1);
    work(NULL);
    finish(second);
    return sums[0] < 0;
}
