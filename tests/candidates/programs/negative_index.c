/* SPDX-License-Identifier: Apache-2.0 */
/* An index that is below zero until a number is added to it. */
#include "program.h"

struct bin {
    long hits, sum;
};

static struct bin *bins;

static NOINLINE void count(int n)
{
    bins[n + 8].sum++; // RACE
}

static void *work(void *arg)
{
    for (int i = 0; i < 16; i++)
        count(next() % 16 - 8);
    return arg;
}

int main(void)
{
    pthread_t thread;
    bins = calloc(16, sizeof *bins);
    if (!bins)
        return 1;
    start(&thread, work, NULL);
    bins[2].sum = next(); // RACE
    finish(thread);
    keep((unsigned long)bins[3].sum);
    return 0;
}
