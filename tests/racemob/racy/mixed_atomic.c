/* SPDX-License-Identifier: Apache-2.0 */
/* An atomic counter that one thread reads as if it were none. */
#include "../program.h"

static long counter;

static void *count(void *arg)
{
    for (int i = 0; i < 10; i++)
        __atomic_fetch_add(&counter, 1, __ATOMIC_SEQ_CST); // RACE
    return arg;
}

static void *look(void *arg)
{
    keep((unsigned long)counter); // RACE
    return arg;
}

int main(void)
{
    pthread_t a, b, c;
    start(&a, count, NULL);
    start(&b, count, NULL);
    start(&c, look, NULL);
    finish(a);
    finish(b);
    finish(c);
    return 0;
}
