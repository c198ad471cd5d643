/* SPDX-License-Identifier: Apache-2.0 */
/* A variable on a stack is lent to a thread, and its owner goes on using it. */
#include "../program.h"

static void *fill(void *arg)
{
    *(int *)arg = next(); // RACE
    return NULL;
}

int main(void)
{
    pthread_t thread;
    int lent = next(); // NORACE
    start(&thread, fill, &lent);
    lent += next(); // RACE
    finish(thread);
    keep((unsigned long)lent); // NORACE
    return 0;
}
