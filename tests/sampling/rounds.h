/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs of this folder share: two threads that make a few calls in turn or at once,
 * round after round, without an order between their accesses (the waits are relaxed). */
#ifndef SAMPLING_ROUNDS_H
#define SAMPLING_ROUNDS_H

#include "../racemob/program.h"

enum { CALLS = 40 }; /* in a round */

static int first_done, second_done;

/* No thread is ahead of the other by more than a round. */
INLINE void call_in_rounds(void (*function)(long), long argument, int from, int to, int *mine,
                           int *others)
{
    for (int round = from; round < to; round++) {
        for (int i = 0; i < CALLS; i++)
            function(argument);
        tell(mine, round + 1);
        await(others, round + 1);
    }
}

INLINE void run_both(void *(*first)(void *), void *(*second)(void *))
{
    pthread_t a, b;
    must(pthread_create(&a, NULL, first, NULL) == 0);
    must(pthread_create(&b, NULL, second, NULL) == 0);
    must(pthread_join(a, NULL) == 0);
    must(pthread_join(b, NULL) == 0);
}

#endif
