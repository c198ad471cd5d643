/* SPDX-License-Identifier: Apache-2.0 */
/* Bit-fields side by side share their memory; the member behind them does not. */
#include "../program.h"

static struct {
    unsigned left : 4;
    unsigned right : 4;
    unsigned char apart;
} bits;

static void *write_left(void *arg)
{
    bits.left = (unsigned)next() & 15; // RACE
    return arg;
}

static void *write_right(void *arg)
{
    bits.right = (unsigned)next() & 15; // RACE
    return arg;
}

static void *write_apart(void *arg)
{
    bits.apart = (unsigned char)next(); // NORACE
    return arg;
}

int main(void)
{
    pthread_t a, b, c;
    start(&a, write_left, NULL);
    start(&b, write_right, NULL);
    start(&c, write_apart, NULL);
    finish(a);
    finish(b);
    finish(c);
    keep((unsigned long)(bits.left + bits.right + bits.apart)); // NORACE
    return 0;
}
