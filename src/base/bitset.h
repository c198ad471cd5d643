/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Growable dense sets of small numbers, one bit each.
 *
 * A bitset whose bytes are all zero is valid and empty, so RH_BITSET_INIT and calloc both make one.
 * Every number is a possible member; memory is proportional to the largest ever set. Bits beyond
 * the words held are clear.
 *
 * Walking, in rising order; the body may clear bits and may set bits:
 *     size_t bit;
 *     for (size_t at = 0; rh_bitset_next(&set, &at, &bit);)
 */
#ifndef RH_BASE_BITSET_H
#define RH_BASE_BITSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rh_bitset {
    uint64_t *words;
    size_t len; /* in words */
};

#define RH_BITSET_INIT                                                                             \
    {                                                                                              \
        0                                                                                          \
    }

void rh_bitset_init(struct rh_bitset *set);
void rh_bitset_release(struct rh_bitset *set);

/* Returns whether the set changed. */
bool rh_bitset_set(struct rh_bitset *set, size_t bit);

bool rh_bitset_test(const struct rh_bitset *set, size_t bit);

/* The number of members. */
size_t rh_bitset_count(const struct rh_bitset *set);

/* Stores the first member at or after *at and moves *at behind it; false at the end. */
bool rh_bitset_next(const struct rh_bitset *set, size_t *at, size_t *bit);

#endif
