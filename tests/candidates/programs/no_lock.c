/* SPDX-License-Identifier: Apache-2.0 */
/* Two threads count without a lock. */
#include "program.h"

static int counter;

static void *count(void *arg)
{
    counter += next(); // RACE
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
