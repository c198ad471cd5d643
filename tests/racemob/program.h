/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs of this folder share: the helpers of the candidates' programs, a check of calls
 * that cannot fail, and a way to wait that orders nothing. */
#ifndef RACEMOB_PROGRAM_H
#define RACEMOB_PROGRAM_H

#include "../candidates/programs/program.h"

#include <time.h>

INLINE void must(int holds)
{
    if (!holds)
        abort();
}

/* The same number, which no analysis can know before the program runs. Where the static search for
 * races would see at once that all is well, there is nothing left for a run to get wrong: an array
 * of locks of which always the same one is taken keeps it in the dark. */
static volatile int nothing;

INLINE int unforeseen(int value)
{
    return value + nothing;
}

INLINE void nap(long microseconds)
{
    struct timespec length = {microseconds / 1000000, microseconds % 1000000 * 1000};
    nanosleep(&length, NULL);
}

/* Relaxed accesses: by the rules of the language no other access is ordered by them, whatever the
 * clock says. */
INLINE void tell(int *stage, int value)
{
    __atomic_store_n(stage, value, __ATOMIC_RELAXED);
}

INLINE void await(int *stage, int value)
{
    while (__atomic_load_n(stage, __ATOMIC_RELAXED) < value)
        nap(100);
}

#endif
