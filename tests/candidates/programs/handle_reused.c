/* SPDX-License-Identifier: Apache-2.0 */
/* One handle variable serves threads that follow each other, each joined before the next. */
#include "program.h"

static int value, other;

static void *first(void *arg)
{
    value = next(); // NORACE
    return arg;
}

static void *second(void *arg)
{
    value += next(); // NORACE
    other = next();  // RACE
    return arg;
}

int main(void)
{
    pthread_t thread;
    start(&thread, first, NULL);
    finish(thread);
    value += next(); // NORACE
    start(&thread, second, NULL);
    keep((unsigned long)other); // RACE
    finish(thread);
    keep((unsigned long)(value + other)); // NORACE
    return 0;
}
