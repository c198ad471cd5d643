/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which kin a window is for. Sites of one *kin* name the same member or variable
 * (racehive/image.h), and so mostly touch the same memory.
 *
 * How it works: a window that watches all sites of a busy program spends its slice of the budget
 * within a millisecond, in which hardly more than one thread gets the processor, and nobody can
 * meet. One that watches a few kin lasts long enough for several threads to come, and still has
 * both sites of most pairs. Kin take turns, in an order that is random in each run, half of them
 * from those that have shown some promise. How many take part in a window follows from how long
 * the last one lasted. Kin whose sites met others are *linked* to theirs, and take part with them.
 * Sites that run now and then take part in every window, whatever their kin (sites.h).
 *
 * All by the runtime's own thread, but for rt_kin_link.
 */
#ifndef RH_RUNTIME_KIN_H
#define RH_RUNTIME_KIN_H

#include "rt.h"

/* What is known of a kin, from its sites. */
struct rt_kin {
    uint16_t slots; /* of the threads that came to them, a bit each */
    bool writes;    /* one of those that ran does */
    bool is_promising;
};

RT_HIDDEN bool rt_kin_start(void);

/* There are sites of this kin, which is not 0. */
RT_HIDDEN void rt_kin_add(uint16_t kin);

/* Before a choice: forgets what is known, and learns it again site by site. */
RT_HIDDEN void rt_kin_clear(void);
RT_HIDDEN void rt_kin_learn(uint16_t kin, const struct rt_kin *site);

/* The kin of the next window. `for_one`: that of the access which the window is for, or 0; the
 * others are there by turns, since following synchronisation costs the same for one as for many.
 * False if there is none: nothing that several threads run has been seen. */
RT_HIDDEN bool rt_kin_choose(uint16_t for_one);
RT_HIDDEN bool rt_kin_is_chosen(uint16_t kin);

/* The window for them lasted so long. */
RT_HIDDEN void rt_kin_lasted(uint64_t ns);

/* Sites of both met each other. In hooks. */
RT_HIDDEN void rt_kin_link(uint16_t a, uint16_t b);

#endif
