/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where accesses come from: what a cell has no room for, so that a race shows both of its sides.
 *
 * An origin is a site, the stack that led there and the locks that were held. Each slot of the
 * clocks numbers its own, from 1 on; a stack is taken when its number is given, and kept for good.
 * The caller names stack and locks by their context, a hash of both. The threads that a slot
 * belonged to are kept with the epochs in which they began.
 *
 * A program with a lock in each of many objects would use up all numbers. So when half of them are
 * given, the caller leaves out which locks are held: the first that were are shown then.
 */
#ifndef RH_RUNTIME_FASTTRACK_ORIGINS_H
#define RH_RUNTIME_FASTTRACK_ORIGINS_H

#include "evidence/witness.h"
#include "keys.h"
#include "rt.h"
#include "scout/clocks.h"

/* Whether half of a slot's numbers are given. */
RT_HIDDEN bool rt_origin_is_crowded(uint32_t slot);

/* The number of the origin of an access; 0 if there are too many, or no memory. */
RT_HIDDEN uint16_t rt_origin_of(const struct rt_thread *self, uint32_t slot,
                                const struct rt_access *a, uint64_t context);

/* The same for an access at a key with one site. */
RT_HIDDEN uint16_t rt_origin_at_key(const struct rt_thread *self, uint32_t slot,
                                    const struct rt_access *a, uint64_t context);

/* The last context in which a key ran, and the number it had: a word for each key of an image, for
 * each slot. */
enum { RT_ORIGIN_IMAGES = 16, RT_ORIGIN_NUMBER_BITS = 16 };
extern RT_HIDDEN _Atomic uint64_t *_Atomic rt_origin_latest[RT_CLOCK_SLOTS][RT_ORIGIN_IMAGES];

/* The number if the key ran in this context the last time, else 0. */
static inline uint16_t rt_origin_find(uint32_t slot, const struct rh_image *image, uint32_t key,
                                      uint64_t context)
{
    uint32_t number = ((const struct rt_image *)image->runtime)->number;
    if (rt_unlikely(number >= RT_ORIGIN_IMAGES))
        return 0;
    const _Atomic uint64_t *words =
        atomic_load_explicit(&rt_origin_latest[slot][number], memory_order_relaxed);
    uint64_t word = rt_likely(words) ? atomic_load_explicit(&words[key], memory_order_relaxed) : 0;
    return (word ^ context << RT_ORIGIN_NUMBER_BITS) >> RT_ORIGIN_NUMBER_BITS ? 0 : (uint16_t)word;
}

/* The same if it ran in this context at some time. */
RT_HIDDEN uint16_t rt_origin_seek(uint32_t slot, const struct rh_image *image, uint32_t key,
                                  uint64_t context);

/* A thread begins in a slot with this epoch. */
RT_HIDDEN void rt_origins_begin(const struct rt_thread *self, uint32_t slot, uint32_t epoch);

/* The witness of an earlier access, but for its address and size. False if it is not known. */
RT_HIDDEN bool rt_origin_recall(uint32_t slot, uint32_t epoch, uint16_t origin,
                                struct rt_witness *w);

#endif
