/* SPDX-License-Identifier: Apache-2.0 */
/* Shadow memory: see shadow.h. Runs in hooks: no libc. */
#include "fasttrack/shadow.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "fasttrack/blocks.h"
#include "loss.h"
#include "sys.h"

enum {
    CHUNKS = 1 << (RT_SHADOW_ADDRESS_BITS - RT_SHADOW_CHUNK_BITS),
    CHUNK_SIZE = 1 << RT_SHADOW_CHUNK_BITS,
    PAGE_SIZE = 1 << RT_SHADOW_PAGE_BITS,
    PAGES = RT_SHADOW_CHUNK_PAGES,
    REST = RT_SHADOW_CELLS - 1,
    PAGE_GRANULES = PAGE_SIZE / RT_SHADOW_GRANULE,
    GRANULE_BITS_ALL = 0xff,
};

/* The cells of a chunk lie right behind this, on a page of their own. */
struct chunk {
    _Alignas(PAGE_SIZE) _Atomic uint8_t is_touched[PAGES];
    uintptr_t start;         /* of the program's memory */
    _Atomic uint32_t blocks; /* that its granules refer to */
    struct chunk *next;
};
_Static_assert(sizeof(struct chunk) == RT_SHADOW_CHUNK_HEAD, "the cells begin on a page");

static struct chunk *_Atomic chunks;
static _Atomic uint64_t touched_pages;
static uint64_t most_bytes;

static struct rt_shadow_granule *cells_of(struct chunk *chunk)
{
    return (struct rt_shadow_granule *)(chunk + 1);
}

bool rt_shadow_start(uint64_t limit)
{
    most_bytes = limit;
    if (!__rh_directory)
        __rh_directory = rt_map(CHUNKS * sizeof *__rh_directory);
    return __rh_directory != NULL;
}

uint64_t rt_shadow_size(void)
{
    return atomic_load(&touched_pages) * PAGE_GRANULES * sizeof(struct rt_shadow_granule) +
           rt_blocks_size();
}

/* --- chunks --- */

static struct chunk *chunk_of(uintptr_t address)
{
    uintptr_t index = address >> RT_SHADOW_CHUNK_BITS;
    if (rt_unlikely(index >= CHUNKS))
        return NULL;
    uintptr_t entry = __atomic_load_n(&__rh_directory[index], __ATOMIC_ACQUIRE);
    if (!entry)
        return NULL;
    return (struct chunk *)(entry + RT_SHADOW_CELLS * (index << RT_SHADOW_CHUNK_BITS)) - 1;
}

static struct chunk *make_chunk(uintptr_t address)
{
    /* A check of several granules may look behind the last one. */
    enum { SHADOW_SIZE = RT_SHADOW_CELLS * CHUNK_SIZE + PAGE_SIZE };
    uintptr_t index = address >> RT_SHADOW_CHUNK_BITS, none = 0;
    struct chunk *chunk = index < CHUNKS ? rt_map(sizeof *chunk + SHADOW_SIZE) : NULL;
    if (!chunk) {
        rt_lose(RH_LOSS_SHADOW);
        return NULL;
    }
    chunk->start = index << RT_SHADOW_CHUNK_BITS;
    uintptr_t entry = (uintptr_t)cells_of(chunk) - RT_SHADOW_CELLS * chunk->start;
    if (!__atomic_compare_exchange_n(&__rh_directory[index], &none, entry, false, __ATOMIC_SEQ_CST,
                                     __ATOMIC_SEQ_CST)) {
        rt_unmap(chunk, sizeof *chunk + SHADOW_SIZE);
        return chunk_of(address);
    }
    chunk->next = atomic_load(&chunks);
    while (!atomic_compare_exchange_weak(&chunks, &chunk->next, chunk))
        ;
    return chunk;
}

static struct rt_shadow_granule *granule_in(struct chunk *chunk, uintptr_t address)
{
    return &cells_of(chunk)[(address - chunk->start) / RT_SHADOW_GRANULE];
}

