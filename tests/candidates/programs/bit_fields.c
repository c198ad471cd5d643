/* SPDX-License-Identifier: Apache-2.0 */
/* Bit-fields that share a word race; those in words of their own do not. */
#include "program.h"

static struct {
    unsigned a : 3, b : 5;
    unsigned : 0;
    unsigned c : 8;
    unsigned : 0;
    unsigned d : 8;
} flags;

static void *work_a(void *arg)
{
    flags.a = (unsigned)next(); // RACE
    flags.c = (unsigned)next(); // NORACE
    return arg;
}

static void *work_b(void *arg)
{
    flags.b = (unsigned)next(); // RACE
    flags.d = (unsigned)next(); // NORACE
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&a, work_a, NULL);
    start(&b, work_b, NULL);
    finish(a);
    finish(b);
    keep(flags.a + flags.b + flags.c + flags.d);
    return 0;
}
