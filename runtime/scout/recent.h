/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The most recent accesses of memory, by granule of eight bytes: a lossy table, in which an access
 * finds those of other threads that it may race with.
 *
 * How it works: a granule has one entry, found by a hash of its address; another granule that falls
 * on the same entry takes it over. An entry holds seven accesses, so that one that comes meets the
 * different sites where others have been, and not the last of them alone. An access at the same
 * site by the same thread is replaced by its successor, else a free cell is taken, else a read of
 * the same thread, which others of it may stand for, else any. What is lost makes a
 * race unseen, nothing is ever made up: an entry is read and written under a lock of its own, which
 * is only tried for, and everything is of one window; entries of earlier windows are empty. When
 * memory is given back, its entries are cleared.
 */
#ifndef RH_RUNTIME_RECENT_H
#define RH_RUNTIME_RECENT_H

#include "racehive/control.h"
#include "rt.h"

/* An access as the table keeps it. `epoch` 0: there is none. */
struct rt_recent {
    uint32_t site; /* rh_site_word */
    uint32_t epoch;
    uint32_t locks;   /* those held, in the table's own way */
    uint16_t witness; /* where its stack was kept, or 0 */
    uint8_t slot : 6; /* of its thread, in clocks */
    uint8_t is_write : 1;
    uint8_t is_atomic : 1;
    uint8_t bytes; /* of the granule, a bit each */
};
_Static_assert(sizeof(struct rt_recent) == 16, "seven of them and the entry's head fill two lines");

enum { RT_RECENT_CELLS = 7, RT_GRANULE = 8 };

RT_HIDDEN bool rt_recent_start(void);

/* An access as tables keep it, but for its bytes, locks and witness. */
RT_HIDDEN struct rt_recent rt_recent_of(const struct rt_thread *self, const struct rt_access *a,
                                        uint32_t epoch);

/* The bytes of a granule that an access from `start` to `end` touches, a bit each. */
static inline uint8_t rt_recent_bytes(uintptr_t granule, uintptr_t start, uintptr_t end)
{
    uint32_t low = granule < start ? (uint32_t)(start - granule) : 0;
    uint32_t high = end - granule < RT_GRANULE ? (uint32_t)(end - granule) : RT_GRANULE;
    return (uint8_t)((0xffu << low) & (0xffu >> (RT_GRANULE - high)));
}

/* Two accesses of one granule that may race: different threads, common bytes, one writes, not both
 * atomic. */
static inline bool rt_recent_conflicts(const struct rt_recent *a, const struct rt_recent *b)
{
    return a->epoch && a->slot != b->slot && a->bytes & b->bytes && (a->is_write | b->is_write) &&
           !(a->is_atomic & b->is_atomic);
}

/* Looks up the granule in the present window, copies what the access conflicts with to `others`
 * and keeps the access, unless its epoch is 0. The number of others; 0 also if the entry was busy.
 * If the entry is of an earlier window, `others` are what it had, and there are `*hints` of them:
 * whether they are of the same life of the memory is not known, and neither is their order. */
RT_HIDDEN uint32_t rt_recent_visit(uint32_t window, uintptr_t granule,
                                   const struct rt_recent *access,
                                   struct rt_recent others[RT_RECENT_CELLS], uint32_t *hints);

/* The same without keeping the access, and without hints: for long accesses (spans.h). */
RT_HIDDEN uint32_t rt_recent_look(uint32_t window, uintptr_t granule,
                                  const struct rt_recent *access,
                                  struct rt_recent others[RT_RECENT_CELLS]);

/* The first granule from `at` on, or else `end` or one behind it, of which the table may know
 * something in this window. */
RT_HIDDEN uintptr_t rt_recent_next(uint32_t window, uintptr_t at, uintptr_t end);

/* Forgets what is known of these bytes in the present window. False if an entry stayed busy: then
 * the window must end. */
RT_HIDDEN bool rt_recent_forget(uint32_t window, uintptr_t start, size_t size);

/* Visits that found their entry busy. */
extern RT_HIDDEN _Atomic uint64_t rt_recent_busy;

#endif