static _Atomic uint8_t *touched_of(struct chunk *chunk, uintptr_t address)
{
    return &chunk->is_touched[(address - chunk->start) >> RT_SHADOW_PAGE_BITS];
}

struct rt_shadow_granule *rt_shadow_at(uintptr_t address, bool make)
{
    struct chunk *chunk = chunk_of(address);
    if (rt_unlikely(!chunk) && !(make && (chunk = make_chunk(address))))
        return NULL;
    _Atomic uint8_t *touched = touched_of(chunk, address);
    if (rt_unlikely(!atomic_load_explicit(touched, memory_order_relaxed))) {
        if (!make)
            return NULL;
        if (!atomic_exchange(touched, 1))
            atomic_fetch_add(&touched_pages, 1);
    }
    return granule_in(chunk, address);
}

bool rt_shadow_is_touched(uintptr_t address)
{
    struct chunk *chunk = chunk_of(address);
    return chunk && atomic_load_explicit(touched_of(chunk, address), memory_order_relaxed);
}

/* --- granules --- */

/* A holder does little and comes back soon, unless it has lost its processor. */
bool rt_shadow_hold_slowly(struct rt_shadow_granule *granule, struct rt_shadow_held *held)
{
    enum { SPINS = 100, TRIES = 20000 };
    struct rt_shadow_granule *line = rt_shadow_line(granule);
    for (uint32_t i = 0; i < TRIES; i++) {
        uint64_t now = atomic_load_explicit(&line->first, memory_order_relaxed);
        if (now != RT_SHADOW_BUSY &&
            atomic_compare_exchange_strong_explicit(&line->first, &now, RT_SHADOW_BUSY,
                                                    memory_order_acquire, memory_order_relaxed)) {
            *held = (struct rt_shadow_held){.line = line, .kept = now};
            return true;
        }
        if (i < SPINS)
            __builtin_ia32_pause();
        else
            rt_sys_yield();
    }
    rt_lose(RH_LOSS_SHADOW);
    return false;
}

static struct chunk *chunk_of_granule(const struct rt_shadow_granule *granule);

void rt_shadow_read(const struct rt_shadow_held *held, const struct rt_shadow_granule *granule,
                    struct rt_shadow_cells *cells)
{
    uint64_t first = rt_shadow_first(held, granule);
    uint64_t word = atomic_load_explicit(&granule->rest[0], memory_order_relaxed);
    cells->count = 0;
    if (first)
        cells->at[cells->count++] = first;
    if (rt_unlikely(rt_shadow_is_block(word))) {
        cells->count += rt_block_read(word, cells->at + cells->count);
        return;
    }
    for (uint32_t i = 0; i < REST; i++) {
        word = atomic_load_explicit(&granule->rest[i], memory_order_relaxed);
        if (!word || word == RT_SHADOW_REGULAR)
            return;
        cells->at[cells->count++] = word;
    }
}

/* --- regular lines --- */

static uint64_t word_of(const struct rt_shadow_granule *granule, uint32_t k)
{
    return atomic_load_explicit(&granule->rest[k], memory_order_relaxed);
}

/* What a granule of a line that is held has, but for its last word. */
struct words {
    uint64_t first, rest[REST - 1];
};

static inline struct words read_words(const struct rt_shadow_held *held, uint32_t i)
{
    const struct rt_shadow_granule *granule = &held->line[i];
    return (struct words){.first = rt_shadow_first(held, granule),
                          .rest = {word_of(granule, 0), word_of(granule, 1)}};
}

static inline bool holds(const struct rt_shadow_granule *granule, const struct words *words)
{
    return !((atomic_load_explicit(&granule->first, memory_order_relaxed) ^ words->first) |
             (word_of(granule, 0) ^ words->rest[0]) | (word_of(granule, 1) ^ words->rest[1]) |
             word_of(granule, 2));
}

