/* SPDX-License-Identifier: Apache-2.0 */
/* volatile does not synchronise. */
#include "program.h"

static volatile int counter;

static void *count(void *arg)
{
    counter = counter + 1; // RACE
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&a, count, NULL);
    start(&b, count, NULL);
    finish(a);
    finish(b);
    keep((unsigned long)counter); // NORACE
    return 0;
}
