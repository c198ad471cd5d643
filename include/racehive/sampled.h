/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How calls are sampled in the testing profile: what instrumented code (src/instrument/entries.h)
 * and the runtime's samplers (runtime/sampling) agree on.
 *
 * A function with a twin has a number in its process: its number in the image, from 1, plus the
 * image's `function_base`. Its entry says, for the calling thread, that this is the function that
 * runs now (`current`), counts the call down, and asks the sampler when the count has run out. The
 * sampler answers by `watched`: the number of the function whose twin, with its checks, shall run.
 * Each gate of the function, at its entry and in its loops, compares `watched` with its number: so
 * a call that is under way in the plain body changes over when somebody else says so.
 *
 * Only accesses are left out in this way. Synchronisation is followed in both bodies, so a race may
 * be missed, and none is made up.
 */
#ifndef RACEHIVE_SAMPLED_H
#define RACEHIVE_SAMPLED_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Functions beyond share counters with others; a power of two, of 16 bits. */
enum { RH_SAMPLED_FUNCTIONS = 1 << 16 };

/* Of a thread. The runtime exports a thread-local pointer to it, __rh_sampled; NULL: all calls of
 * the thread are watched. Other threads read `current` and may write the others. */
struct rh_sampled {
    _Atomic uint32_t current;                   /* function entered last; 0: none */
    _Atomic uint32_t watched;                   /* function whose twin shall run; 0: none */
    _Atomic int32_t left[RH_SAMPLED_FUNCTIONS]; /* calls that pass before the sampler is asked */
};
_Static_assert(offsetof(struct rh_sampled, watched) == 4, "entries and gates use these offsets");
_Static_assert(offsetof(struct rh_sampled, left) == 8, "entries use this offset");

static inline uint32_t rh_sampled_index(uint32_t function)
{
    return function & (RH_SAMPLED_FUNCTIONS - 1);
}

#endif
