/* SPDX-License-Identifier: Apache-2.0 */
/* A thread gets its pointer as an integer with a tag in the low bit. */
#include "program.h"
#include <stdint.h>

static long cell;

static void *work(void *arg)
{
    intptr_t tagged = (intptr_t)arg;
    long *p = (long *)(tagged & ~(intptr_t)1);
    *p += next(); // RACE
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    start(&a, work, (void *)((intptr_t)&cell | 1));
    start(&b, work, (void *)((intptr_t)&cell | 0));
    finish(a);
    finish(b);
    keep((unsigned long)cell);
    return 0;
}
