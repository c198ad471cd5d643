/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses in few instructions: see quick.h. Runs in hooks: no libc, few registers saved. */
#include "fasttrack/quick.h"

#include "fasttrack/origins.h"
#include "fasttrack/told.h"

enum { GRANULE = RT_SHADOW_GRANULE, LINE_BYTES = GRANULE * RT_SHADOW_LINE, PAIR = 2 * GRANULE };
enum { AHEAD = 32, LINES_AHEAD = 8 }; /* what is fetched before it is needed */

_Atomic uint64_t rt_told[1 << RT_TOLD_BITS];

static _Thread_local struct {
    struct rt_thread *self;
    struct rt_clocks *clocks;
    uint64_t locks;
    bool knows_locks;
} quick __attribute__((tls_model("initial-exec")));

void rt_quick_ready(struct rt_thread *self, struct rt_clocks *clocks, uint64_t epoch_word)
{
    quick.clocks = clocks;
    quick.self = self;
    __rh_epoch = epoch_word;
}

/* Another thread may be told of its end by this one. */
void rt_quick_sync(const struct rt_thread *self)
{
    quick.knows_locks = false;
    if (self != quick.self || quick.clocks->is_published)
        __rh_epoch = RT_CHECK_NO_EPOCH;
}

void rt_quick_end(void)
{
    quick.self = NULL;
    quick.knows_locks = false;
    __rh_epoch = RT_CHECK_NO_EPOCH;
}

uint64_t rt_quick_locks(const struct rt_thread *self)
{
    if (rt_likely(quick.knows_locks))
        return quick.locks;
    uint64_t locks = self->held_count;
    bool all = !rt_origin_is_crowded(rt_clocks_slot(self));
    for (uint32_t i = 0; i < self->held_count && all; i++)
        locks = (locks ^ (uintptr_t)self->held[i].lock) * 0x9e3779b97f4a7c15ull;
    quick.locks = locks;
    quick.knows_locks = true;
    return locks;
}

/* The thread's epoch, or RT_CHECK_NO_EPOCH. */
static inline uint64_t use_epoch(struct rt_thread *self)
{
    if (rt_likely(__rh_epoch != RT_CHECK_NO_EPOCH))
        return __rh_epoch;
    uint32_t epoch = rt_clocks_use_epoch(self, quick.clocks);
    if (rt_likely(epoch))
        __rh_epoch = rt_cell_epoch_word(rt_clocks_slot(self), epoch);
    return __rh_epoch;
}

static inline struct rt_shadow_granule *granule_of(uintptr_t address)
{
    uintptr_t index = address >> RT_SHADOW_CHUNK_BITS;
    if (rt_unlikely(index >> (RT_SHADOW_ADDRESS_BITS - RT_SHADOW_CHUNK_BITS)))
        return NULL;
    uintptr_t entry = __atomic_load_n(&__rh_directory[index], __ATOMIC_RELAXED);
    if (rt_unlikely(!entry))
        return NULL;
    return (struct rt_shadow_granule *)(entry + RT_SHADOW_CELLS * (address & -(uintptr_t)GRANULE));
}

/* What the first word says shows whether the page was touched, if there is something. */
static inline bool is_in_use(uintptr_t address, uint64_t first)
{
    return rt_likely(first) || rt_shadow_is_touched(address);
}

static inline uint64_t with_bytes(uint64_t cell, uint32_t bytes)
{
    return cell & ~((uint64_t)bytes << RT_CELL_BYTES_AT);
}

/* Whether the thread has made this access in this epoch, and nobody conflicted with it since. */
static inline bool is_covered(const struct rt_shadow_granule *granule, uint64_t first,
                              uint64_t cell, uint64_t needs)
{
    if (rt_cell_covers(first, cell, needs))
        return true;
    return rt_cell_epoch(first) && !rt_cell_conflicts(first, cell) &&
           rt_shadow_covers(granule, cell, needs);
}

