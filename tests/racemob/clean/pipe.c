/* SPDX-License-Identifier: Apache-2.0 */
/* A pipe carries the number of a filled block, and a byte that gives it back: who has read comes
 * after who has written. POSIX does not list read and write as synchronising; every kernel does
 * synchronise there, and detectors that do not know it are of no use to programs that wait so. */
#include "../program.h"
#include <unistd.h>

static int there[2], back[2], blocks[2];

static void *answer(void *arg)
{
    int number;
    must(read(there[0], &number, sizeof number) == sizeof number);
    must(blocks[number] == 6);
    blocks[number] = 7;
    must(write(back[1], "x", 1) == 1);
    return arg;
}

int main(void)
{
    pthread_t thread;
    int number = unforeseen(1);
    char byte;
    must(pipe(there) == 0 && pipe(back) == 0);
    start(&thread, answer, NULL);
    blocks[number] = 6;
    must(write(there[1], &number, sizeof number) == sizeof number);
    must(read(back[0], &byte, 1) == 1);
    must(blocks[number] == 7);
    blocks[number] = 8;
    finish(thread);
    return 0;
}
