/* SPDX-License-Identifier: Apache-2.0 */
/* One side is atomic, the other is not. */
#include "program.h"

static int mixed, clean;

static void *atomically(void *arg)
{
    __atomic_fetch_add(&mixed, 1, __ATOMIC_SEQ_CST); // RACE
    __atomic_fetch_add(&clean, 1, __ATOMIC_SEQ_CST); // NORACE
    return arg;
}

static void *plainly(void *arg)
{
    mixed += 3;                                                     // RACE
    keep((unsigned long)__atomic_load_n(&clean, __ATOMIC_ACQUIRE)); // NORACE
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&a, atomically, NULL);
    start(&b, plainly, NULL);
    finish(a);
    finish(b);
    keep((unsigned long)(mixed + clean)); // NORACE
    return 0;
}
