/* SPDX-License-Identifier: Apache-2.0 */
/* A function that the C library calls back counts in a global variable. */
#include "program.h"

static long comparisons;

static int compare(const void *a, const void *b)
{
    comparisons++; // RACE
    return *(const int *)a - *(const int *)b;
}

static void *sort(void *arg)
{
    int local[8];
    for (int i = 0; i < 8; i++)
        local[i] = next() * 7 % 5;
    qsort(local, 8, sizeof local[0], compare);
    keep((unsigned long)local[3]);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&a, sort, NULL);
    start(&b, sort, NULL);
    finish(a);
    finish(b);
    keep((unsigned long)comparisons); // NORACE
    return 0;
}
