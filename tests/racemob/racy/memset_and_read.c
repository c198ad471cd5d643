/* SPDX-License-Identifier: Apache-2.0 */
/* A buffer of a size known only at run time is cleared while another thread reads its middle. */
#include "../program.h"

static char buffer[256];
static volatile size_t size = sizeof buffer;

static NOINLINE void clear(size_t length)
{
    memset(buffer, next(), length); // RACE
}

static void *clear_it(void *arg)
{
    clear(size);
    return arg;
}

static void *read_it(void *arg)
{
    keep((unsigned long)buffer[128 + next()]); // RACE
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&a, clear_it, NULL);
    start(&b, read_it, NULL);
    finish(a);
    finish(b);
    keep((unsigned long)buffer[next()]); // NORACE
    return 0;
}
