/* SPDX-License-Identifier: Apache-2.0 */
/* Members of a union overlap. */
#include "program.h"

static union {
    long whole;
    struct {
        short low, high;
        int rest;
    } parts;
} value;

static void *work_a(void *arg)
{
    value.whole = next(); // RACE: low, rest
    return arg;
}

static void *work_b(void *arg)
{
    value.parts.low = (short)next();       // RACE: low
    keep((unsigned long)value.parts.rest); // RACE: rest
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&a, work_a, NULL);
    start(&b, work_b, NULL);
    finish(a);
    finish(b);
    keep((unsigned long)value.whole);
    return 0;
}