static inline void clear(struct rt_shadow_granule *granule, const struct words *words)
{
    if (words->first)
        atomic_store_explicit(&granule->first, 0, memory_order_release);
    for (uint32_t k = 0; k < REST - 1 && words->rest[k]; k++)
        atomic_store_explicit(&granule->rest[k], 0, memory_order_relaxed);
}

/* The mark comes before the words of the others go, or someone might think that they were empty
 * (rt_shadow_is_empty). */
bool rt_shadow_pack(const struct rt_shadow_held *held)
{
    _Static_assert(REST == 3, "struct words has all but the last");
    struct rt_shadow_granule *line = held->line;
    const struct words even = read_words(held, 0), odd = read_words(held, 1);
    if (word_of(&line[0], 2) || word_of(&line[1], 2) || rt_shadow_is_block(even.rest[0]) ||
        rt_shadow_is_block(odd.rest[0]))
        return false;
    for (uint32_t i = 2; i < RT_SHADOW_LINE; i += 2)
        if (!holds(&line[i], &even) || !holds(&line[i + 1], &odd))
            return false;
    atomic_store_explicit(&line->rest[REST - 1], RT_SHADOW_REGULAR, memory_order_release);
    for (uint32_t i = 2; i < RT_SHADOW_LINE; i += 2) {
        clear(&line[i], &even);
        clear(&line[i + 1], &odd);
    }
    return true;
}

void rt_shadow_spread(const struct rt_shadow_held *held)
{
    struct rt_shadow_granule *line = held->line;
    uint64_t firsts[] = {held->kept, rt_shadow_first(held, &line[1])};
    for (uint32_t i = 2; i < RT_SHADOW_LINE; i++) {
        for (uint32_t k = 0; k < REST - 1 && word_of(&line[i % 2], k); k++)
            atomic_store_explicit(&line[i].rest[k], word_of(&line[i % 2], k), memory_order_relaxed);
        if (firsts[i % 2])
            atomic_store_explicit(&line[i].first, firsts[i % 2], memory_order_release);
    }
    atomic_store_explicit(&line->rest[REST - 1], 0, memory_order_release);
}

/* --- writing --- */

static void drop_block(struct rt_shadow_granule *granule, uint64_t block)
{
    rt_block_free(block);
    atomic_fetch_sub_explicit(&chunk_of_granule(granule)->blocks, 1, memory_order_relaxed);
}

/* Those that fit into the granule itself. */
static void write_few(struct rt_shadow_granule *granule, uint64_t old,
                      const struct rt_shadow_cells *cells)
{
    for (uint32_t i = 0; i < REST; i++)
        atomic_store_explicit(&granule->rest[i], i + 1 < cells->count ? cells->at[i + 1] : 0,
                              memory_order_relaxed);
    if (rt_unlikely(rt_shadow_is_block(old)))
        drop_block(granule, old);
}

static void write_many(struct rt_shadow_granule *granule, uint64_t old,
                       const struct rt_shadow_cells *cells)
{
    uint32_t count = cells->count - 1;
    if (count > RT_SHADOW_MOST_CELLS - 1) {
        rt_lose(RH_LOSS_SHADOW);
        count = RT_SHADOW_MOST_CELLS - 1;
    }
    bool has_block = rt_shadow_is_block(old);
    uint64_t block = has_block && rt_block_fits(old, count) ? old : rt_block_make(count);
    if (!block) {
        rt_lose(RH_LOSS_SHADOW);
        write_few(granule, old, cells);
        return;
    }
    rt_block_write(block, cells->at + 1, count);
    if (block == old)
        return;
    atomic_fetch_add_explicit(&chunk_of_granule(granule)->blocks, 1, memory_order_relaxed);
    atomic_store_explicit(&granule->rest[0], block, memory_order_release);
    for (uint32_t i = 1; i < REST; i++)
        atomic_store_explicit(&granule->rest[i], 0, memory_order_relaxed);
    if (has_block)
        drop_block(granule, old);
}

