/* SPDX-License-Identifier: Apache-2.0 */
/* The blocks of the heap: see heap.h. Runs in hooks: no libc. */
#include "escape/heap.h"

#include "loss.h"
#include "sys.h"

enum {
    GRANULE_BITS = 4,
    PAGE_BITS = 12,
    GRANULES = 1 << (PAGE_BITS - GRANULE_BITS), /* of a page */
    PART_BITS = 18,                             /* pages of one part of the directory */
    ADDRESS_BITS = 47,
    PARTS = 1 << (ADDRESS_BITS - PAGE_BITS - PART_BITS),
    WORD_BITS = 64,
    CHUNK = 512, /* records that are made at once */
    CHUNKS = 1 << 14,
};

/* A block's word: state, owner, size in bytes. */
enum {
    STATE_BITS = 2,
    OWNER_BITS = 12,
    SIZE_AT = STATE_BITS + OWNER_BITS,
    LARGE = (1 << (32 - SIZE_AT)) - 1, /* or larger: then covers tell */
    STATE_MASK = (1 << STATE_BITS) - 1,
};
_Static_assert(RT_HEAP_OWNERS == 1 << OWNER_BITS, "owners fit");

struct record {
    _Atomic uint64_t starts[GRANULES / WORD_BITS];
    _Atomic uint32_t words[GRANULES];
    _Atomic uint16_t origins[GRANULES];
};

/* Of a page. A cover has the block's first granule below, and above how many granules of the page
 * are the block's. */
enum { COVER_BITS = ADDRESS_BITS - GRANULE_BITS };
struct page {
    _Atomic uint64_t cover;
    struct record *_Atomic record;
};

static struct page *_Atomic *parts;
static struct record *_Atomic chunks[CHUNKS];
static _Atomic uint64_t record_count;
static _Atomic uintptr_t lowest = UINTPTR_MAX, highest;

bool rt_heap_start(void)
{
    parts = rt_map(PARTS * sizeof *parts);
    return parts != NULL;
}

uint64_t rt_heap_memory(void)
{
    return atomic_load_explicit(&record_count, memory_order_relaxed) * sizeof(struct record);
}

/* --- the directory --- */

static struct page *page_of(uintptr_t address)
{
    uint64_t number = address >> PAGE_BITS;
    if (address >> ADDRESS_BITS)
        return NULL;
    struct page *part = atomic_load_explicit(&parts[number >> PART_BITS], memory_order_acquire);
    return part ? &part[number & ((1u << PART_BITS) - 1)] : NULL;
}

/* Whoever comes second takes the first one's. */
static void *publish(void *_Atomic *slot, void *made, size_t size)
{
    void *there = NULL;
    if (!made || atomic_compare_exchange_strong(slot, &there, made))
        return made;
    rt_unmap(made, size);
    return there;
}

static struct page *make_page(uintptr_t address)
{
    struct page *page = page_of(address);
    if (page || address >> ADDRESS_BITS)
        return page;
    size_t size = sizeof(struct page) << PART_BITS;
    void *_Atomic *slot = (void *_Atomic *)&parts[address >> (PAGE_BITS + PART_BITS)];
    return publish(slot, rt_map(size), size) ? page_of(address) : NULL;
}

static struct record *new_record(void)
{
    uint64_t at = atomic_fetch_add_explicit(&record_count, 1, memory_order_relaxed);
    if (at / CHUNK >= CHUNKS)
        return NULL;
    struct record *_Atomic *slot = &chunks[at / CHUNK];
    struct record *chunk = atomic_load_explicit(slot, memory_order_acquire);
    size_t size = CHUNK * sizeof *chunk;
    if (!chunk)
        chunk = publish((void *_Atomic *)slot, rt_map(size), size);
    return chunk ? &chunk[at % CHUNK] : NULL;
}

/* A record that comes second is lost: it happens once in a page's life at most. */
static struct record *make_record(struct page *page)
{
    struct record *record = atomic_load_explicit(&page->record, memory_order_acquire);
    if (record)
        return record;
    struct record *made = new_record(), *there = NULL;
    if (!made)
        return NULL;
    return atomic_compare_exchange_strong(&page->record, &there, made) ? made : there;
}

/* --- finding --- */

static uint32_t granule_of(uintptr_t address)
{
    return (uint32_t)(address >> GRANULE_BITS) % GRANULES;
}

static uintptr_t page_start(uintptr_t address)
{
    return address & -(uintptr_t)(1 << PAGE_BITS);
}

static uint32_t size_of(uint32_t word)
{
    return word >> SIZE_AT;
}

