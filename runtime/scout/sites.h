/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which sites the scout watches: their keys, their visits, and when each is left alone.
 *
 * How it works: all sites are armed before the first thread is created. A site that has been
 * visited often enough in a window goes off, so that hot code costs little; code that runs for the
 * first time is always seen, and a thread that comes to a site for the first time is, too. When the
 * next window opens, a site that met another thread comes back at once; one that brought nothing
 * stays away for more and more windows. A site that a window hardly saw stays on when it closes:
 * when it runs at last, it is *rare*, and may ask for a window of its own. One that met another
 * without a common lock is *promising*: its kin has more turns in windows for a few kin (kin.h),
 * which have beside these all sites that run now and then. What earlier runs have shown comes with
 * the run as wishes (racehive/control.h).
 *
 * Visits are counted without atomic operations: a lost one does not matter.
 */
#ifndef RH_RUNTIME_SCOUT_SITES_H
#define RH_RUNTIME_SCOUT_SITES_H

#include "keys.h"
#include "racehive/control.h"

/* Why a thread may be paused at a site, as bits. */
enum rt_scout_chance {
    RT_CHANCE_NONE,
    RT_CHANCE_RARE = 1,      /* nobody had come for some time */
    RT_CHANCE_PROMISING = 2, /* it met another without a common lock */
};

/* True if the access is to be watched: the site has visits left in this window, or the thread is
 * new to it. */
RT_HIDDEN bool rt_scout_sites_visit(const struct rt_thread *self, const struct rt_access *a,
                                    enum rt_scout_chance *chance);

/* What a site has shown. */
enum rt_scout_news {
    RT_SCOUT_MET,       /* another thread's access of the same bytes */
    RT_SCOUT_PROMISING, /* the same without a common lock */
    RT_SCOUT_SUSPECT,   /* and unordered */
};
RT_HIDDEN void rt_scout_sites_news(struct rh_site_name name, enum rt_scout_news news);
/* It has been visited often enough at least once. */
RT_HIDDEN bool rt_scout_sites_is_hot(struct rh_site_name name);
/* Whether the stacks of a site's accesses are worth their cost: it met another thread's, or has
 * hardly run yet. */
RT_HIDDEN bool rt_scout_sites_wants_witness(const struct rt_access *a);

/* Whether a thread may be paused here once more in this run, and why; and that it was. */
enum rt_scout_ambush { RT_AMBUSH_NO, RT_AMBUSH_RARE, RT_AMBUSH_PROMISING };
RT_HIDDEN enum rt_scout_ambush rt_scout_sites_wants_ambush(const struct rt_access *a, bool is_rare);
RT_HIDDEN void rt_scout_sites_ambushed(const struct rt_access *a);

RT_HIDDEN uint16_t rt_scout_sites_kin(struct rh_site_name name);

/* Which sites a window is for. */
enum rt_scout_width {
    RT_SCOUT_NARROW, /* those of the kin that were chosen (kin.h) */
    RT_SCOUT_USUAL,  /* all but those that earlier runs know, or that brought nothing lately */
    RT_SCOUT_WIDE,   /* all but those that earlier runs know */
};
/* Chooses the kin for a narrow window (rt_kin_choose). */
RT_HIDDEN bool rt_scout_sites_choose_kin(uint16_t for_one);

/* All in one batch per image; not in hooks, and never two at once. `stacks`: how many may be taken
 * of sites that have shown nothing. */
RT_HIDDEN void rt_scout_sites_open(enum rt_scout_width width, uint32_t stacks);
RT_HIDDEN void rt_scout_sites_close(void);   /* what hardly ran, or never, stays armed */
RT_HIDDEN void rt_scout_sites_silence(void); /* and that goes off, too, until the next one opens */
RT_HIDDEN void rt_scout_sites_retire(void);  /* those that have been visited often enough go off */
RT_HIDDEN void rt_scout_sites_company(void); /* a thread will begin: what one thread alone wore out
                                                comes back */

/* An image has been loaded, perhaps not for the first time: none of its sites is on. */
RT_HIDDEN void rt_scout_sites_image(const struct rt_image *image);

/* Time in steps of 10 ms: read anywhere, kept by the runtime's own thread. */
RT_HIDDEN uint16_t rt_scout_sites_now(void);
RT_HIDDEN void rt_scout_sites_tick(void);

/* Set when there is a site to retire, and the runtime's own thread woken when there are many. */
extern RT_HIDDEN _Atomic bool rt_scout_sites_worn;

#endif
