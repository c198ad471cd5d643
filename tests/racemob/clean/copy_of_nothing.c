/* SPDX-License-Identifier: Apache-2.0 */
/* A copy of no bytes touches nothing, though it points into what another thread writes. */
#include "../program.h"

static char buffer[64];

static NOINLINE void *fill(void *arg)
{
    memset(buffer, next() + 1, sizeof buffer);
    return arg;
}

static NOINLINE void *copy(void *arg)
{
    char here[64];
    volatile unsigned long length = (unsigned long)unforeseen(0);
    memcpy(here, buffer + 8, length);
    memset(buffer + 16, 1, length);
    keep(length ? (unsigned long)here[0] : 0);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&a, fill, NULL);
    start(&b, copy, NULL);
    finish(a);
    finish(b);
    return 0;
}
