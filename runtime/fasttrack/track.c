/* SPDX-License-Identifier: Apache-2.0 */
/* FastTrack on one granule: see track.h. Runs in hooks: no libc. */
#include "fasttrack/track.h"


static bool is_known(const struct rt_clocks *clocks, uint64_t cell)
{
    return rt_clocks_knows(clocks, rt_cell_slot(cell), rt_cell_epoch(cell));
}

static void find_unordered(const struct rt_clocks *clocks, const struct rt_shadow_cells *cells,
                           uint64_t new, struct rt_shadow_cells *unordered)
{
    for (uint32_t i = 0; i < cells->count; i++)
        if (rt_cell_conflicts(cells->at[i], new) && !is_known(clocks, cells->at[i]))
            unordered->at[unordered->count++] = cells->at[i];
}

/* Epoch, kind and origin are the same: the two differ in their bytes at most. */
static bool is_same(uint64_t a, uint64_t b)
{
    const uint64_t bytes = 0xffull << RT_CELL_BYTES_AT;
    return !((a ^ b) & ~bytes);
}

/* The cells that are left beside the new one, which comes first. */
static void join(const struct rt_clocks *clocks, const struct rt_shadow_cells *old, uint64_t new,
                 struct rt_shadow_cells *joined)
{
    const uint8_t bytes = rt_cell_bytes(new);
    joined->count = 1;
    for (uint32_t i = 0; i < old->count; i++) {
        uint64_t cell = old->at[i];
        if (is_same(cell, new)) {
            new &= cell;
            continue;
        }
        if (rt_cell_bytes(cell) & bytes && rt_cell_replaces(new, cell) && is_known(clocks, cell))
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

static void let_go(struct rt_shadow_granule *granule, uint64_t first)
{
    atomic_store_explicit(&granule->first, first, memory_order_release);
}

void rt_track_compare(const struct rt_clocks *clocks, struct rt_shadow_granule *granule,
                      uint64_t cell, struct rt_shadow_cells *unordered)
{
    struct rt_shadow_cells cells;
    uint64_t first;
    unordered->count = 0;
    if (!atomic_load(&granule->first) || !rt_shadow_hold(granule, &first))
        return;
    rt_shadow_read(granule, first, &cells);
    let_go(granule, first);
    find_unordered(clocks, &cells, cell, unordered);
}

void rt_track_enter(const struct rt_clocks *clocks, struct rt_shadow_granule *granule, uint64_t cell,
                    struct rt_shadow_cells *unordered)
{
    struct rt_shadow_cells old, joined;
    uint64_t first;
    unordered->count = 0;
    if (!rt_shadow_hold(granule, &first))
        return;
    rt_shadow_read(granule, first, &old);
    find_unordered(clocks, &old, cell, unordered);
    if (has_cover(&old, cell)) {
        let_go(granule, first);
        return;
    }
    join(clocks, &old, cell, &joined);
    rt_shadow_write(granule, &joined);
}