void rt_shadow_write(struct rt_shadow_held *held, struct rt_shadow_granule *granule,
                     const struct rt_shadow_cells *cells)
{
    uint64_t old = atomic_load_explicit(&granule->rest[0], memory_order_relaxed);
    if (rt_likely(cells->count <= RT_SHADOW_CELLS))
        write_few(granule, old, cells);
    else
        write_many(granule, old, cells);
    rt_shadow_set_first(held, granule, cells->count ? cells->at[0] : 0);
}

/* A block may be given to another granule while it is looked at: then the reference has changed. */
bool rt_shadow_covers_behind(const struct rt_shadow_granule *granule, uint64_t epoch_word,
                             uint64_t needs)
{
    uint64_t word = atomic_load_explicit(&granule->rest[0], memory_order_acquire);
    if (rt_unlikely(rt_shadow_is_block(word))) {
        bool covers = rt_block_covers(word, epoch_word, needs);
        atomic_thread_fence(memory_order_acquire);
        return covers && atomic_load_explicit(&granule->rest[0], memory_order_relaxed) == word;
    }
    for (uint32_t i = 0; i < REST; i++) {
        word = atomic_load_explicit(&granule->rest[i], memory_order_relaxed);
        if (!word || rt_cell_covers(word, epoch_word, needs))
            return word != 0;
    }
    return false;
}

/* --- forgetting --- */

static struct chunk *chunk_of_granule(const struct rt_shadow_granule *granule)
{
    struct chunk *chunk = atomic_load(&chunks);
    while ((uintptr_t)granule - (uintptr_t)cells_of(chunk) >=
           (uintptr_t)RT_SHADOW_CELLS * CHUNK_SIZE)
        chunk = chunk->next;
    return chunk;
}

static void forget_bytes(struct rt_shadow_granule *granule, uint8_t bytes)
{
    struct rt_shadow_cells cells;
    struct rt_shadow_held held;
    if (rt_shadow_is_empty(granule) || !rt_shadow_hold(granule, &held))
        return;
    rt_shadow_read(&held, granule, &cells);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < cells.count; i++) {
        uint64_t left = rt_cell_without(cells.at[i], bytes);
        if (rt_cell_bytes(left))
            cells.at[kept++] = left;
    }
    cells.count = kept;
    rt_shadow_write(&held, granule, &cells);
    rt_shadow_let_go(&held);
}

static void clear_words(void *start, size_t words)
{
    __asm__ volatile("rep stosq" : "+D"(start), "+c"(words) : "a"(0ull) : "memory");
}

/* Part of a line, whose other granules may be in use. */
static void forget_in_line(struct rt_shadow_granule *from, size_t count)
{
    struct rt_shadow_held held;
    if (!count || !rt_shadow_hold(from, &held))
        return;
    for (size_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < REST; k++)
            atomic_store_explicit(&from[i].rest[k], 0, memory_order_relaxed);
        rt_shadow_set_first(&held, &from[i], 0);
    }
    rt_shadow_let_go(&held);
}

/* Nobody uses a line that is forgotten as a whole. */
static void forget_lines(struct rt_shadow_granule *from, size_t count)
{
    size_t head = (size_t)(rt_shadow_line(from + RT_SHADOW_LINE - 1) - from);
    if (head >= count) {
        forget_in_line(from, count);
        return;
    }
    size_t tail = (count - head) % RT_SHADOW_LINE, lines = count - head - tail;
    forget_in_line(from, head);
    clear_words(from + head, RT_SHADOW_CELLS * lines);
    forget_in_line(from + head + lines, tail);
}

static void forget_whole(struct chunk *chunk, struct rt_shadow_granule *from, size_t count)
{
    if (rt_likely(!atomic_load_explicit(&chunk->blocks, memory_order_relaxed))) {
        forget_lines(from, count);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (rt_shadow_is_block(atomic_load(&from[i].rest[0])))
            forget_bytes(&from[i], GRANULE_BITS_ALL);
        else
            forget_in_line(&from[i], 1);
    }
}

