/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the programs of this folder share. Each has one site, in look, where a run pauses a thread;
 * the site is in a candidate only because of another, in reset, that never runs. Whatever changes
 * the value does so without a key.
 */
#ifndef UNINSTRUMENTED_SUBJECT_H
#define UNINSTRUMENTED_SUBJECT_H

#include "../../racemob/program.h"

#include <string.h>
#include <unistd.h>

#define UNUSED __attribute__((unused))

enum { LOOKS = 30, PERIOD = 1000 };

/* Where the compiler, and racehive, cannot see what is called. */
UNUSED static void *(*volatile copy_of_libc)(void *, const void *, size_t) = memcpy;
UNUSED static ssize_t (*volatile read_of_libc)(int, void *, size_t) = read;

/* Not before each look, or the other threads would have no time of their own. */
INLINE void rest(void)
{
    nap(PERIOD);
}

/* Two threads, and a third that never runs. */
INLINE int run_beside(void *(*look)(void *), void *(*other)(void *), void *(*reset)(void *))
{
    pthread_t a, b, never;
    if (unforeseen(0))
        start(&never, reset, NULL);
    start(&a, look, NULL);
    start(&b, other, NULL);
    finish(a);
    finish(b);
    return 0;
}

#endif