/* The same, of a granule that seemed to be empty before its line was held: it may have been
 * regular.
 */
__attribute__((noinline)) static bool is_covered_now(const struct rt_shadow_held *held,
                                                     const struct rt_shadow_granule *granule,
                                                     uint64_t cell, uint64_t needs)
{
    return is_covered(granule, rt_shadow_first(held, granule), cell, needs);
}

/* --- single accesses --- */

/* Where an access is made. */
struct place {
    struct rt_track_known told; /* first: races there */
    struct rh_image *image;
    uint64_t key;
    uintptr_t stack;
};

static bool was_told(const struct rt_track_known *known, uint64_t earlier)
{
    const struct place *at = (const struct place *)known;
    const struct rh_key_record *key = &at->image->keys[at->key];
    return key->site_count == 1 && rt_told_is(earlier, at->image, key->first_site);
}

/* 0 if it has no number yet. */
static inline uint16_t origin_of(const struct place *at, uint64_t cell)
{
    uint64_t context = rt_quick_context(at->stack, rt_quick_locks(quick.self));
    uint32_t slot = rt_cell_slot(cell);
    uint16_t origin = rt_origin_find(slot, at->image, (uint32_t)at->key, context);
    return rt_likely(origin) ? origin : rt_origin_seek(slot, at->image, (uint32_t)at->key, context);
}

/* An access within one granule. */
static inline bool enter_small(uintptr_t address, const struct place *at, uint64_t cell)
{
    struct rt_shadow_granule *granule = granule_of(address);
    if (rt_unlikely(!granule))
        return false;
    uint64_t first = atomic_load_explicit(&granule->first, memory_order_acquire);
    uint64_t needs = rt_cell_needs(rt_cell_bytes(cell), rt_cell_is_write(cell), false);
    if (is_covered(granule, first, cell, needs))
        return true;
    uint16_t origin = origin_of(at, cell);
    struct rt_shadow_held held;
    if (rt_unlikely(!origin || !is_in_use(address, first)) || !rt_shadow_hold(granule, &held))
        return false;
    bool is_done = (rt_unlikely(!first) && is_covered_now(&held, granule, cell, needs)) ||
                   rt_track_try(quick.clocks, &held, granule, cell | origin);
    rt_shadow_let_go(&held);
    return is_done || rt_track_enter_known(quick.clocks, granule, cell | origin, &at->told);
}

static bool enter_parts(uintptr_t address, uint32_t size, const struct place *at, uint64_t cell)
{
    uintptr_t end = address + size;
    bool is_done = true;
    while (is_done && address < end) {
        uint32_t low = address % GRANULE, room = GRANULE - low;
        uint32_t part = end - address < room ? (uint32_t)(end - address) : room;
        is_done = enter_small(address, at, with_bytes(cell, ((1u << part) - 1) << low));
        address += part;
    }
    return is_done;
}

/* --- sweeps --- */

/* Granules mostly hold the same as the next but one: what became of the last two is kept. */
struct sweep {
    const struct rt_clocks *clocks;
    uint64_t cell;
    struct rt_shadow_held held;
    uintptr_t page; /* the last that was found to be touched, by number */
    struct memo {
        uint64_t cell; /* 0: none */
        uint64_t first, rest[2];
        uint64_t new_first, new_rest[2];
    } last[2]; /* of even and of odd granules */
};

static inline void leave_line(struct sweep *s)
{
    if (s->held.line)
        rt_shadow_let_go(&s->held);
    s->held.line = NULL;
}

static bool is_touched(struct sweep *s, uintptr_t address)
{
    uintptr_t page = address >> RT_SHADOW_PAGE_BITS;
    if (page != s->page && rt_shadow_is_touched(address))
        s->page = page;
    return page == s->page;
}

static inline uint32_t parity_of(const struct rt_shadow_granule *granule)
{
    return (uintptr_t)granule / sizeof *granule % 2;
}