static uint8_t bytes_between(uintptr_t from, uintptr_t to)
{
    uint32_t low = from % RT_SHADOW_GRANULE;
    return (uint8_t)(((1u << (to - from)) - 1) << low);
}

/* All in one page. */
static void forget_in_page(struct chunk *chunk, uintptr_t from, uintptr_t to)
{
    uintptr_t low = (from + RT_SHADOW_GRANULE - 1) & -(uintptr_t)RT_SHADOW_GRANULE;
    uintptr_t high = to & -(uintptr_t)RT_SHADOW_GRANULE;
    if (low > high) {
        forget_bytes(granule_in(chunk, from), bytes_between(from, to));
        return;
    }
    if (from < low)
        forget_bytes(granule_in(chunk, from), bytes_between(from, low));
    if (high < to)
        forget_bytes(granule_in(chunk, high), bytes_between(high, to));
    forget_whole(chunk, granule_in(chunk, low), (high - low) / RT_SHADOW_GRANULE);
}

/* A whole page is given back to the kernel and counts as never touched. Whoever is about to enter
 * an access there does so in a page that is not marked: it races with the end of the block. */
static void forget_page(struct chunk *chunk, uintptr_t start)
{
    struct rt_shadow_granule *cells = granule_in(chunk, start);
    if (atomic_load(&chunk->blocks))
        forget_whole(chunk, cells, PAGE_GRANULES);
    if (atomic_exchange(touched_of(chunk, start), 0))
        atomic_fetch_sub(&touched_pages, 1);
    rt_arch_syscall(SYS_madvise, (long)cells, PAGE_GRANULES * sizeof *cells, MADV_DONTNEED, 0, 0,
                    0);
}

static void forget_in_chunk(struct chunk *chunk, uintptr_t from, uintptr_t to)
{
    enum { FEW = 16 };
    bool gives_back = to - from > FEW * PAGE_SIZE;
    for (uintptr_t end; from < to; from = end) {
        end = rt_shadow_page_end(from) < to ? rt_shadow_page_end(from) : to;
        if (!atomic_load_explicit(touched_of(chunk, from), memory_order_relaxed))
            continue;
        if (gives_back && end - from == PAGE_SIZE)
            forget_page(chunk, from);
        else
            forget_in_page(chunk, from, end);
    }
}

void rt_shadow_forget(uintptr_t start, size_t size)
{
    uintptr_t last = (uintptr_t)CHUNKS << RT_SHADOW_CHUNK_BITS;
    uintptr_t high = start + size < last ? start + size : last;
    for (uintptr_t at = start, end; at < high; at = end) {
        end = (at | (CHUNK_SIZE - 1)) + 1;
        if (end > high)
            end = high;
        struct chunk *chunk = chunk_of(at);
        if (chunk)
            forget_in_chunk(chunk, at, end);
    }
}

void rt_shadow_check_limit(void)
{
    static _Atomic uint32_t is_dropping;
    if (rt_likely(rt_shadow_size() <= most_bytes) || atomic_exchange(&is_dropping, 1))
        return;
    rt_lose(RH_LOSS_SHADOW_DROPPED);
    for (struct chunk *c = atomic_load(&chunks); c; c = c->next)
        forget_in_chunk(c, c->start, c->start + CHUNK_SIZE);
    atomic_store(&is_dropping, 0);
}

void rt_shadow_after_fork(void)
{
    rt_blocks_after_fork();
    for (struct chunk *c = atomic_load(&chunks); c; c = c->next) {
        atomic_store(&c->blocks, 0);
        clear_words(c->is_touched, PAGES / sizeof(uint64_t));
        rt_arch_syscall(SYS_madvise, (long)cells_of(c), (long)RT_SHADOW_CELLS * CHUNK_SIZE,
                        MADV_DONTNEED, 0, 0, 0);
    }
    atomic_store(&touched_pages, 0);
}
