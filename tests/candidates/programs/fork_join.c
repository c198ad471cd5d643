/* SPDX-License-Identifier: Apache-2.0 */
/* Phases divided by create and join: no two threads run that touch the same. */
#include "program.h"

static int table[16], sum;

static void *fill(void *arg)
{
    for (int i = 0; i < 16; i++)
        table[i] = next(); // NORACE
    return arg;
}

static void *add(void *arg)
{
    for (int i = 0; i < 16; i++)
        sum += table[i]; // NORACE
    return arg;
}

int main(void)
{
    pthread_t filler, adder;
    sum = next(); // NORACE
    start(&filler, fill, NULL);
    finish(filler);
    table[3] += next(); // NORACE
    start(&adder, add, NULL);
    finish(adder);
    keep((unsigned long)sum); // NORACE
    return 0;
}