/* The last block of the page that begins at or before the granule; GRANULES if none does. */
static uint32_t last_start(const struct record *record, uint32_t granule)
{
    uint32_t at = granule / WORD_BITS;
    uint64_t mask = ~0ull >> (WORD_BITS - 1 - granule % WORD_BITS);
    for (;; at--, mask = ~0ull) {
        uint64_t bits = atomic_load_explicit(&record->starts[at], memory_order_acquire) & mask;
        if (bits)
            return at * WORD_BITS + (WORD_BITS - 1 - (uint32_t)__builtin_clzll(bits));
        if (at == 0)
            return GRANULES;
    }
}

static uint64_t cover_of(uintptr_t start, uint32_t granules)
{
    return start >> GRANULE_BITS | (uint64_t)granules << COVER_BITS;
}

static uintptr_t covering_start(uint64_t cover)
{
    return (uintptr_t)(cover & ((1ull << COVER_BITS) - 1)) << GRANULE_BITS;
}

static void take_block(struct record *record, uintptr_t start, struct rt_heap_block *block)
{
    block->start = start;
    block->word = &record->words[granule_of(start)];
    block->origin = &record->origins[granule_of(start)];
}

/* A large block goes on at least to the end of the page, or as its cover says. */
static bool holds(const struct rt_heap_block *block, uintptr_t address)
{
    uint32_t word = atomic_load_explicit(block->word, memory_order_acquire);
    return (word & STATE_MASK) &&
           (size_of(word) == LARGE || address < block->start + size_of(word));
}

/* What begins in the page hides what covers its first bytes. */
static bool find_here(struct record *record, uintptr_t address, struct rt_heap_block *block,
                      bool *is_behind)
{
    uint32_t at = last_start(record, granule_of(address));
    *is_behind = at < GRANULES;
    if (!*is_behind)
        return false;
    take_block(record, page_start(address) + ((uintptr_t)at << GRANULE_BITS), block);
    return holds(block, address);
}

static bool find_covering(const struct page *page, uintptr_t address, struct rt_heap_block *block)
{
    uint64_t cover = atomic_load_explicit(&page->cover, memory_order_acquire);
    if (granule_of(address) >= cover >> COVER_BITS)
        return false;
    uintptr_t start = covering_start(cover);
    struct page *first = page_of(start);
    struct record *record =
        first ? atomic_load_explicit(&first->record, memory_order_acquire) : NULL;
    if (!record)
        return false;
    take_block(record, start, block);
    return holds(block, address);
}

bool rt_heap_find(uintptr_t address, struct rt_heap_block *block)
{
    if (!rt_heap_may_hold(address))
        return false;
    struct page *page = page_of(address);
    struct record *record = page ? atomic_load_explicit(&page->record, memory_order_acquire) : NULL;
    bool is_behind = false;
    if (record && find_here(record, address, block, &is_behind))
        return true;
    return page && !is_behind && find_covering(page, address, block);
}

bool rt_heap_may_hold(uintptr_t address)
{
    return address >= atomic_load_explicit(&lowest, memory_order_relaxed) &&
           address < atomic_load_explicit(&highest, memory_order_relaxed);
}

/* --- blocks --- */

enum rt_heap_state rt_heap_state_of(const struct rt_heap_block *block)
{
    return atomic_load_explicit(block->word, memory_order_acquire) & STATE_MASK;
}

bool rt_heap_is_of(const struct rt_heap_block *block, uint32_t owner)
{
    uint32_t word = atomic_load_explicit(block->word, memory_order_relaxed);
    return (word >> STATE_BITS) % RT_HEAP_OWNERS == owner % RT_HEAP_OWNERS;
}

bool rt_heap_turn(const struct rt_heap_block *block, enum rt_heap_state from, enum rt_heap_state to)
{
    uint32_t word = atomic_load_explicit(block->word, memory_order_relaxed);
    while ((word & STATE_MASK) == from)
        if (atomic_compare_exchange_weak(block->word, &word, (word & ~(uint32_t)STATE_MASK) | to))
            return true;
    return false;
}

/* A large block is as long as its covers go; its last granule may not be all its own. */
uint64_t rt_heap_size(const struct rt_heap_block *block)
{
    uint32_t size = size_of(atomic_load_explicit(block->word, memory_order_relaxed));
    if (size != LARGE)
        return size;
    uintptr_t at = page_start(block->start) + (1 << PAGE_BITS);
    for (;;) {
        const struct page *page = page_of(at);
        uint64_t cover = page ? atomic_load_explicit(&page->cover, memory_order_acquire) : 0;
        if (!(cover >> COVER_BITS) || covering_start(cover) != block->start)
            return at - block->start;
        uint64_t granules = cover >> COVER_BITS;
        if (granules < GRANULES)
            return at + (granules << GRANULE_BITS) - block->start;
        at += 1 << PAGE_BITS;
    }
}

/* --- entering and removing --- */

