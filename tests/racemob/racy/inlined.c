/* SPDX-License-Identifier: Apache-2.0 */
/* The racing access stands in a small function that is inlined into both threads; the line is its
 * own, not the caller's. */
#include "../program.h"

struct counter {
    long value;
};

static struct counter shared, other;

INLINE void bump(struct counter *counter)
{
    counter->value += next(); // RACE
}

static void *work_a(void *arg)
{
    bump(&shared); // NORACE
    bump(&other);  // NORACE
    return arg;
}

static void *work_b(void *arg)
{
    bump(&shared); // NORACE
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&a, work_a, NULL);
    start(&b, work_b, NULL);
    finish(a);
    finish(b);
    keep((unsigned long)(shared.value + other.value)); // NORACE
    return 0;
}
