/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What checks in instrumented code (src/instrument/checks.h) and the runtime's shadow memory
 * (runtime/fasttrack/cell.h, shadow.h) agree on.
 *
 * The runtime exports:
 *   __rh_directory  pointer to the directory of shadow memory: address >> RH_CHECK_CHUNK_BITS leads
 *                   to an entry e, and e + RH_CHECK_CELLS * address to the first cell; e is 0
 *                   where there is none
 *   __rh_epoch      thread-local: the upper bits of cells of the thread's present epoch
 *   __rh_needs      thread-local and constant: what an access of 1, 2 or 4 bytes needs, by its
 *                   size, whether it writes, and its place in the granule
 */
#ifndef RACEHIVE_CHECK_H
#define RACEHIVE_CHECK_H

#include <stdint.h>

enum {
    RH_CHECK_CHUNK_BITS = 23,
    RH_CHECK_GRANULE = 8,
    RH_CHECK_CELLS = 4,        /* words of shadow memory for a granule */
    RH_CHECK_ORIGIN_BITS = 16, /* of a cell, which the check shifts out */
    RH_CHECK_KINDS = 0x3ff,    /* bits of a shifted cell that are no epoch */
    RH_CHECK_SIZES = 3,        /* 1, 2 and 4 bytes */
    RH_CHECK_MOST_RUN = 64,    /* bytes of neighbours that have one check, at most */
};

/*
 * What an access is, as the stub of its check says: its size, whether it writes, and whether it is
 * a sweep, which stands before a loop for all accesses that a site makes in it: so many, at a
 * distance that is never 0.
 */
enum rh_check_shape {
    RH_CHECK_SHAPE_SIZE = 0x3f,
    RH_CHECK_SHAPE_WRITES = 0x40,
    RH_CHECK_SHAPE_SWEEP = 0x80,
    RH_CHECK_SHAPE_STRIDE_AT = 8,
    RH_CHECK_SHAPE_STRIDE = 0xffff,
    RH_CHECK_SHAPE_COUNT_AT = 24,
};

/* The bits of a shifted cell that must be 0 for a plain access of these bytes of the granule. */
static inline uint64_t rh_check_needs(uint8_t bytes, int is_write)
{
    return (uint64_t)bytes << 2 | (uint64_t)(is_write != 0) << 1 | 1;
}

#endif
