/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which calls samplers watch: several in a row, a *burst*, and then none for some time. Plain
 * arithmetic, without state of its own.
 */
#ifndef RH_RUNTIME_SAMPLING_BURSTS_H
#define RH_RUNTIME_SAMPLING_BURSTS_H

#include <stdbool.h>
#include <stdint.h>

enum { RT_BURST = 10 };

/* --- by function and thread, for literace --- */

/*
 * `note` is what is remembered of a function in a thread, 0 at first: the calls left of the burst,
 * and above them how often the rate has fallen. Called for a call that is watched; gives how many
 * calls shall pass unwatched behind it. The rate is 100 % in the first burst, and falls to a tenth
 * with each, down to 0.1 %.
 */
static inline int32_t rt_burst_next(int32_t *note)
{
    enum { LEFT_BITS = 8, LEFT = (1 << LEFT_BITS) - 1, LOWEST = 3 };
    static const int32_t periods[LOWEST + 1] = {10, 100, 1000, 10000};
    int32_t level = *note >> LEFT_BITS, left = *note & LEFT;
    left = (left ? left : RT_BURST) - 1;
    if (left == 0 && level < LOWEST)
        level++;
    *note = level << LEFT_BITS | left;
    return left ? 0 : periods[level] - RT_BURST;
}

/* --- by pair of functions, for atexrace --- */

/* A pair's calls are watched at a rate of `rate` in 100 up to the RT_PAIR_OFTEN-th; then at a tenth
 * of it up to ten times as many, and at a hundredth from there on, if `decays`. */
enum { RT_PAIR_OFTEN = 1000 };

static inline uint32_t rt_pair_period(uint32_t count, bool decays)
{
    uint32_t period = 100;
    if (decays && count >= RT_PAIR_OFTEN)
        period = count < 10 * RT_PAIR_OFTEN ? 1000 : 10000;
    return period;
}

/* Whether a call is watched before which the pair was seen in `count` calls. */
static inline bool rt_pair_is_watched(uint32_t count, uint32_t rate, bool decays)
{
    return count % rt_pair_period(count, decays) < rate;
}

/* How many calls pass from then on until the next burst begins. */
static inline uint32_t rt_pair_gap(uint32_t count, bool decays)
{
    uint32_t period = rt_pair_period(count, decays);
    return period - count % period;
}

/* How many calls of a function may pass before its pairs are looked at again: a small part of what
 * is left to the next burst, so that a pair that is new does not stay unseen for long. */
static inline uint32_t rt_pair_patience(uint32_t gap)
{
    enum { LEAST = 10, MOST = 100, SHARE = 8 };
    uint32_t patience = gap / SHARE;
    patience = patience < LEAST ? LEAST : patience > MOST ? MOST : patience;
    return patience < gap ? patience : gap;
}

#endif
