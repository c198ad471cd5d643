/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Races that were told: an earlier access by its slot and origin, and the site of the later one.
 * Two threads may race for the same memory a million times; so this is asked before stacks are
 * taken. Lossy, by a table without chains: evidence/findings.c knows for sure.
 */
#ifndef RH_RUNTIME_FASTTRACK_TOLD_H
#define RH_RUNTIME_FASTTRACK_TOLD_H

#include "fasttrack/cell.h"
#include "keys.h"
#include "rt.h"

enum { RT_TOLD_BITS = 12 };
extern RT_HIDDEN _Atomic uint64_t rt_told[1 << RT_TOLD_BITS];

static inline uint64_t rt_told_pair(uint64_t earlier, const struct rh_image *image, uint32_t site)
{
    const struct rt_image *r = image->runtime;
    return (uint64_t)rt_cell_slot(earlier) << 48 | (uint64_t)rt_cell_origin(earlier) << 32 |
           rh_site_word(r->number, site);
}

static inline _Atomic uint64_t *rt_told_place(uint64_t pair)
{
    return &rt_told[pair * 0x9e3779b97f4a7c15ull >> (64 - RT_TOLD_BITS)];
}

static inline bool rt_told_is(uint64_t earlier, const struct rh_image *image, uint32_t site)
{
    uint64_t pair = rt_told_pair(earlier, image, site);
    return atomic_load_explicit(rt_told_place(pair), memory_order_relaxed) == pair;
}

/* Whether it was; from now on it is. */
static inline bool rt_told_add(uint64_t earlier, const struct rh_image *image, uint32_t site)
{
    uint64_t pair = rt_told_pair(earlier, image, site);
    return atomic_exchange_explicit(rt_told_place(pair), pair, memory_order_relaxed) == pair;
}

#endif
