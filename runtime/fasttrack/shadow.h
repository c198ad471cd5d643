/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shadow memory: four words for each granule of eight bytes of the program's memory.
 *
 * How it works: addresses have 47 bits. The upper 24 are looked up in a directory; the rest is a
 * place in a chunk of shadow memory, which is mapped when the first access comes. So nothing is
 * assumed of where the program's memory lies, and only what is touched costs memory. An entry of
 * the directory is biased: entry + 4 * address is the address of the granule's first word.
 *
 * A granule holds cells (cell.h), the latest in its first word, then others without gaps. If there
 * are more, its second word refers to a block with all others: many threads that read the same
 * bytes, or different accesses of different bytes.
 *
 * Eight granules are a line. Whoever changes one of them holds the line: he has made the first word
 * of its first granule RT_SHADOW_BUSY, and keeps what it was. So an access of many bytes needs one
 * atomic operation for each line.
 *
 * A line is regular if its even granules all hold the same and its odd ones, too, as sweeps over
 * arrays leave it: then only the first two granules say what, in three words each, and the last
 * word of the first is RT_SHADOW_REGULAR; the words of the others are 0. So a sweep reads and
 * writes a quarter of the memory. Who needs a single granule makes the line as others are, by
 * holding it.
 *
 * A page of the program (4 KB) that was never touched is marked as such, so that memory that is
 * given back untouched costs nothing.
 */
#ifndef RH_RUNTIME_FASTTRACK_SHADOW_H
#define RH_RUNTIME_FASTTRACK_SHADOW_H

#include "fasttrack/cell.h"
#include "fasttrack/check.h"
#include "rt.h"

enum {
    RT_SHADOW_CHUNK_BITS = 23,
    RT_SHADOW_ADDRESS_BITS = 47,
    RT_SHADOW_PAGE_BITS = 12,
    RT_SHADOW_GRANULE = 8,
    RT_SHADOW_CELLS = 4, /* in the granule itself */
    RT_SHADOW_LINE = 8,  /* granules */
    RT_SHADOW_CHUNK_PAGES = 1 << (RT_SHADOW_CHUNK_BITS - RT_SHADOW_PAGE_BITS),
    RT_SHADOW_CHUNK_HEAD = 1 << RT_SHADOW_PAGE_BITS, /* bytes before a chunk's cells: its pages
                                                        first, a byte each, not 0 if touched */
    RT_SHADOW_MOST_CELLS = 128, /* of a granule; one more makes the oldest go */
};

/* Epoch 0: words that are no cells. */
#define RT_SHADOW_BUSY    1ull
#define RT_SHADOW_REGULAR 2ull

struct rt_shadow_granule {
    _Atomic uint64_t first, rest[RT_SHADOW_CELLS - 1];
};

static inline bool rt_shadow_is_block(uint64_t word)
{
    return word && !rt_cell_epoch(word);
}

/* What a granule holds, while its holder has it. */
struct rt_shadow_cells {
    uint32_t count;
    uint64_t at[RT_SHADOW_MOST_CELLS + 1];
};

/* `limit`: bytes of memory that it may take; beyond, what is known is dropped. */
RT_HIDDEN bool rt_shadow_start(uint64_t limit);

/* The granule of an address; NULL if there is no memory for it, or none yet and `make` is false. */
RT_HIDDEN struct rt_shadow_granule *rt_shadow_at(uintptr_t address, bool make);

/* A line that is held; NULL: none. */
struct rt_shadow_held {
    struct rt_shadow_granule *line; /* its first granule, whose first word is `kept` */
    uint64_t kept;
};

static inline struct rt_shadow_granule *rt_shadow_line(const struct rt_shadow_granule *granule)
{
    return (struct rt_shadow_granule *)((uintptr_t)granule &
                                        -(RT_SHADOW_LINE * sizeof(struct rt_shadow_granule)));
}

static inline bool rt_shadow_is_regular(const struct rt_shadow_granule *line)
{
    return atomic_load_explicit(&line->rest[RT_SHADOW_CELLS - 2], memory_order_acquire) ==
           RT_SHADOW_REGULAR;
}

/* Waits until nobody else changes the granule's line, and then holds it. False if its holder does
 * not come back for long. */
RT_HIDDEN bool rt_shadow_hold_slowly(struct rt_shadow_granule *granule,
                                     struct rt_shadow_held *held);

/* Makes a line that is held regular. False if its granules differ too much. */
RT_HIDDEN bool rt_shadow_pack(const struct rt_shadow_held *held);
/* Makes a line that is held and regular as others are. */
RT_HIDDEN void rt_shadow_spread(const struct rt_shadow_held *held);

