/* SPDX-License-Identifier: Apache-2.0 */
/* Two threads share one handle variable: the join waits for the second only. */
#include "program.h"

static int value;

static void *work(void *arg)
{
    value += next(); // RACE: each other, main
    return arg;
}

int main(void)
{
    pthread_t thread, first;
    start(&thread, work, NULL);
    first = thread;
    start(&thread, work, NULL);
    finish(thread);
    keep((unsigned long)value); // RACE: main
    finish(first);
    return 0;
}
