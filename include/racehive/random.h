/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers for choices that only have to be fair: the one generator of runtime and tools. */
#ifndef RACEHIVE_RANDOM_H
#define RACEHIVE_RANDOM_H

#include <stdint.h>

/* A state to begin with, never 0. */
static inline uint64_t rh_random_seed(uint64_t number)
{
    uint64_t state = (number + 1) * 0x9e3779b97f4a7c15ull;
    return state ? state : 1;
}

/* xorshift64*. */
static inline uint32_t rh_random(uint64_t *state)
{
    uint64_t x = *state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return (uint32_t)((x * 0x2545f4914f6cdd1dull) >> 32);
}

/* 0 to `limit` - 1; 0 if the limit is 0. */
static inline uint32_t rh_random_below(uint64_t *state, uint32_t limit)
{
    return limit ? rh_random(state) % limit : 0;
}

#endif
