/* SPDX-License-Identifier: Apache-2.0 */
/* A block is freed by a thread that was told only by a relaxed store that its reader is done. */
#include "../program.h"

static int *block;
static int used;

static NOINLINE void give_back(int *pointer)
{
    free(pointer); // RACE
}

static void *use(void *arg)
{
    keep((unsigned long)block[10]); // RACE
    tell(&used, 1);
    return arg;
}

int main(void)
{
    pthread_t thread;
    block = malloc(40 * sizeof *block); // NORACE
    must(block != NULL);
    block[10] = next(); // NORACE
    start(&thread, use, NULL);
    await(&used, 1);
    give_back(block);
    finish(thread);
    return 0;
}
// APART