static inline uint64_t rest_of(const struct rt_shadow_granule *granule, uint32_t i)
{
    return atomic_load_explicit(&granule->rest[i], memory_order_relaxed);
}

/* If the granule holds what the last one did, makes of it what was made of that. */
static inline bool change_like(struct sweep *s, const struct memo *last,
                               struct rt_shadow_granule *granule, uint64_t cell)
{
    const uint64_t rest[] = {rest_of(granule, 0), rest_of(granule, 1)};
    if (rt_shadow_first(&s->held, granule) != last->first || rest[0] != last->rest[0] ||
        rest[1] != last->rest[1] || cell != last->cell)
        return false;
    for (uint32_t i = 0; i < 2; i++)
        if (last->new_rest[i] != rest[i])
            atomic_store_explicit(&granule->rest[i], last->new_rest[i], memory_order_relaxed);
    rt_shadow_set_first(&s->held, granule, last->new_first);
    return true;
}

static bool change_anew(struct sweep *s, struct rt_shadow_granule *granule, uint64_t cell,
                        bool is_line)
{
    struct memo *last = &s->last[parity_of(granule)];
    uint64_t first = rt_shadow_first(&s->held, granule), fourth = rest_of(granule, 2);
    const uint64_t rest[] = {rest_of(granule, 0), rest_of(granule, 1)};
    if (!(is_line ? rt_track_line(s->clocks, &s->held, granule, cell)
                  : rt_track_try(s->clocks, &s->held, granule, cell)))
        return false;
    if (!is_line && (fourth || rest_of(granule, 2)))
        return true;
    *last = (struct memo){
        .cell = cell,
        .first = first,
        .rest = {rest[0], rest[1]},
        .new_first = rt_shadow_first(&s->held, granule),
        .new_rest = {rest_of(granule, 0), rest_of(granule, 1)},
    };
    return true;
}

/* As change, of a granule that is not like the last but one. */
__attribute__((noinline)) static bool
change_unlike(struct sweep *s, struct rt_shadow_granule *granule, uint64_t cell, bool is_line)
{
    const struct memo *other = &s->last[!parity_of(granule)];
    if ((!is_line && rest_of(granule, 2)) || !change_like(s, other, granule, cell))
        return change_anew(s, granule, cell, is_line);
    s->last[parity_of(granule)] = *other;
    return true;
}

/* Of a granule whose line is held, or, if `is_line`, of every second one: the line is regular. */
static inline bool change(struct sweep *s, struct rt_shadow_granule *granule, uint64_t cell,
                          bool is_line)
{
    bool has_room = is_line || !rest_of(granule, 2);
    return (rt_likely(has_room) &&
            rt_likely(change_like(s, &s->last[parity_of(granule)], granule, cell))) ||
           change_unlike(s, granule, cell, is_line);
}

/* Whether the first word is that of a granule that was changed last, and so not covered. */
static inline bool is_like_last(const struct sweep *s, const struct rt_shadow_granule *granule,
                                uint64_t first, uint64_t cell)
{
    const struct memo *last = &s->last[parity_of(granule)];
    return first && first == last->first && cell == last->cell;
}

/* Of a granule that its first word does not cover. */
__attribute__((always_inline)) static inline bool sweep_granule(struct sweep *s, uintptr_t at,
                                                                struct rt_shadow_granule *granule,
                                                                uint64_t first, uint64_t cell,
                                                                uint64_t needs)
{
    bool is_held = rt_shadow_line(granule) == s->held.line;
    if (is_held)
        first = rt_shadow_first(&s->held, granule);
    if (!is_like_last(s, granule, first, cell) && is_covered(granule, first, cell, needs))
        return true;
    if (rt_unlikely(!first) && !is_touched(s, at))
        return false;
    if (!is_held) {
        leave_line(s);
        if (!rt_shadow_hold(granule, &s->held))
            return false;
        if (!first && is_covered_now(&s->held, granule, cell, needs))
            return true;
    }
    return change(s, granule, cell, false);
}

