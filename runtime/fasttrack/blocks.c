/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of cells: see blocks.h. Runs in hooks: no libc. */
#include "fasttrack/blocks.h"

#include "loss.h"
#include "sys.h"

/* Blocks lie in segments and are named by their first line of 64 bytes. */
enum {
    LINE = 64,
    SEGMENT_BITS = 14,
    SEGMENT_LINES = 1 << SEGMENT_BITS,
    SEGMENTS = 1 << (RT_CELL_TAG_BITS - SEGMENT_BITS),
    SIZES = 5,
    SIZE_AT = 58, /* where a block's name has its size */
};

struct block {
    _Atomic uint64_t count; /* of a free one: the name of the next that is free */
    _Atomic uint64_t cells[];
};

static char *_Atomic segments[SEGMENTS];
static _Atomic uint32_t is_busy; /* of what follows */
static uint32_t next_line = 1;   /* no block is named 0 */
static uint64_t free_blocks[SIZES];
static _Atomic uint64_t lines_in_use;

static uint32_t lines_of(uint32_t size)
{
    return 1u << size;
}

static uint32_t room_of(uint32_t size)
{
    return lines_of(size) * LINE / sizeof(uint64_t) - 1;
}

static uint32_t size_of(uint64_t name)
{
    return (uint32_t)(name >> SIZE_AT);
}

static struct block *block_of(uint64_t name)
{
    uint32_t line = (uint32_t)(name & ((1u << RT_CELL_TAG_BITS) - 1));
    char *segment = atomic_load_explicit(&segments[line >> SEGMENT_BITS], memory_order_relaxed);
    return (struct block *)(segment + (size_t)(line % SEGMENT_LINES) * LINE);
}

/* Not for ever: a signal handler may have interrupted the one who has it. */
static bool seize(void)
{
    enum { TRIES = 20000 };
    for (uint32_t i = 0; i < TRIES; i++) {
        if (!atomic_exchange_explicit(&is_busy, 1, memory_order_acquire))
            return true;
        rt_sys_yield();
    }
    rt_lose(RH_LOSS_SHADOW);
    return false;
}

static void let_go(void)
{
    atomic_store_explicit(&is_busy, 0, memory_order_release);
}

/* A block never crosses the end of a segment. */
static uint64_t cut(uint32_t size)
{
    uint32_t lines = lines_of(size), line = next_line;
    if (line % SEGMENT_LINES + lines > SEGMENT_LINES)
        line = (line / SEGMENT_LINES + 1) * SEGMENT_LINES;
    uint32_t segment = line / SEGMENT_LINES;
    if (segment >= SEGMENTS)
        return 0;
    if (!atomic_load(&segments[segment])) {
        char *made = rt_map((size_t)SEGMENT_LINES * LINE);
        if (!made)
            return 0;
        atomic_store(&segments[segment], made);
    }
    next_line = line + lines;
    return (uint64_t)size << SIZE_AT | line;
}

uint64_t rt_block_make(uint32_t count)
{
    uint32_t size = 0;
    while (size < SIZES && room_of(size) < count)
        size++;
    if (size == SIZES)
        return 0;
    if (!seize())
        return 0;
    uint64_t name = free_blocks[size];
    if (name)
        free_blocks[size] = atomic_load(&block_of(name)->count);
    else
        name = cut(size);
    let_go();
    if (name)
        atomic_fetch_add_explicit(&lines_in_use, lines_of(size), memory_order_relaxed);
    return name;
}

void rt_block_free(uint64_t name)
{
    uint32_t size = size_of(name);
    if (!seize())
        return;
    atomic_store(&block_of(name)->count, free_blocks[size]);
    free_blocks[size] = name;
    let_go();
    atomic_fetch_sub_explicit(&lines_in_use, lines_of(size), memory_order_relaxed);
}

bool rt_block_fits(uint64_t name, uint32_t count)
{
    uint32_t size = size_of(name);
    return count <= room_of(size) && (!size || count > room_of(size - 1) / 2);
}

uint32_t rt_block_read(uint64_t name, uint64_t *cells)
{
    const struct block *block = block_of(name);
    uint32_t count = (uint32_t)atomic_load_explicit(&block->count, memory_order_relaxed);
    for (uint32_t i = 0; i < count; i++)
        cells[i] = atomic_load_explicit(&block->cells[i], memory_order_relaxed);
    return count;
}

void rt_block_write(uint64_t name, const uint64_t *cells, uint32_t count)
{
    struct block *block = block_of(name);
    for (uint32_t i = 0; i < count; i++)
        atomic_store_explicit(&block->cells[i], cells[i], memory_order_relaxed);
    atomic_store_explicit(&block->count, count, memory_order_relaxed);
}

bool rt_block_covers(uint64_t name, uint64_t epoch_word, uint64_t needs)
{
    const struct block *block = block_of(name);
    uint64_t count = atomic_load_explicit(&block->count, memory_order_relaxed);
    for (uint64_t i = 0; i < count && i < room_of(size_of(name)); i++)
        if (rt_cell_covers(atomic_load_explicit(&block->cells[i], memory_order_relaxed), epoch_word,
                           needs))
            return true;
    return false;
}

uint64_t rt_blocks_size(void)
{
    return atomic_load_explicit(&lines_in_use, memory_order_relaxed) * LINE;
}

void rt_blocks_after_fork(void)
{
    atomic_store(&is_busy, 0);
    atomic_store(&lines_in_use, 0);
    next_line = 1;
    for (uint32_t i = 0; i < SIZES; i++)
        free_blocks[i] = 0;
}
