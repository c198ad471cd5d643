/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FastTrack on one granule: compares an access with those before it and enters it.
 *
 * How it works: as FastTrack, with epochs of accesses instead of whole vector clocks. A granule
 * keeps the accesses that may still race with a later one. An access that happens after another,
 * touches the same bytes and conflicts with whatever the other conflicts with makes the other
 * superfluous: a write replaces all before it, a read the reads before it. So what one thread at a
 * time uses has one cell, and only what several threads read has more. Two accesses that race stay
 * both.
 *
 * Nothing is lost by this: of the accesses that race with a later one at some byte, it is always
 * compared with one that races with it, too.
 */
#ifndef RH_RUNTIME_FASTTRACK_TRACK_H
#define RH_RUNTIME_FASTTRACK_TRACK_H

#include "fasttrack/shadow.h"
#include "scout/clocks.h"

/* Enters `cell` at the granule, and gives the earlier accesses that conflict with it and that the
 * thread has not learned of. */
RT_HIDDEN void rt_track_enter(const struct rt_clocks *clocks, struct rt_shadow_granule *granule,
                              uint64_t cell, struct rt_shadow_cells *unordered);
/* The same in fewer instructions, while the granule's line is held, if the granule has no block
 * before and after, and no race is found. False if it is not so: then nothing was done. */
RT_HIDDEN bool rt_track_more(const struct rt_clocks *clocks, struct rt_shadow_held *held,
                             struct rt_shadow_granule *granule, uint64_t cell);
/* The same of a line that is held and regular: of its even or its odd granules, `granule` being the
 * first of them. */
RT_HIDDEN bool rt_track_line(const struct rt_clocks *clocks, struct rt_shadow_held *held,
                             struct rt_shadow_granule *granule, uint64_t cell);
static inline bool rt_track_knows(const struct rt_clocks *clocks, uint64_t cell)
{
    return rt_clocks_knows(clocks, rt_cell_slot(cell), rt_cell_epoch(cell));
}

/* What is left of a cell beside a new one; 0 if nothing is, or if it became part of the new one. */
static inline uint64_t rt_track_leave(const struct rt_clocks *clocks, uint64_t old, uint64_t *new,
                                      bool *is_race)
{
    uint8_t common = rt_cell_bytes(old) & rt_cell_bytes(*new);
    if (rt_cell_is_same(old, *new)) {
        *new &= old;
        return 0;
    }
    if (!common)
        return old;
    bool known = rt_track_knows(clocks, old);
    if (rt_unlikely(!known) && rt_cell_conflicts(old, *new))
        *is_race = true;
    if (!known || !rt_cell_replaces(*new, old))
        return old;
    uint64_t left = rt_cell_without(old, common);
    return rt_cell_bytes(left) ? left : 0;
}

/* The most common cases: a granule has two cells at most before and after. Gives what its second
 * word is then. */
static inline bool rt_track_two(const struct rt_clocks *clocks, uint64_t first, uint64_t second,
                                uint64_t *new, uint64_t *left)
{
    bool is_race = false;
    uint64_t a = first ? rt_track_leave(clocks, first, new, &is_race) : 0;
    uint64_t b = second ? rt_track_leave(clocks, second, new, &is_race) : 0;
    *left = a ? a : b;
    return !is_race && !(a && b);
}

/* Whether it has no more than two, and no block; `second` is its second word. */
static inline bool rt_track_has_two(const struct rt_shadow_granule *granule, uint64_t second)
{
    return !second || (rt_cell_epoch(second) &&
                       !atomic_load_explicit(&granule->rest[1], memory_order_relaxed));
}

/* As rt_track_more, and quicker in these cases. */
static inline bool rt_track_try(const struct rt_clocks *clocks, struct rt_shadow_held *held,
                                struct rt_shadow_granule *granule, uint64_t cell)
{
    uint64_t second = atomic_load_explicit(&granule->rest[0], memory_order_relaxed);
    uint64_t new = cell, left;
    if (rt_unlikely(!rt_track_has_two(granule, second)) ||
        rt_unlikely(!rt_track_two(clocks, rt_shadow_first(held, granule), second, &new, &left)))
        return rt_track_more(clocks, held, granule, cell);
    if (left != second)
        atomic_store_explicit(&granule->rest[0], left, memory_order_relaxed);
    rt_shadow_set_first(held, granule, new);
    return true;
}

/* As rt_track_try, of a granule whose line is not held. */
static inline bool rt_track_quickly(const struct rt_clocks *clocks,
                                    struct rt_shadow_granule *granule, uint64_t cell)
{
    struct rt_shadow_held held;
    if (!rt_shadow_hold(granule, &held))
        return false;
    bool is_done = rt_track_try(clocks, &held, granule, cell);
    rt_shadow_let_go(&held);
    return is_done;
}

/* As rt_track_enter, if all earlier accesses that it would give are known to the caller already.
 * False if not: then nothing was done. */
struct rt_track_known {
    bool (*is_known)(const struct rt_track_known *known, uint64_t earlier);
};
RT_HIDDEN bool rt_track_enter_known(const struct rt_clocks *clocks,
                                    struct rt_shadow_granule *granule, uint64_t cell,
                                    const struct rt_track_known *known);

/* Only compares. */
RT_HIDDEN void rt_track_compare(const struct rt_clocks *clocks, struct rt_shadow_granule *granule,
                                uint64_t cell, struct rt_shadow_cells *unordered);

#endif
