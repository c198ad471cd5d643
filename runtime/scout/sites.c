/* SPDX-License-Identifier: Apache-2.0 */
/* Which sites the scout watches: see sites.h. */
#include "scout/sites.h"

#include "budget.h"
#include "opaque.h"
#include "options.h"
#include "service.h"
#include "shared.h"
#include "sys.h"

enum { IMAGES = 64, BATCH = 2048 };

/* How a site's visits are counted out. */
enum {
    FOCUS_TIMES = 8, /* so many times as often, for a site to focus on */
    LONE_TIMES = 8,  /* and for one that a single thread has visited: others may come */
    NEW_THREAD = 16, /* visits that are left when another thread comes */
    MOST_BOREDOM = 6,
    KNOWN_VISITS = 64, /* of a site that earlier runs know */
    COLD = 2,         /* visits in a window that leave a site on when it closes, */
    COLD_VISITS = 16, /* for so many more until the next opens */
};

enum flags {
    IS_PLAIN = 1,    /* not an atomic or fence, which order threads and are never left out */
    IS_OFF = 2,      /* visited often enough, until its turn comes again */
    HAS_NEWS = 4,    /* met another thread since it was armed */
    HAS_MET = 8,     /* ever did, in this run */
    IS_SUSPECT = 16, /* and was unordered */
    IS_HOT = 32,     /* has been worn once, in this run */
    IS_PROMISING = 64 /* met another without a common lock, in this run or an earlier one */
};

struct site {
    uint16_t visits; /* since it was armed */
    uint16_t slots;  /* of the threads that came, a bit each */
    uint8_t flags;
    uint8_t wish;    /* enum rh_scout_wish */
    uint8_t sleep;   /* windows until its turn comes again */
    uint8_t boredom; /* windows in a row that brought nothing */
    uint8_t ambushes; /* in this run */
};

static struct site *sites_of[IMAGES];
static _Atomic bool is_open;      /* the window */
static bool is_narrow;            /* and it is for promising sites alone */
static _Atomic bool has_promise; /* there are such */
_Atomic bool rt_scout_sites_worn;

static struct site *site_of(const struct rt_access *a)
{
    const struct rt_image *image = a->image->runtime;
    struct site *sites = image->number < IMAGES ? sites_of[image->number] : NULL;
    return sites ? &sites[a->site] : NULL;
}

/* --- visits --- */

static bool is_lone(const struct site *s)
{
    return !(s->slots & (s->slots - 1u));
}

static uint32_t limit_of(const struct site *s)
{
    uint32_t limit = (uint32_t)rt_options.scout_visits;
    if (!atomic_load_explicit(&is_open, memory_order_relaxed))
        return COLD_VISITS;
    if (s->wish == RH_SCOUT_KNOWN && !(s->flags & IS_PROMISING))
        return KNOWN_VISITS;
    if (s->flags & IS_PROMISING)
        limit *= FOCUS_TIMES;
    else if (is_lone(s))
        limit *= LONE_TIMES;
    return limit < UINT16_MAX ? limit : UINT16_MAX;
}

static void ask_to_retire(void)
{
    if (!atomic_load_explicit(&rt_scout_sites_worn, memory_order_relaxed) &&
        !atomic_exchange(&rt_scout_sites_worn, true))
        rt_service_wake();
}

static void note_ran(const struct rt_access *a, const struct site *s)
{
    const struct rt_image *image = a->image->runtime;
    if (image->number != 0 || a->site >= RH_SCOUT_SITES)
        return;
    _Atomic uint8_t *ran = &rt_shared()->scout.ran[a->site];
    uint8_t now = is_lone(s) ? RH_RAN_ONE_THREAD : RH_RAN_THREADS;
    if (atomic_load_explicit(ran, memory_order_relaxed) != now)
        atomic_store_explicit(ran, now, memory_order_relaxed);
}

