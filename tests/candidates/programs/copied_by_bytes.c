/* SPDX-License-Identifier: Apache-2.0 */
/* Pointers that are copied byte by byte, swapped so, in pieces, or in packed structs. */
#include "program.h"

struct packed_link {
    char kind;
    long *to;
} __attribute__((packed));

static long by_loop, by_swap, by_pieces, by_packed;
static long *source = &by_loop, *copied, *left = &by_swap, *right, *whole = &by_pieces, *pieces;
static struct packed_link from, to;

static NOINLINE void copy(void *out, const void *in, unsigned long count)
{
    char *a = out;
    const char *b = in;
    while (count--)
        *a++ = *b++;
}

static NOINLINE void swap(void *x, void *y, unsigned long count)
{
    for (char *a = x, *b = y; count--; a++, b++) {
        char kept = *a;
        *a = *b;
        *b = kept;
    }
}

static void *work(void *arg)
{
    to = from;
    *copied = 1; // RACE: loop
    *right = 2;  // RACE: swap
    *pieces = 3; // RACE: pieces
    *to.to = 4;  // RACE: packed
    return arg;
}

int main(void)
{
    pthread_t thread;
    unsigned long size = sizeof source + (next() & 0x100);
    from.to = &by_packed;
    copy(&copied, &source, size);
    swap(&left, &right, size);
    memcpy(&pieces, &whole, 3);
    memcpy((char *)&pieces + 3, (char *)&whole + 3, 5);
    start(&thread, work, NULL);
    by_loop = 5;   // RACE: loop
    by_swap = 6;   // RACE: swap
    by_pieces = 7; // RACE: pieces
    by_packed = 8; // RACE: packed
    finish(thread);
    keep((unsigned long)(by_loop + by_swap + by_pieces + by_packed));
    return 0;
}