/* Some bytes of one granule. */
static bool sweep_part(struct sweep *s, uintptr_t at, uint32_t bytes)
{
    struct rt_shadow_granule *granule = granule_of(at);
    uint64_t cell = with_bytes(s->cell, bytes);
    uint64_t needs = rt_cell_needs((uint8_t)bytes, rt_cell_is_write(cell), rt_cell_is_atomic(cell));
    return rt_likely(granule) &&
           sweep_granule(s, at, granule,
                         atomic_load_explicit(&granule->first, memory_order_acquire), cell, needs);
}

static bool sweep_parts(struct sweep *s, uintptr_t at, uintptr_t end)
{
    while (at < end) {
        uint32_t low = at % GRANULE, room = GRANULE - low;
        uint32_t part = end - at < room ? (uint32_t)(end - at) : room;
        if (rt_unlikely(!sweep_part(s, at, ((1u << part) - 1) << low)))
            return false;
        at += part;
    }
    return true;
}

/* What is about to be looked at, as far as one look ahead in the loop comes too late for it. */
static inline void fetch(const struct rt_shadow_granule *granule, uintptr_t at, uintptr_t end,
                         uint64_t stride)
{
    const uint32_t at_once = 2; /* granules of one line of the cache */
    for (uint32_t i = 0; i < AHEAD && at + i * stride < end; i += at_once)
        __builtin_prefetch(granule + i * (stride / GRANULE), 1);
}

/* Whole granules of one chunk. Gives the address of the first that is refused, or `end` or more. */
static inline uintptr_t sweep_granules(struct sweep *s, uintptr_t at, uintptr_t end,
                                       uint64_t stride, uint64_t cell, uint64_t needs)
{
    struct rt_shadow_granule *granule = granule_of(at);
    for (; at < end; at += stride, granule += stride / GRANULE) {
        uint64_t first = atomic_load_explicit(&granule->first, memory_order_acquire);
        if (!rt_cell_covers(first, cell, needs) &&
            rt_unlikely(!sweep_granule(s, at, granule, first, cell, needs)))
            return at;
    }
    return at;
}

/* The same of many. */
static uintptr_t sweep_far(struct sweep *s, uintptr_t at, uintptr_t end, uint64_t stride,
                           uint64_t cell, uint64_t needs)
{
    while (at < end) {
        uintptr_t limit = end - at > AHEAD * stride ? at + AHEAD * stride : end;
        fetch(granule_of(at), at, limit, stride);
        uintptr_t reached = sweep_granules(s, at, limit, stride, cell, needs);
        if (rt_unlikely(reached < limit))
            return reached;
        at = reached;
    }
    return at;
}

/* Whether the line that is not held is regular, and has such accesses already. */
static inline bool is_line_covered(const struct rt_shadow_granule *granule, uint64_t stride,
                                   uint64_t cell, uint64_t needs)
{
    for (uint32_t i = 0; i < PAIR / stride; i++)
        if (!is_covered(&granule[i], atomic_load_explicit(&granule[i].first, memory_order_acquire),
                        cell, needs))
            return false;
    return true;
}

/* All accesses of a line, or of every second granule of it from `granule` on, if that is or becomes
 * regular. False if not, or if something is refused: then the line, if it is held, is as others
 * are.
 */
static inline bool sweep_line(struct sweep *s, uintptr_t at, struct rt_shadow_granule *granule,
                              uint64_t stride, uint64_t cell, uint64_t needs)
{
    struct rt_shadow_granule *line = rt_shadow_line(granule);
    bool is_regular = rt_shadow_is_regular(line);
    uint64_t first = atomic_load_explicit(&granule->first, memory_order_relaxed);
    if (!is_like_last(s, granule, first, cell) && is_line_covered(granule, stride, cell, needs))
        return is_regular;
    if (rt_unlikely(!is_regular) && !is_touched(s, at))
        return false;
    leave_line(s);
    if (!rt_shadow_hold_line(line, &s->held) ||
        (!rt_shadow_is_regular(line) && !rt_shadow_pack(&s->held)))
        return false;
    for (uint32_t i = 0; i < PAIR / stride; i++) {
        if (rt_unlikely(!change(s, &granule[i], cell, true))) {
            rt_shadow_spread(&s->held);
            return false;
        }
    }
    leave_line(s);
    return true;
}

