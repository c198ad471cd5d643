/* SPDX-License-Identifier: Apache-2.0 */
/* A pointer goes into a union as an integer and comes out as a pointer. */
#include "program.h"
#include <stdint.h>

union word {
    uintptr_t bits;
    int *pointer;
};

static union word shared;

static void *through_pointer(void *arg)
{
    *shared.pointer = next(); // RACE
    return arg;
}

static void *through_bits(void *arg)
{
    int *p = (int *)shared.bits;
    *p += 3; // RACE
    return arg;
}

int main(void)
{
    pthread_t a, b;
    int *memory = malloc(sizeof *memory);
    if (!memory)
        return 1;
    *memory = next();                // NORACE
    shared.bits = (uintptr_t)memory; // NORACE
    start(&a, through_pointer, NULL);
    start(&b, through_bits, NULL);
    finish(a);
    finish(b);
    keep((unsigned long)*memory); // NORACE
    return 0;
}