bool rt_scout_sites_visit(const struct rt_thread *self, const struct rt_access *a)
{
    struct site *s = site_of(a);
    uint16_t slot = (uint16_t)(1u << self->slot % 16);
    if (!s)
        return false;
    if (!(s->flags & IS_PLAIN))
        return true;
    uint32_t visits = s->visits, limit = limit_of(s);
    if (rt_unlikely(!(s->slots & slot))) {
        s->slots |= slot;
        note_ran(a, s);
        limit = limit_of(s);
        if (visits + NEW_THREAD > limit)
            visits = limit > NEW_THREAD ? limit - NEW_THREAD : 0;
    }
    if (visits < UINT16_MAX)
        s->visits = (uint16_t)(visits + 1);
    if (rt_likely(visits < limit))
        return true;
    ask_to_retire();
    return false;
}

/* A site that may race has more of them. */
bool rt_scout_sites_wants_ambush(const struct rt_access *a)
{
    enum { PROMISING = 6, OTHERS = 2 };
    const struct site *s = site_of(a);
    if (!s || s->wish == RH_SCOUT_KNOWN)
        return false;
    if (s->flags & IS_PROMISING)
        return s->ambushes < PROMISING;
    return !(s->flags & IS_HOT) && s->visits < 64 && s->ambushes < OTHERS;
}

void rt_scout_sites_ambushed(const struct rt_access *a)
{
    site_of(a)->ambushes++;
}

static struct site *find(struct rh_site_name name)
{
    struct site *sites = name.image < IMAGES ? sites_of[name.image] : NULL;
    return sites ? &sites[name.site] : NULL;
}

bool rt_scout_sites_is_hot(struct rh_site_name name)
{
    const struct site *s = find(name);
    return s && s->flags & IS_HOT;
}

void rt_scout_sites_news(struct rh_site_name name, enum rt_scout_news news)
{
    static const uint8_t means[] = {
        [RT_SCOUT_MET] = HAS_NEWS | HAS_MET,
        [RT_SCOUT_PROMISING] = HAS_NEWS | HAS_MET | IS_PROMISING,
        [RT_SCOUT_SUSPECT] = HAS_NEWS | HAS_MET | IS_PROMISING | IS_SUSPECT,
    };
    struct site *s = find(name);
    if (s && s->wish == RH_SCOUT_KNOWN && news == RT_SCOUT_PROMISING)
        news = RT_SCOUT_MET; /* a later run may be told otherwise */
    if (!s || (s->flags & means[news]) == means[news])
        return;
    s->flags |= means[news];
    if (news != RT_SCOUT_MET)
        atomic_store_explicit(&has_promise, true, memory_order_relaxed);
}

bool rt_scout_sites_have_promise(void)
{
    return atomic_load(&has_promise);
}

bool rt_scout_sites_wants_witness(const struct rt_access *a)
{
    enum { FIRST = 2, SOME = 16, MANY = 64 };
    const struct site *s = site_of(a);
    if (!s)
        return false;
    if (s->flags & IS_SUSPECT)
        return s->visits <= MANY;
    return s->visits <= (s->flags & HAS_MET ? SOME : FIRST);
}

/* --- keys --- */

static bool make_sites(struct rt_image *image)
{
    struct site *sites = rt_map(image->site_count * sizeof *sites);
    if (!sites)
        return false;
    const struct rh_scout *page = &rt_shared()->scout;
    for (uint32_t s = 0; s < image->site_count; s++) {
        uint8_t access = image->image->sites[s].access;
        if (access == RH_ACCESS_READ || access == RH_ACCESS_WRITE)
            sites[s].flags = IS_PLAIN | IS_OFF;
        if (image->number == 0 && s < RH_SCOUT_SITES)
            sites[s].wish = page->wishes[s];
        if (sites[s].wish == RH_SCOUT_FOCUS) {
            sites[s].flags |= IS_PROMISING;
            atomic_store(&has_promise, true);
        }
    }
    __atomic_store_n(&sites_of[image->number], sites, __ATOMIC_RELEASE);
    return true;
}

