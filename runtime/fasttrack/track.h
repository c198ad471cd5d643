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
/* The same for the common case, in few instructions: the page is in use, the granule has no
 * block before and after, and no race is found. False if it is not so: then nothing was done. */
RT_HIDDEN bool rt_track_try(const struct rt_clocks *clocks, uintptr_t address, uint64_t cell);
/* Only compares. */
RT_HIDDEN void rt_track_compare(const struct rt_clocks *clocks, struct rt_shadow_granule *granule,
                                uint64_t cell, struct rt_shadow_cells *unordered);

#endif