/* The same of whole lines, of which mostly only the first two granules are needed. */
static inline void fetch_lines(const struct rt_shadow_granule *granule, uintptr_t at, uintptr_t end)
{
    for (uint32_t i = 0; i < LINES_AHEAD && at + i * LINE_BYTES < end; i++)
        __builtin_prefetch(granule + i * RT_SHADOW_LINE, 1);
}

/* Whole lines of one chunk. `at` is the first access of a line. */
static uintptr_t sweep_lines(struct sweep *s, uintptr_t at, uintptr_t end, uint64_t stride,
                             uint64_t cell, uint64_t needs)
{
    struct rt_shadow_granule *granule = granule_of(at);
    for (; at < end; at += LINE_BYTES, granule += RT_SHADOW_LINE) {
        __builtin_prefetch(granule + LINES_AHEAD * RT_SHADOW_LINE, 1);
        if (rt_likely(sweep_line(s, at, granule, stride, cell, needs)))
            continue;
        uintptr_t reached = sweep_granules(s, at, at + LINE_BYTES, stride, cell, needs);
        if (rt_unlikely(reached < at + LINE_BYTES))
            return reached;
    }
    return at;
}

/* The granules of one chunk from `at` on. */
static uintptr_t sweep_in_chunk(struct sweep *s, uintptr_t at, uintptr_t end, uint64_t stride,
                                uint64_t cell, uint64_t needs)
{
    const uintptr_t phase = at % stride; /* of a power of two */
    const uintptr_t lines = ((at - phase + LINE_BYTES - 1) & -(uintptr_t)LINE_BYTES) + phase;
    const uintptr_t lines_end = ((end - phase) & -(uintptr_t)LINE_BYTES) + phase;
    if (stride > PAIR || stride % GRANULE || lines >= lines_end) {
        return sweep_far(s, at, end, stride, cell, needs);
    }
    const struct rt_shadow_granule *granule = granule_of(at);
    fetch(granule, at, lines, stride);
    fetch_lines(granule + (lines - at) / GRANULE, lines, lines_end);
    fetch(granule + (lines_end - at) / GRANULE, lines_end, end, stride);
    uintptr_t reached = sweep_granules(s, at, lines, stride, cell, needs);
    if (rt_likely(reached >= lines))
        reached = sweep_lines(s, reached, lines_end, stride, cell, needs);
    if (rt_likely(reached >= lines_end))
        reached = sweep_granules(s, reached, end, stride, cell, needs);
    return reached;
}

/* Whole granules. Gives the address of the first that is refused, or `end` or more. */
static uintptr_t sweep_whole(struct sweep *s, uintptr_t at, uintptr_t end, uint64_t stride)
{
    const uint64_t cell = with_bytes(s->cell, 0xff);
    const uint64_t needs = rt_cell_needs(0xff, rt_cell_is_write(cell), rt_cell_is_atomic(cell));
    while (at < end) {
        uintptr_t chunk_end = (at | ((1ull << RT_SHADOW_CHUNK_BITS) - 1)) + 1;
        uintptr_t limit = end < chunk_end ? end : chunk_end;
        if (rt_unlikely(!granule_of(at)))
            return at;
        uintptr_t reached = sweep_in_chunk(s, at, limit, stride, cell, needs);
        if (rt_unlikely(reached < limit))
            return reached;
        at = reached;
    }
    return at;
}

