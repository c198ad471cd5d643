/* SPDX-License-Identifier: Apache-2.0 */
/* A block is freed while another thread may still read it. */
#include "program.h"

static int *block;

static NOINLINE void give_back(void)
{
    free(block); // RACE
}

static void *read_it(void *arg)
{
    keep((unsigned long)*block); // RACE
    return arg;
}

int main(void)
{
    pthread_t thread;
    block = malloc(sizeof *block); // NORACE
    if (!block)
        return 1;
    *block = next(); // NORACE
    start(&thread, read_it, NULL);
    give_back();
    finish(thread);
    return 0;
}
