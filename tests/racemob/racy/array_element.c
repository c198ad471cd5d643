/* SPDX-License-Identifier: Apache-2.0 */
/* Two threads share one element of an array, by an index that only the run knows; all others are
 * their own. */
#include "../program.h"

enum { SIZE = 8 };

static long cells[SIZE];
static volatile int place = 5;

static NOINLINE void add(int index, long value)
{
    cells[index] += value; // RACE
}

static void *low(void *arg)
{
    cells[0] = next(); // NORACE
    add(place, next());
    return arg;
}

static void *high(void *arg)
{
    cells[7] = next(); // NORACE
    add(place, next());
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&a, low, NULL);
    start(&b, high, NULL);
    finish(a);
    finish(b);
    keep((unsigned long)cells[next()]); // NORACE
    return 0;
}
