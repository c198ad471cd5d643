/* SPDX-License-Identifier: Apache-2.0 */
/* A pointer that shares its word with other bits, at its lower end. */
#include "program.h"

static long target, other;
static unsigned long tagged, compressed;

static NOINLINE void put(long *a, long *b)
{
    tagged = (unsigned long)a << 16 | (next() & 0xff);
    compressed = (unsigned long)b >> 3;
}

static void *work(void *arg)
{
    *(long *)(tagged >> 16) = 1;    // RACE: tagged
    *(long *)(compressed << 3) = 2; // RACE: compressed
    return arg;
}

int main(void)
{
    pthread_t thread;
    put(&target, &other);
    start(&thread, work, NULL);
    target = 3; // RACE: tagged
    other = 4;  // RACE: compressed
    finish(thread);
    keep((unsigned long)(target + other));
    return 0;
}
