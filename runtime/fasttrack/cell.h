/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cell: one access of a granule of eight bytes, in one word of shadow memory.
 *
 *   63..58  slot of its thread in the vector clocks
 *   57..26  epoch of that slot; 0: the word is no cell
 *   25..18  a bit for each byte that it does NOT touch
 *   17      it only reads
 *   16      it is atomic
 *   15..0   its origin: site and stack, by a number of its slot (origins.h)
 *
 * Bits say what an access lacks, so that one test shows whether a cell makes another access of the
 * same epoch superfluous: none of the bits that the other needs to be 0 is set. Instrumented code
 * makes this test itself (src/instrument/checks.h).
 */
#ifndef RH_RUNTIME_FASTTRACK_CELL_H
#define RH_RUNTIME_FASTTRACK_CELL_H

#include <stdbool.h>
#include <stdint.h>

enum {
    RT_CELL_TAG_BITS = 26, /* below the epoch */
    RT_CELL_BYTES_AT = 18,
    RT_CELL_READS_AT = 17,
    RT_CELL_ATOMIC_AT = 16,
    RT_CELL_ORIGINS = 1 << 16,
};

/* Slot and epoch, as the upper bits of all cells of that epoch have them. */
static inline uint64_t rt_cell_epoch_word(uint32_t slot, uint32_t epoch)
{
    return (uint64_t)slot << 58 | (uint64_t)epoch << RT_CELL_TAG_BITS;
}

static inline uint64_t rt_cell_make(uint64_t epoch_word, uint8_t bytes, bool is_write,
                                    bool is_atomic, uint16_t origin)
{
    return epoch_word | (uint64_t)(uint8_t)~bytes << RT_CELL_BYTES_AT |
           (uint64_t)!is_write << RT_CELL_READS_AT | (uint64_t)is_atomic << RT_CELL_ATOMIC_AT |
           origin;
}

static inline uint32_t rt_cell_slot(uint64_t cell)
{
    return (uint32_t)(cell >> 58);
}

static inline uint32_t rt_cell_epoch(uint64_t cell)
{
    return (uint32_t)(cell >> RT_CELL_TAG_BITS);
}

static inline uint8_t rt_cell_bytes(uint64_t cell)
{
    return (uint8_t)(~cell >> RT_CELL_BYTES_AT);
}

static inline bool rt_cell_is_write(uint64_t cell)
{
    return !(cell >> RT_CELL_READS_AT & 1);
}

static inline bool rt_cell_is_atomic(uint64_t cell)
{
    return cell >> RT_CELL_ATOMIC_AT & 1;
}

static inline uint16_t rt_cell_origin(uint64_t cell)
{
    return (uint16_t)cell;
}

/* The same access of fewer bytes. */
static inline uint64_t rt_cell_without(uint64_t cell, uint8_t bytes)
{
    return cell | (uint64_t)bytes << RT_CELL_BYTES_AT;
}

/* The bits that must be 0 in a cell of the same epoch which makes this access superfluous: its
 * bytes; that it writes, if this one does; that it is not atomic, if this one is not. */
static inline uint64_t rt_cell_needs(uint8_t bytes, bool is_write, bool is_atomic)
{
    return (uint64_t)bytes << RT_CELL_BYTES_AT | (uint64_t)is_write << RT_CELL_READS_AT |
           (uint64_t)!is_atomic << RT_CELL_ATOMIC_AT;
}

static inline bool rt_cell_covers(uint64_t cell, uint64_t epoch_word, uint64_t needs)
{
    return !((cell ^ epoch_word) >> RT_CELL_TAG_BITS) && !(cell & needs);
}

/* Epoch, kind and origin are the same: the two differ in their bytes at most. */
static inline bool rt_cell_is_same(uint64_t a, uint64_t b)
{
    return !((a ^ b) & ~(0xffull << RT_CELL_BYTES_AT));
}

/* Whether every race of `old` with something later is one of `new`, too, if old happens before new:
 * new touches old's bytes (looked at elsewhere), writes if old does, is not atomic unless old is.
 */
static inline bool rt_cell_replaces(uint64_t new, uint64_t old)
{
    return (rt_cell_is_write(new) || !rt_cell_is_write(old)) &&
           (!rt_cell_is_atomic(new) || rt_cell_is_atomic(old));
}

/* Whether the two may race: common bytes, one writes, not both atomic. Their slots differ. */
static inline bool rt_cell_conflicts(uint64_t a, uint64_t b)
{
    return rt_cell_slot(a) != rt_cell_slot(b) && rt_cell_bytes(a) & rt_cell_bytes(b) &&
           (rt_cell_is_write(a) || rt_cell_is_write(b)) &&
           !(rt_cell_is_atomic(a) && rt_cell_is_atomic(b));
}

#endif