/* Leaves a regular line so. */
static inline bool rt_shadow_hold_line(struct rt_shadow_granule *granule,
                                       struct rt_shadow_held *held)
{
    struct rt_shadow_granule *line = rt_shadow_line(granule);
    uint64_t now = atomic_load_explicit(&line->first, memory_order_relaxed);
    if (rt_likely(now != RT_SHADOW_BUSY) &&
        rt_likely(atomic_compare_exchange_strong_explicit(
            &line->first, &now, RT_SHADOW_BUSY, memory_order_acquire, memory_order_relaxed))) {
        held->line = line;
        held->kept = now;
        return true;
    }
    return rt_shadow_hold_slowly(granule, held);
}

static inline bool rt_shadow_hold(struct rt_shadow_granule *granule, struct rt_shadow_held *held)
{
    if (rt_unlikely(!rt_shadow_hold_line(granule, held)))
        return false;
    if (rt_unlikely(rt_shadow_is_regular(held->line)))
        rt_shadow_spread(held);
    return true;
}

static inline void rt_shadow_let_go(struct rt_shadow_held *held)
{
    atomic_store_explicit(&held->line->first, held->kept, memory_order_release);
}

/* The first word of a granule of a line that is held. */
static inline uint64_t rt_shadow_first(const struct rt_shadow_held *held,
                                       const struct rt_shadow_granule *granule)
{
    return granule == held->line ? held->kept
                                 : atomic_load_explicit(&granule->first, memory_order_relaxed);
}

static inline void rt_shadow_set_first(struct rt_shadow_held *held,
                                       struct rt_shadow_granule *granule, uint64_t first)
{
    if (granule == held->line)
        held->kept = first;
    else
        atomic_store_explicit(&granule->first, first, memory_order_release);
}

/* Whether nothing is known of a granule; without holding it. Twice, as its line may become regular
 * or cease to be so meanwhile. */
static inline bool rt_shadow_is_empty(const struct rt_shadow_granule *granule)
{
    const struct rt_shadow_granule *line = rt_shadow_line(granule);
    return !rt_shadow_is_regular(line) &&
           !atomic_load_explicit(&granule->first, memory_order_acquire) &&
           !rt_shadow_is_regular(line);
}

/* Where a regular line has what the granule holds. */
static inline struct rt_shadow_granule *
rt_shadow_of_regular(const struct rt_shadow_granule *granule)
{
    struct rt_shadow_granule *line = rt_shadow_line(granule);
    return &line[(granule - line) % 2];
}

/* All cells of a granule of a line that is held. */
RT_HIDDEN void rt_shadow_read(const struct rt_shadow_held *held,
                              const struct rt_shadow_granule *granule,
                              struct rt_shadow_cells *cells);
/* Makes these the cells, latest first. Drops the oldest if there is no room. */
RT_HIDDEN void rt_shadow_write(struct rt_shadow_held *held, struct rt_shadow_granule *granule,
                               const struct rt_shadow_cells *cells);
/* Whether a cell behind the first covers an access of this epoch; without holding the granule. */
RT_HIDDEN bool rt_shadow_covers_behind(const struct rt_shadow_granule *granule, uint64_t epoch_word,
                                       uint64_t needs);
static inline bool rt_shadow_covers(const struct rt_shadow_granule *granule, uint64_t epoch_word,
                                    uint64_t needs)
{
    uint64_t second = atomic_load_explicit(&granule->rest[0], memory_order_relaxed);
    if (!second || rt_cell_covers(second, epoch_word, needs))
        return second != 0;
    if (!rt_shadow_is_block(second) &&
        !atomic_load_explicit(&granule->rest[1], memory_order_relaxed))
        return false;
    return rt_shadow_covers_behind(granule, epoch_word, needs);
}

/* Whether the page of an address was touched; the end of its page. */
RT_HIDDEN bool rt_shadow_is_touched(uintptr_t address);
static inline uintptr_t rt_shadow_page_end(uintptr_t address)
{
    return (address | ((1u << RT_SHADOW_PAGE_BITS) - 1)) + 1;
}

/* Forgets what is known of these bytes. */
RT_HIDDEN void rt_shadow_forget(uintptr_t start, size_t size);
/* Drops everything if the limit is exceeded. Not while a granule is held. */
RT_HIDDEN void rt_shadow_check_limit(void);
/* In a child after fork: nobody holds anything, and nothing is known. */
RT_HIDDEN void rt_shadow_after_fork(void);

/* Bytes that are in use, about. */
RT_HIDDEN uint64_t rt_shadow_size(void);

#endif
