/* SPDX-License-Identifier: Apache-2.0 */
/* No race: the site is an atomic read, and the uninstrumented write is atomic too. */
#include "subject.h"
#include <stdatomic.h>

static atomic_long value;
static int over;

static void *reset(void *arg)
{
    *(volatile long *)&value = 0;
    return arg;
}

static void *look(void *arg)
{
    for (int i = 0; i < LOOKS; i++) {
        keep((unsigned long)atomic_load_explicit(&value, memory_order_relaxed));
        rest();
    }
    tell(&over, 1);
    return arg;
}

static void *count(void *arg)
{
    while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
        atomic_fetch_add_explicit(&value, 1, memory_order_relaxed);
        rest();
    }
    return arg;
}

int main(void)
{
    return run_beside(look, count, reset);
}
