/* SPDX-License-Identifier: Apache-2.0 */
/* FastTrack on one granule: see track.h. Runs in hooks: no libc. */
#include "fasttrack/track.h"

static void find_unordered(const struct rt_clocks *clocks, const struct rt_shadow_cells *cells,
                           uint64_t new, struct rt_shadow_cells *unordered)
{
    for (uint32_t i = 0; i < cells->count; i++)
        if (rt_cell_conflicts(cells->at[i], new) && !rt_track_knows(clocks, cells->at[i]))
            unordered->at[unordered->count++] = cells->at[i];
}

/* The cells that are left beside the new one, which comes first. */
static void join(const struct rt_clocks *clocks, const struct rt_shadow_cells *old, uint64_t new,
                 struct rt_shadow_cells *joined)
{
    const uint8_t bytes = rt_cell_bytes(new);
    joined->count = 1;
    for (uint32_t i = 0; i < old->count; i++) {
        uint64_t cell = old->at[i];
        if (rt_cell_is_same(cell, new)) {
            new &= cell;
            continue;
        }
        if (rt_cell_bytes(cell) & bytes && rt_cell_replaces(new, cell) &&
            rt_track_knows(clocks, cell))
            cell = rt_cell_without(cell, bytes);
        if (rt_cell_bytes(cell))
            joined->at[joined->count++] = cell;
    }
    joined->at[0] = new;
}

static bool has_cover(const struct rt_shadow_cells *cells, uint64_t new)
{
    uint64_t needs =
        rt_cell_needs(rt_cell_bytes(new), rt_cell_is_write(new), rt_cell_is_atomic(new));
    for (uint32_t i = 0; i < cells->count; i++)
        if (rt_cell_covers(cells->at[i], new, needs))
            return true;
    return false;
}

/* Takes what is left of an earlier cell into the list. */
static inline void keep(const struct rt_clocks *clocks, uint64_t old, uint64_t *new, bool *is_race,
                        struct rt_shadow_cells *left)
{
    uint64_t rest = rt_track_leave(clocks, old, new, is_race);
    left->at[left->count] = rest;
    left->count += rest != 0;
}

static bool keep_rest(const struct rt_clocks *clocks, const struct rt_shadow_granule *granule,
                      uint32_t words, uint64_t *new, bool *is_race, struct rt_shadow_cells *left)
{
    for (uint32_t i = 0; i < words; i++) {
        uint64_t word = atomic_load_explicit(&granule->rest[i], memory_order_relaxed);
        if (!word)
            return true;
        if (rt_unlikely(!rt_cell_epoch(word)))
            return false; /* a block */
        keep(clocks, word, new, is_race, left);
    }
    return true;
}

static void set_rest(struct rt_shadow_granule *granule, uint32_t words,
                     const struct rt_shadow_cells *left)
{
    for (uint32_t i = 0; i < words; i++) {
        uint64_t word = i + 1 < left->count ? left->at[i + 1] : 0;
        if (atomic_load_explicit(&granule->rest[i], memory_order_relaxed) != word)
            atomic_store_explicit(&granule->rest[i], word, memory_order_relaxed);
    }
}

/* `words`: behind the first, that are for cells. */
static inline bool enter_quickly(const struct rt_clocks *clocks, struct rt_shadow_held *held,
                                 struct rt_shadow_granule *granule, uint32_t words, uint64_t cell)
{
    uint64_t first = rt_shadow_first(held, granule), new = cell;
    struct rt_shadow_cells left;
    bool is_race = false;
    left.count = 1;
    if (first)
        keep(clocks, first, &new, &is_race, &left);
    bool has_room = keep_rest(clocks, granule, words, &new, &is_race, &left);
    if (rt_unlikely(is_race) || rt_unlikely(!has_room || left.count > words + 1))
        return false;
    set_rest(granule, words, &left);
    rt_shadow_set_first(held, granule, new);
    return true;
}

bool rt_track_more(const struct rt_clocks *clocks, struct rt_shadow_held *held,
                   struct rt_shadow_granule *granule, uint64_t cell)
{
    return enter_quickly(clocks, held, granule, RT_SHADOW_CELLS - 1, cell);
}

bool rt_track_line(const struct rt_clocks *clocks, struct rt_shadow_held *held,
                   struct rt_shadow_granule *granule, uint64_t cell)
{
    return enter_quickly(clocks, held, granule, RT_SHADOW_CELLS - 2, cell);
}

void rt_track_compare(const struct rt_clocks *clocks, struct rt_shadow_granule *granule,
                      uint64_t cell, struct rt_shadow_cells *unordered)
{
    struct rt_shadow_cells cells;
    struct rt_shadow_held held;
    unordered->count = 0;
    if (rt_shadow_is_empty(granule) || !rt_shadow_hold_line(granule, &held))
        return;
    if (rt_shadow_is_regular(held.line))
        granule = rt_shadow_of_regular(granule);
    rt_shadow_read(&held, granule, &cells);
    rt_shadow_let_go(&held);
    find_unordered(clocks, &cells, cell, unordered);
}

/* Drops the cells that all threads know of, before a block is made for them. */
static void thin(struct rt_shadow_cells *cells)
{
    enum { EVERY = 64 };
    static _Atomic uint32_t asked;
    uint32_t kept = 1;
    if (atomic_fetch_add_explicit(&asked, 1, memory_order_relaxed) % EVERY == 0)
        rt_clocks_find_floor();
    for (uint32_t i = 1; i < cells->count; i++) {
        uint64_t cell = cells->at[i];
        if (rt_cell_epoch(cell) >
            atomic_load_explicit(&rt_clocks_floor.at[rt_cell_slot(cell)], memory_order_relaxed))
            cells->at[kept++] = cell;
    }
    cells->count = kept;
}

/* Of a granule whose line is held; `old` is what it has. */
static void enter_held(const struct rt_clocks *clocks, struct rt_shadow_held *held,
                       struct rt_shadow_granule *granule, uint64_t cell,
                       const struct rt_shadow_cells *old)
{
    struct rt_shadow_cells joined;
    if (has_cover(old, cell))
        return;
    join(clocks, old, cell, &joined);
    if (rt_unlikely(joined.count > RT_SHADOW_CELLS))
        thin(&joined);
    rt_shadow_write(held, granule, &joined);
}

void rt_track_enter(const struct rt_clocks *clocks, struct rt_shadow_granule *granule,
                    uint64_t cell, struct rt_shadow_cells *unordered)
{
    struct rt_shadow_cells old;
    struct rt_shadow_held held;
    unordered->count = 0;
    if (!rt_shadow_hold(granule, &held))
        return;
    rt_shadow_read(&held, granule, &old);
    find_unordered(clocks, &old, cell, unordered);
    enter_held(clocks, &held, granule, cell, &old);
    rt_shadow_let_go(&held);
}

bool rt_track_enter_known(const struct rt_clocks *clocks, struct rt_shadow_granule *granule,
                          uint64_t cell, const struct rt_track_known *known)
{
    struct rt_shadow_cells old, unordered;
    struct rt_shadow_held held;
    bool are_known = true;
    unordered.count = 0;
    if (!rt_shadow_hold(granule, &held))
        return false;
    rt_shadow_read(&held, granule, &old);
    find_unordered(clocks, &old, cell, &unordered);
    for (uint32_t i = 0; i < unordered.count && are_known; i++)
        are_known = known->is_known(known, unordered.at[i]);
    if (are_known)
        enter_held(clocks, &held, granule, cell, &old);
    rt_shadow_let_go(&held);
    return are_known;
}
