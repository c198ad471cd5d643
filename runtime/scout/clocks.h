/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vector clocks: which accesses happen before which, for many accesses at once.
 *
 * How it works: every thread has a slot and counts epochs in it; it carries a clock, the latest
 * epoch of each slot that it has learned of. A release joins the thread's clock into the object's,
 * and the thread's next access begins a new epoch; an acquire joins the object's clock into the
 * thread's. An access is known by slot and epoch: a thread has learned of it if its clock has that
 * epoch or a later one.
 *
 * Every inaccuracy is on one side: a thread may learn too much, and a race is missed; it never
 * learns too little, and no race is invented. So the clocks of objects lie in a table without keys,
 * where two objects may share one (unless started as exact), and threads whose numbers are equal
 * modulo RT_CLOCK_SLOTS share a slot. Components only grow, by compare and exchange: no join is
 * lost to another at the same time.
 *
 * Clocks may stand still while nobody needs them (the scout's windows). What synchronisation
 * happens meanwhile is not learned, and need not be: a thread never knows the current epoch of
 * another's slot before it has synchronised with it in that epoch, so accesses that are compared
 * only with accesses of the same window are compared rightly, if every event since the window began
 * is seen.
 */
#ifndef RH_RUNTIME_CLOCKS_H
#define RH_RUNTIME_CLOCKS_H

#include "rt.h"

enum { RT_CLOCK_SLOTS = 64 };

struct rt_clock {
    _Atomic uint32_t at[RT_CLOCK_SLOTS];
};

/* A thread's share. All zero: it has not begun. */
struct rt_clocks {
    struct rt_clock known;
    struct rt_clock released; /* what it knew at its last release fence */
    struct rt_clock pending;  /* what its next acquire fence brings */
    bool has_released, has_pending;
    bool is_published; /* the present epoch has been given away: the next access begins another */
};

/* Makes the table of objects. False if there is no memory. */
RT_HIDDEN bool rt_clocks_start(void);
/* The same, and every object has a clock of its own, as long as there is memory. */
RT_HIDDEN bool rt_clocks_start_exact(void);

static inline uint32_t rt_clocks_slot(const struct rt_thread *self)
{
    return self->slot % RT_CLOCK_SLOTS;
}

/* The epoch of an access that this thread is about to make; 0 if it has no more. */
RT_HIDDEN uint32_t rt_clocks_use_epoch(struct rt_thread *self, struct rt_clocks *mine);

static inline bool rt_clocks_knows(const struct rt_clocks *mine, uint32_t slot, uint32_t epoch)
{
    return atomic_load_explicit(&mine->known.at[slot], memory_order_relaxed) >= epoch;
}

/* What every thread has learned of, and so every thread that is yet to begin: an access of such an
 * epoch races with nothing any more. Looked for now and then, by rt_clocks_find_floor. */
extern RT_HIDDEN struct rt_clock rt_clocks_floor;
RT_HIDDEN void rt_clocks_find_floor(void);

/* In a thread that begins. One that was adopted has learned of everything. */
RT_HIDDEN void rt_clocks_begin(struct rt_thread *self, struct rt_clocks *mine);

/* What a detector hands on. `before` and `after` are for atomics and fences. */
RT_HIDDEN void rt_clocks_sync(struct rt_thread *self, struct rt_clocks *mine, enum rt_sync what,
                              const volatile void *object);
RT_HIDDEN void rt_clocks_before(struct rt_thread *self, struct rt_clocks *mine,
                                const struct rt_access *a);
RT_HIDDEN void rt_clocks_after(struct rt_thread *self, struct rt_clocks *mine,
                               const struct rt_access *a);

/* Where a thread's share is: for signals, which reach other threads. */
extern RT_HIDDEN struct rt_clocks *(*rt_clocks_of)(struct rt_thread *t);

#endif
