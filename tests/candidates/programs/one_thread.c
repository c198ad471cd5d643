/* SPDX-License-Identifier: Apache-2.0 */
/* A single thread works while main waits: nobody else touches its data. */
#include "program.h"

static int state;
static int *heap;

static void *work(void *arg)
{
    state += next(); // NORACE
    *heap += state;  // NORACE
    return arg;
}

int main(void)
{
    pthread_t thread;
    heap = malloc(sizeof *heap); // NORACE
    if (!heap)
        return 1;
    *heap = next(); // NORACE
    start(&thread, work, NULL);
    finish(thread);
    keep((unsigned long)(state + *heap)); // NORACE
    return 0;
}
