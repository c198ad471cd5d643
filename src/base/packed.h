/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rising sequences of numbers in few bytes.
 *
 * How it works: numbers are kept as runs of consecutive ones, each as the distance from the end of
 * the run before and its length less one, seven bits to a byte, the lowest first; the highest bit
 * says that more follow. So a number that stands alone among near ones takes two bytes, and a run
 * of any length hardly more.
 *
 *     struct rh_packed_walk walk = rh_packed_walk(bytes, len);
 *     for (uint32_t number; rh_packed_next(&walk, &number);)
 *         use(number);
 */
#ifndef RH_BASE_PACKED_H
#define RH_BASE_PACKED_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Adds `count` numbers, each above the one before. */
void rh_packed_add(struct rh_strbuf *out, const uint32_t *numbers, size_t count);

/* Are these bytes such a sequence, not empty, of numbers from `low` to below `limit`? Only what was
 * found sound may be walked. */
bool rh_packed_is_sound(const void *bytes, size_t len, uint32_t low, uint32_t limit);

struct rh_packed_walk {
    const unsigned char *at, *end;
    uint32_t next; /* number */
    uint32_t left; /* in the run */
};

struct rh_packed_walk rh_packed_walk(const void *bytes, size_t len);
bool rh_packed_next(struct rh_packed_walk *walk, uint32_t *number);
bool rh_packed_has(const void *bytes, size_t len, uint32_t number);

#endif