/* Gives the address of the first access that is refused, wholly or in part. */
static uintptr_t sweep(const struct rt_clocks *clocks, uintptr_t at, uintptr_t end, uint64_t stride,
                       uint64_t size, uint64_t cell)
{
    struct sweep s = {.clocks = clocks, .cell = cell};
    if ((at | stride | size) % GRANULE) {
        while (at < end && sweep_parts(&s, at, at + size))
            at += stride;
    } else if (size == GRANULE) {
        at = sweep_whole(&s, at, end, stride);
    } else {
        while (at < end && sweep_whole(&s, at, at + size, GRANULE) >= at + size)
            at += stride;
    }
    leave_line(&s);
    return at;
}

/* Accesses without gaps: whole granules as far as possible. */
static bool sweep_dense(const struct rt_clocks *clocks, uintptr_t *at, uintptr_t end, uint64_t size,
                        uint64_t cell)
{
    const uintptr_t last = end & -(uintptr_t)GRANULE, begin = *at;
    while (*at < end) {
        uint64_t low = *at % GRANULE, left = end - *at, room = GRANULE - low;
        bool is_whole = !low && *at < last;
        uint64_t part = is_whole ? (uint64_t)GRANULE : left < room ? left : room;
        uintptr_t goal = is_whole ? last : *at + part;
        uintptr_t reached = sweep(clocks, *at, goal, part, part, cell);
        if (reached < goal) {
            *at = reached - (reached - begin) % size;
            return false;
        }
        *at = goal;
    }
    return true;
}

bool rt_quick_sweep(const struct rt_clocks *clocks, uintptr_t *at, uintptr_t end, uint64_t stride,
                    uint64_t size, uint64_t cell)
{
    if (stride == size)
        return sweep_dense(clocks, at, end, size, cell);
    *at = sweep(clocks, *at, end, stride, size, cell);
    return *at >= end;
}

/* --- checks --- */

static bool enter_sweep(uintptr_t address, const struct place *at, uint64_t shape, uint64_t cell)
{
    uint64_t stride = shape >> RH_CHECK_SHAPE_STRIDE_AT & RH_CHECK_SHAPE_STRIDE;
    uintptr_t end = address + (shape >> RH_CHECK_SHAPE_COUNT_AT) * stride;
    uint16_t origin = origin_of(at, cell);
    return origin && rt_quick_sweep(quick.clocks, &address, end, stride,
                                    shape & RH_CHECK_SHAPE_SIZE, cell | origin);
}

static inline bool enter_one(uintptr_t address, const struct place *at, uint32_t size,
                             uint64_t cell)
{
    uint32_t low = address % GRANULE;
    return low + size <= GRANULE
               ? enter_small(address, at, with_bytes(cell, ((1u << size) - 1) << low))
               : enter_parts(address, size, at, cell);
}

bool rt_quick_check(struct rh_image *image, uintptr_t address, uint64_t key, uint64_t shape,
                    uintptr_t stack)
{
    struct rt_thread *self = quick.self;
    if (rt_unlikely(!self || self->in_hook | self->ignore_reads | self->ignore_writes))
        return false;
    self->in_hook = 1;
    atomic_signal_fence(memory_order_seq_cst);
    uint64_t epoch = use_epoch(self);
    bool is_done = false;
    if (rt_likely(epoch != RT_CHECK_NO_EPOCH)) {
        const struct place at = {{was_told}, image, key, stack};
        uint64_t cell = rt_cell_make(epoch, 0, shape & RH_CHECK_SHAPE_WRITES, false, 0);
        is_done = rt_unlikely(shape & RH_CHECK_SHAPE_SWEEP)
                      ? enter_sweep(address, &at, shape, cell)
                      : enter_one(address, &at, shape & RH_CHECK_SHAPE_SIZE, cell);
    }
    atomic_signal_fence(memory_order_seq_cst);
    self->in_hook = 0;
    return is_done;
}
