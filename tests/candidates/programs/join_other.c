/* SPDX-License-Identifier: Apache-2.0 */
/* Main joins one thread and reads what the other one writes. */
#include "program.h"

static int from_a, from_b;

static void *write_a(void *arg)
{
    from_a = next(); // NORACE
    return arg;
}

static void *write_b(void *arg)
{
    from_b = next(); // RACE
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&a, write_a, NULL);
    start(&b, write_b, NULL);
    finish(a);
    keep((unsigned long)from_a); // NORACE
    keep((unsigned long)from_b); // RACE
    finish(b);
    keep((unsigned long)from_b); // NORACE
    return 0;
}
