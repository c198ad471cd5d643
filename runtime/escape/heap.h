/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The blocks of the heap that threads have to themselves: where each begins and ends, whose it is,
 * and whether it has escaped. What is not entered here counts as escaped.
 *
 * How it works: memory is divided into granules of 16 bytes, as allocators align blocks. A page of
 * 4096 bytes in which a block begins has a *record*: a bit for each granule with which a block
 * begins, and a word for it with size, owner and state, and its *origin*: a number of where it was
 * allocated. A page that begins inside of a block has a
 * *cover*: where that block begins and how many granules it has in this page. The block of an
 * address is so found in constant time, whatever its size. Directory and records are made as they
 * are needed and stay; everything is read and written without locks.
 *
 * A block that begins at no granule of its own is not entered. Two threads never enter or remove
 * the same block at once, because the allocator gives it to one at a time.
 */
#ifndef RH_RUNTIME_ESCAPE_HEAP_H
#define RH_RUNTIME_ESCAPE_HEAP_H

#include "rt.h"

/* Owners are told apart up to this number. */
enum { RT_HEAP_OWNERS = 1 << 12 };

enum rt_heap_state {
    RT_HEAP_NONE,
    RT_HEAP_PRIVATE, /* nobody but its owner can reach it */
    RT_HEAP_BUSY,    /* its owner makes it escape, and reads its words: it must not be freed */
    RT_HEAP_ESCAPED,
};

struct rt_heap_block {
    uintptr_t start;
    _Atomic uint32_t *word; /* valid for good; describes this block until it is removed */
    _Atomic uint16_t *origin;
};

/* False: no memory for the directory. */
RT_HIDDEN bool rt_heap_start(void);

/* Enters a block as its owner's own, in place of what was entered there before. */
RT_HIDDEN void rt_heap_add(uintptr_t start, uint64_t size, uint32_t owner, uint16_t origin);
/* Removes all blocks that begin in these bytes; waits while one of them is busy. */
RT_HIDDEN void rt_heap_remove(uintptr_t start, uint64_t size);
/* The block that this byte lies in. */
RT_HIDDEN bool rt_heap_find(uintptr_t address, struct rt_heap_block *block);
/* May it be an address in a block? No block lies outside of what this says. */
RT_HIDDEN bool rt_heap_may_hold(uintptr_t address);

RT_HIDDEN enum rt_heap_state rt_heap_state_of(const struct rt_heap_block *block);
RT_HIDDEN bool rt_heap_is_of(const struct rt_heap_block *block, uint32_t owner);
/* Changes the state if it is still `from`. */
RT_HIDDEN bool rt_heap_turn(const struct rt_heap_block *block, enum rt_heap_state from,
                            enum rt_heap_state to);
RT_HIDDEN uint64_t rt_heap_size(const struct rt_heap_block *block);

/* Bytes of memory that directory and records take. */
RT_HIDDEN uint64_t rt_heap_memory(void);

#endif
