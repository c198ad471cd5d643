/* SPDX-License-Identifier: Apache-2.0 */
/* A struct with a pointer is copied byte by byte; both copies lead to the same memory. */
#include "program.h"

struct handle {
    int kind;
    int *target;
};

static struct handle original;

static void *through_copy(void *arg)
{
    struct handle copy;
    memcpy(&copy, &original, sizeof copy); // NORACE
    *copy.target = next();                 // RACE
    return arg;
}

static void *through_original(void *arg)
{
    *original.target += 3; // RACE
    return arg;
}

int main(void)
{
    pthread_t a, b;
    original.target = malloc(sizeof(int)); // NORACE
    if (!original.target)
        return 1;
    *original.target = next(); // NORACE
    start(&a, through_copy, NULL);
    start(&b, through_original, NULL);
    finish(a);
    finish(b);
    return 0;
}
