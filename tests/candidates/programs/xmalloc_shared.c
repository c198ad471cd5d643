/* SPDX-License-Identifier: Apache-2.0 */
/* One object from an allocating wrapper that two threads get: the racy twin of xmalloc_callers.c.
 */
#include "program.h"

static NOINLINE void *xmalloc(size_t size)
{
    void *p = malloc(size);
    if (!p)
        abort();
    return p;
}

static int *of_a, *of_b;

static void *work_a(void *arg)
{
    *of_a += next(); // RACE
    return arg;
}

static void *work_b(void *arg)
{
    *of_b += next(); // RACE
    return arg;
}

int main(void)
{
    pthread_t a, b;
    of_a = xmalloc(sizeof *of_a);
    of_b = of_a;
    *of_a = next(); // NORACE
    start(&a, work_a, NULL);
    start(&b, work_b, NULL);
    finish(a);
    finish(b);
    keep((unsigned long)(*of_a + *of_b)); // NORACE
    return 0;
}
