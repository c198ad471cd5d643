/* SPDX-License-Identifier: Apache-2.0 */
/* A variable on a stack is lent to a thread and back in time: created, written by the other,
 * joined, and the next call has another variable at the same place. */
#include "../program.h"

static void *fill(void *arg)
{
    int *lent = arg;
    lent[0] = 1;
    lent[1] += next();
    return NULL;
}

static NOINLINE int lend(void)
{
    pthread_t thread;
    int local[2] = {next(), next()};
    start(&thread, fill, local);
    finish(thread);
    return local[0] + local[1];
}

static void *lend_often(void *arg)
{
    for (int i = 0; i < 5; i++)
        keep((unsigned long)lend());
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&a, lend_often, NULL);
    start(&b, lend_often, NULL);
    finish(a);
    finish(b);
    return 0;
}