static void widen(uintptr_t start, uintptr_t end)
{
    uintptr_t low = atomic_load_explicit(&lowest, memory_order_relaxed);
    while (start < low && !atomic_compare_exchange_weak(&lowest, &low, start))
        ;
    uintptr_t high = atomic_load_explicit(&highest, memory_order_relaxed);
    while (end > high && !atomic_compare_exchange_weak(&highest, &high, end))
        ;
}

/* The pages behind the first one, up to the block's end. False: no memory, so the rest of the block
 * counts as escaped. */
static bool cover(uintptr_t start, uintptr_t end, bool on)
{
    for (uintptr_t at = page_start(start) + (1 << PAGE_BITS); at < end; at += 1 << PAGE_BITS) {
        struct page *page = on ? make_page(at) : page_of(at);
        uint64_t left = (end - at + (1 << GRANULE_BITS) - 1) >> GRANULE_BITS;
        if (!page)
            return false;
        atomic_store_explicit(&page->cover,
                              on ? cover_of(start, left < GRANULES ? (uint32_t)left : GRANULES) : 0,
                              memory_order_release);
    }
    return true;
}

/* Not for ever: who reads it may have been interrupted by a signal handler that frees it. */
static void wait_for_owner(const struct rt_heap_block *block)
{
    enum { TRIES = 20000 };
    for (int i = 0; i < TRIES && rt_heap_state_of(block) == RT_HEAP_BUSY; i++)
        rt_sys_yield();
}

static void remove_block(const struct rt_heap_block *block)
{
    uint32_t granule = granule_of(block->start);
    struct page *page = page_of(block->start);
    struct record *record = page ? atomic_load_explicit(&page->record, memory_order_acquire) : NULL;
    wait_for_owner(block);
    uint64_t size = rt_heap_size(block);
    if (!record)
        return;
    atomic_fetch_and(&record->starts[granule / WORD_BITS], ~(1ull << granule % WORD_BITS));
    atomic_store_explicit(block->word, 0, memory_order_release);
    cover(block->start, block->start + size, false);
}

/* Those that begin in a page, from `start` to before `end`. */
static void remove_in_page(struct record *record, uintptr_t start, uintptr_t end)
{
    uint32_t first = granule_of(start), last = granule_of(end - 1);
    for (uint32_t at = first / WORD_BITS; at <= last / WORD_BITS; at++) {
        uint64_t bits = atomic_load_explicit(&record->starts[at], memory_order_relaxed);
        for (; bits; bits &= bits - 1) {
            uint32_t granule = at * WORD_BITS + (uint32_t)__builtin_ctzll(bits);
            struct rt_heap_block block;
            take_block(record, page_start(start) + ((uintptr_t)granule << GRANULE_BITS), &block);
            if (block.start >= start && block.start < end)
                remove_block(&block);
        }
    }
}

void rt_heap_remove(uintptr_t start, uint64_t size)
{
    uintptr_t end = start + size, high = atomic_load_explicit(&highest, memory_order_relaxed);
    uintptr_t low = atomic_load_explicit(&lowest, memory_order_relaxed);
    end = end < start || end > high ? high : end;
    uintptr_t at = start < low ? low : start;
    while (at < end) {
        uintptr_t next = page_start(at) + (1 << PAGE_BITS);
        const struct page *page = page_of(at);
        struct record *record =
            page ? atomic_load_explicit(&page->record, memory_order_acquire) : NULL;
        if (record)
            remove_in_page(record, at, next < end ? next : end);
        at = page ? next : (at | ((1ull << (PAGE_BITS + PART_BITS)) - 1)) + 1;
    }
}

void rt_heap_add(uintptr_t start, uint64_t size, uint32_t owner, uint16_t origin)
{
    struct rt_heap_block before;
    uintptr_t end = start + size;
    if (!size || start % (1 << GRANULE_BITS) || end < start || end >> ADDRESS_BITS)
        return;
    if (rt_heap_find(start, &before))
        remove_block(&before);
    rt_heap_remove(start, size);
    struct page *page = make_page(start);
    struct record *record = page ? make_record(page) : NULL;
    if (!record) {
        rt_lose(RH_LOSS_ESCAPE_BLOCK);
        return;
    }
    uint32_t granule = granule_of(start);
    if (!cover(start, end, true))
        rt_lose(RH_LOSS_ESCAPE_BLOCK);
    widen(start, end);
    atomic_store_explicit(&record->origins[granule], origin, memory_order_relaxed);
    atomic_store_explicit(&record->words[granule],
                          (uint32_t)(size < LARGE ? size : LARGE) << SIZE_AT |
                              owner % RT_HEAP_OWNERS << STATE_BITS | RT_HEAP_PRIVATE,
                          memory_order_release);
    atomic_fetch_or(&record->starts[granule / WORD_BITS], 1ull << granule % WORD_BITS);
}
