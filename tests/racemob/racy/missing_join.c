/* SPDX-License-Identifier: Apache-2.0 */
/* main joins one of its two threads and reads what both have written. */
#include "../program.h"

static long joined, forgotten;

static void *write_joined(void *arg)
{
    joined = next(); // NORACE
    return arg;
}

static void *write_forgotten(void *arg)
{
    forgotten = next(); // RACE
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&b, write_forgotten, NULL);
    start(&a, write_joined, NULL);
    finish(a);
    keep((unsigned long)joined);    // NORACE
    keep((unsigned long)forgotten); // RACE
    finish(b);
    keep((unsigned long)forgotten); // NORACE
    return 0;
}