static bool switch_image(struct rt_image *image, bool (*wants)(struct site *), bool on)
{
    static uint32_t batch[BATCH];
    uint32_t count = 0;
    bool good = true;
    struct site *sites = sites_of[image->number];
    for (uint32_t s = 0; s < image->site_count; s++) {
        if (!wants(&sites[s]))
            continue;
        batch[count++] = s;
        if (count == BATCH) {
            good &= rt_keys_sites(image, batch, count, RT_KEYS_SCOUT, on);
            count = 0;
        }
    }
    return good && (!count || rt_keys_sites(image, batch, count, RT_KEYS_SCOUT, on));
}

/* What this takes is the run's, as everything else that is done for it. False if a key could not be
 * switched. */
static bool switch_where(bool (*wants)(struct site *), bool on)
{
    int64_t began = rt_sys_thread_ns();
    bool good = true;
    for (uint32_t i = 0; i < rt_image_count() && i < IMAGES; i++) {
        struct rt_image *image = rt_image_at(i);
        if (image && image->image && image->site_count && (sites_of[i] || make_sites(image)))
            good &= switch_image(image, wants, on);
    }
    rt_meter_charge(RT_METER_KEYS, (uint64_t)(rt_sys_thread_ns() - began));
    return good;
}

static bool orders_threads(struct site *s)
{
    return !(s->flags & IS_PLAIN);
}

static bool comes_on(struct site *s)
{
    if ((s->flags & (IS_PLAIN | IS_OFF)) != (IS_PLAIN | IS_OFF) ||
        (is_narrow && !(s->flags & IS_PROMISING)))
        return false;
    if (s->sleep && !is_narrow) {
        s->sleep--;
        return false;
    }
    s->visits = 0;
    s->flags &= (uint8_t) ~(IS_OFF | HAS_NEWS);
    return true;
}

static void rest(struct site *s)
{
    bool is_dull = !(s->flags & (HAS_NEWS | IS_PROMISING));
    s->boredom = is_dull ? (uint8_t)(s->boredom + (s->boredom < MOST_BOREDOM)) : 0;
    s->sleep = (uint8_t)((1u << s->boredom) - 1);
    s->flags |= IS_OFF | IS_HOT;
}

static bool is_worn(struct site *s)
{
    if ((s->flags & (IS_PLAIN | IS_OFF)) != IS_PLAIN || s->visits < limit_of(s))
        return false;
    rest(s);
    return true;
}

/* What was hardly visited is not dull: it is only not on while nobody looks. */
static bool goes_off(struct site *s)
{
    if (is_worn(s))
        return true;
    if ((s->flags & (IS_PLAIN | IS_OFF)) != IS_PLAIN)
        return false;
    if (s->visits <= COLD) {
        s->visits = 0;
        return false;
    }
    s->flags |= IS_OFF;
    return true;
}

static bool comes_for_company(struct site *s)
{
    if ((s->flags & (IS_PLAIN | IS_OFF)) != (IS_PLAIN | IS_OFF) || !is_lone(s) ||
        s->wish == RH_SCOUT_KNOWN)
        return false;
    s->visits = 0;
    s->flags &= (uint8_t)~IS_OFF;
    return true;
}

/* What orders threads comes first, and what of it cannot be switched on leaves order unseen. */
void rt_scout_sites_open(bool narrow)
{
    is_narrow = narrow;
    if (!switch_where(orders_threads, true))
        rt_opaque(RH_OPAQUE_KEYS);
    atomic_store(&is_open, true);
    switch_where(comes_on, true);
}

void rt_scout_sites_close(void)
{
    switch_where(goes_off, false);
    atomic_store(&is_open, false);
    switch_where(orders_threads, false);
}

void rt_scout_sites_retire(void)
{
    switch_where(is_worn, false);
}

void rt_scout_sites_company(void)
{
    switch_where(comes_for_company, true);
}
