/* SPDX-License-Identifier: Apache-2.0 */
/* A pointer to the middle of an array, with indices on both sides of it. */
#include "program.h"

static long table[16], *middle;
static long first, second, *pointers[9], **centre;
static struct {
    long before; // of the array: no index leads here
    long window[8];
} shape;
static long *window;

static void *work(void *arg)
{
    for (int i = 0, n = -(int)(next() % 2); i < 4; i++, n--) {
        middle[n - 2] = 1; // RACE: table
        *centre[n] = 2;    // RACE: pointers
        window[n - 3] = 3; // RACE: window
    }
    return arg;
}

static NOINLINE void prepare(void)
{
    middle = &table[8];
    centre = &pointers[4];
    window = &shape.window[6];
    for (int i = 0; i < 9; i++)
        pointers[i] = i < 4 ? &first : &second;
}

int main(void)
{
    pthread_t thread;
    prepare();
    start(&thread, work, NULL);
    table[4] = 4;        // RACE: table
    first = 5;           // RACE: pointers
    shape.window[2] = 6; // RACE: window
    shape.before = 7;    // NORACE
    finish(thread);
    keep((unsigned long)(table[3] + first + second + shape.before + shape.window[3]));
    return 0;
}
