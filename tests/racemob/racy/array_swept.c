/* SPDX-License-Identifier: Apache-2.0 */
/* A thread reads an array from end to end, another writes one element of it, and a third every
 * fourth of another array that the first clears. */
#include "../program.h"

enum { ROUNDS = 300, LENGTH = 600 };

static long table[LENGTH];
static int marks[LENGTH];
static long total;
static int is_over;

static void *add(void *arg)
{
    int length = unforeseen(LENGTH);
    while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
        long sum = 0;
        for (int i = 0; i < length; i++)
            sum ^= table[i]; // RACE: one
        total = sum;
        for (int i = length; i-- > 0;)
            marks[i] = (int)sum; // RACE: mark
        nap(50);
    }
    return arg;
}

static void *mark(void *arg)
{
    int length = unforeseen(LENGTH);
    while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
        for (int i = 1; i < length; i += 4)
            marks[i] += 3; // RACE: mark
        nap(50);
    }
    return arg;
}

int main(void)
{
    pthread_t adder, marker;
    start(&adder, add, NULL);
    start(&marker, mark, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        table[unforeseen(LENGTH / 2 + 1)] = i; // RACE: one
        nap(50);
    }
    tell(&is_over, 1);
    finish(adder);
    finish(marker);
    return total == -1;
}
