/* SPDX-License-Identifier: Apache-2.0 */
/* RACE with an uninstrumented access: libc's memcpy writes what a thread is about to read. */
// WATCHED: memmove, memcpy
#include "subject.h"

static long value;
static int over;

static void *reset(void *arg)
{
    value = 0;
    return arg;
}

static void *look(void *arg)
{
    for (int i = 0; i < LOOKS; i++) {
        keep((unsigned long)value); // UNINSTRUMENTED
        rest();
    }
    tell(&over, 1);
    return arg;
}

static void *overwrite(void *arg)
{
    for (long i = 1; !__atomic_load_n(&over, __ATOMIC_RELAXED); i++) {
        copy_of_libc(&value, &i, sizeof i);
        rest();
    }
    return arg;
}

int main(void)
{
    return run_beside(look, overwrite, reset);
}
