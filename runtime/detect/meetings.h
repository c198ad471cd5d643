/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Meetings: do two different threads touch the same bytes at a candidate's two
 * sites?
 *
 * How it works: of each site, the last few accesses are kept in a table by address, with the thread
 * that made them; an access is looked for in the table of the other site. Accesses wider than a
 * word are kept apart, and compared one by one. Nothing is cleared when memory is given back: at
 * worst a candidate is looked at more closely than it deserves.
 */
#ifndef RH_RUNTIME_MEETINGS_H
#define RH_RUNTIME_MEETINGS_H

#include "order.h"

enum { RT_MEETINGS_SLOTS = 64, RT_MEETINGS_WIDE = 4 };

struct rt_meetings_slot {
    _Atomic uintptr_t address;
    _Atomic uint64_t size_and_thread; /* size above, thread below 32 bits */
};

struct rt_meetings_side {
    _Atomic uint32_t thread; /* the first that came */
    _Atomic uint32_t next_wide;
    struct rt_meetings_slot slots[RT_MEETINGS_SLOTS];
    struct rt_meetings_slot wide[RT_MEETINGS_WIDE];
};

struct rt_meetings {
    struct rt_meetings_side sides[2];
};

/* Notes an access of a side and compares it with those of `other`; returns what was seen, of enum
 * rh_seen. */
RT_HIDDEN uint32_t rt_meetings_note(struct rt_meetings *c, enum rt_side side, enum rt_side other,
                                    const struct rt_thread *self, const struct rt_access *a);

#endif
