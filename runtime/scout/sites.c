/* SPDX-License-Identifier: Apache-2.0 */
/* Which sites the scout watches: see sites.h. */
#include "scout/sites.h"

#include "budget.h"
#include "opaque.h"
#include "options.h"
#include "scout/kin.h"
#include "service.h"
#include "shared.h"
#include "sys.h"

enum { IMAGES = RH_MAX_KEYED };

/* How a site's visits are counted out. */
enum {
    NARROW_TIMES = 8,  /* so many times as often in a narrow window */
    WIDE_SHARE = 16,   /* one in so many in others: they are to see as many sites as they can, */
    SPECIAL_SHARE = 4, /* but promising ones, and those to which others may still come, longer, */
    KNOWN_SHARE = 32,  /* and those that earlier runs know hardly at all */
    LEAST_VISITS = 16,
    NEW_THREAD = 16, /* visits that are left when another thread comes */
    MOST_BOREDOM = 6,
    CLOSED_VISITS = 2, /* between windows */
    QUIET = 2,         /* windows that did not see a site, and leave it on when they close */
};

/* By the runtime's own thread. */
enum flags {
    IS_PLAIN = 1, /* not an atomic or fence, which order threads and are never left out */
    IS_OFF = 2,   /* visited often enough, until its turn comes again */
    IS_HOT = 4    /* has been worn once, in this run */
};

/* By hooks; one that is lost comes again. */
enum seen {
    HAS_NEWS = 1,     /* met another thread since it was armed */
    HAS_MET = 2,      /* ever did, in this run */
    IS_SUSPECT = 4,   /* and was unordered */
    IS_PROMISING = 8, /* met another without a common lock, in this run or an earlier one */
    IS_TOLD = 16,     /* that it is worn */
    IS_RARE = 32,     /* when it was visited last, nobody had come for some time */
    IS_FREQUENT = 64, /* it was visited several times within a step of `now` */
    IS_OLD = 128      /* an earlier window has seen it */
};

struct site {
    uint16_t visits; /* since it was armed */
    uint16_t slots;  /* of the threads that came, a bit each */
    uint16_t last;   /* when it was last visited, or armed; see now */
    uint16_t kin;
    uint8_t flags, seen;
    uint8_t wish;     /* enum rh_scout_wish */
    uint8_t sleep;    /* windows until its turn comes again */
    uint8_t boredom;  /* windows in a row that brought nothing */
    uint8_t quiet;    /* windows in a row that did not see it */
    uint8_t ambushes; /* in this run */
};

static struct site *sites_of[IMAGES];
static _Atomic bool is_open;      /* the window */
static enum rt_scout_width width; /* and what it is for */
static _Atomic int32_t stacks;    /* that it may still take of sites that have shown nothing */
static _Atomic uint16_t now;      /* time in NOW_NS, as the runtime's own thread goes by */
static uint64_t luck;             /* another in each run */

static struct site *find(struct rh_site_name name)
{
    struct site *sites = name.image < IMAGES ? sites_of[name.image] : NULL;
    return sites ? &sites[name.site] : NULL;
}

static struct rh_site_name name_of(const struct rt_access *a)
{
    const struct rt_image *image = a->image->runtime;
    return (struct rh_site_name){image->number, a->site};
}

static struct site *site_of(const struct rt_access *a)
{
    return find(name_of(a));
}

/* --- sites to retire --- */

/* To wake the runtime's own thread for each of them would cost more than a few visits; but one that
 * runs on and on takes all that is left until it is off. */
enum { WORN = 1024, WORTH_A_WAKE = 8, RUNS_ON = 128 };

/* Those that hooks have told of, as words and never 0; what finds no room comes again. */
static _Atomic uint32_t worn[WORN];
static _Atomic uint32_t worn_count;
_Atomic bool rt_scout_sites_worn;

static void tell_worn(struct site *s, struct rh_site_name name)
{
    uint32_t at = atomic_load_explicit(&worn_count, memory_order_relaxed);
    if (s->seen & IS_TOLD || at >= WORN)
        return;
    at = atomic_fetch_add(&worn_count, 1);
    if (at >= WORN)
        return;
    s->seen |= IS_TOLD;
    atomic_store(&worn[at], rh_site_word(name.image, name.site) + 1);
    atomic_store_explicit(&rt_scout_sites_worn, true, memory_order_relaxed);
    if (at == WORTH_A_WAKE)
        rt_service_wake();
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
        return CLOSED_VISITS;
    if (width == RT_SCOUT_NARROW)
        limit *= NARROW_TIMES;
    else if (s->seen & IS_PROMISING || is_lone(s))
        limit /= SPECIAL_SHARE;
    else
        limit /= s->wish == RH_SCOUT_KNOWN ? KNOWN_SHARE : WIDE_SHARE;
    return limit < LEAST_VISITS ? LEAST_VISITS : limit < UINT16_MAX ? limit : UINT16_MAX;
}

/* Where the shared memory has a site, among those of all images. */
static uint64_t index_of(struct rh_site_name name)
{
    return (uint64_t)rt_shared()->keyed[name.image].first_site + name.site;
}

static void note_ran(struct rh_site_name name, const struct site *s)
{
    if (index_of(name) >= RH_SCOUT_SITES)
        return;
    _Atomic uint8_t *ran = &rt_shared()->scout.ran[index_of(name)];
    uint8_t found = is_lone(s) ? RH_RAN_ONE_THREAD : RH_RAN_THREADS;
    if (atomic_load_explicit(ran, memory_order_relaxed) != found)
        atomic_store_explicit(ran, found, memory_order_relaxed);
}

bool rt_scout_sites_visit(const struct rt_thread *self, const struct rt_access *a,
                          enum rt_scout_chance *chance)
{
    enum { RARE = 2, OFTEN = 4 };
    struct rh_site_name name = name_of(a);
    struct site *s = find(name);
    uint16_t slot = (uint16_t)(1u << self->slot % 16);
    *chance = RT_CHANCE_NONE;
    if (!s)
        return false;
    if (s->seen & IS_PROMISING)
        *chance = RT_CHANCE_PROMISING;
    if (!(s->flags & IS_PLAIN))
        return true;
    uint32_t visits = s->visits, limit = limit_of(s);
    if (rt_unlikely(!(s->slots & slot))) {
        s->slots |= slot;
        note_ran(name, s);
        limit = limit_of(s);
        if (visits + NEW_THREAD > limit)
            visits = limit > NEW_THREAD ? limit - NEW_THREAD : 0;
    }
    uint16_t time = atomic_load_explicit(&now, memory_order_relaxed);
    if (rt_unlikely(s->last != time)) {
        bool is_rare = (uint16_t)(time - s->last) >= RARE;
        if (is_rare)
            *chance |= RT_CHANCE_RARE;
        s->seen = (uint8_t)((s->seen & ~(IS_RARE | IS_FREQUENT)) | (is_rare ? IS_RARE : 0));
        s->last = time;
    } else if (!(s->seen & IS_FREQUENT) && visits >= OFTEN) {
        s->seen |= IS_FREQUENT;
    }
    if (visits < UINT16_MAX)
        s->visits = (uint16_t)(visits + 1);
    if (rt_likely(visits < limit))
        return true;
    tell_worn(s, name);
    if (visits == limit + RUNS_ON)
        rt_service_wake();
    return false;
}

static bool is_lucky(struct rh_site_name name)
{
    return (rh_site_word(name.image, name.site) + luck) * 0x9e3779b97f4a7c15ull >> 63;
}

enum rt_scout_ambush rt_scout_sites_wants_ambush(const struct rt_access *a, bool is_rare)
{
    enum { PROMISING = 12, FREQUENT = 4, OTHERS = 2 };
    struct rh_site_name name = name_of(a);
    const struct site *s = find(name);
    if (!s)
        return RT_AMBUSH_NO;
    if (s->seen & IS_PROMISING)
        return s->ambushes < (s->seen & IS_FREQUENT ? FREQUENT : PROMISING) ? RT_AMBUSH_PROMISING
                                                                            : RT_AMBUSH_NO;
    return is_rare && s->ambushes < OTHERS && is_lucky(name) ? RT_AMBUSH_RARE : RT_AMBUSH_NO;
}

void rt_scout_sites_ambushed(const struct rt_access *a)
{
    site_of(a)->ambushes++;
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
    if (s && (s->seen & means[news]) != means[news])
        s->seen |= means[news];
}

uint16_t rt_scout_sites_kin(struct rh_site_name name)
{
    const struct site *s = find(name);
    return s ? s->kin : 0;
}

static bool take_stack(void)
{
    return atomic_load_explicit(&stacks, memory_order_relaxed) > 0 &&
           atomic_fetch_sub_explicit(&stacks, 1, memory_order_relaxed) > 0;
}

bool rt_scout_sites_wants_witness(const struct rt_access *a)
{
    enum { FIRST = 2, SOME = 8, MANY = 64 };
    const struct site *s = site_of(a);
    if (!s)
        return false;
    if (s->seen & IS_SUSPECT)
        return s->visits <= MANY;
    if (s->seen & (HAS_MET | IS_PROMISING))
        return s->visits <= SOME;
    return s->visits <= FIRST && !(s->seen & IS_OLD) && take_stack();
}

/* --- keys --- */

/* Of an image: its sites, and room for the numbers of those that are switched at once. */
static uint32_t *batch_of[IMAGES];

static bool make_sites(struct rt_image *image)
{
    struct site *sites = rt_map(image->site_count * sizeof *sites);
    uint32_t *batch = rt_map(image->site_count * sizeof *batch);
    if (!sites || !batch)
        return false;
    batch_of[image->number] = batch;
    const struct rh_scout *page = &rt_shared()->scout;
    for (uint32_t s = 0; s < image->site_count; s++) {
        uint8_t access = image->image->sites[s].access;
        if (access == RH_ACCESS_READ || access == RH_ACCESS_WRITE)
            sites[s].flags = IS_PLAIN | IS_OFF;
        uint64_t at = index_of((struct rh_site_name){image->number, s});
        if (at < RH_SCOUT_SITES)
            sites[s].wish = page->wishes[at];
        if (sites[s].wish == RH_SCOUT_FOCUS)
            sites[s].seen = IS_PROMISING;
        sites[s].kin = image->image->sites[s].kin;
        if (sites[s].kin)
            rt_kin_add(sites[s].kin);
    }
    __atomic_store_n(&sites_of[image->number], sites, __ATOMIC_RELEASE);
    return true;
}

void rt_scout_sites_image(const struct rt_image *image)
{
    struct site *sites = image->number < IMAGES ? sites_of[image->number] : NULL;
    for (uint32_t s = 0; sites && s < image->site_count; s++)
        if (sites[s].flags & IS_PLAIN)
            sites[s].flags |= IS_OFF;
}

static bool switch_image(struct rt_image *image, bool (*wants)(struct site *), bool on)
{
    uint32_t *batch = batch_of[image->number], count = 0;
    struct site *sites = sites_of[image->number];
    for (uint32_t s = 0; s < image->site_count; s++)
        if (wants(&sites[s]))
            batch[count++] = s;
    return !count || rt_keys_sites(image, batch, count, RT_KEYS_SCOUT, on);
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

static bool is_plain_and(const struct site *s, uint8_t off)
{
    return (s->flags & (IS_PLAIN | IS_OFF)) == (IS_PLAIN | off);
}

/* A window is over. */
static void count_anew(struct site *s)
{
    if (s->visits)
        s->seen |= IS_OLD;
    s->visits = 0;
}

static void arm(struct site *s)
{
    count_anew(s);
    s->last = atomic_load_explicit(&now, memory_order_relaxed);
    s->flags &= (uint8_t)~IS_OFF;
    s->seen &= (uint8_t) ~(HAS_NEWS | IS_TOLD);
}

/* What runs now and then costs little in any window, and whose sites are frequent have each window
 * of their own kin to meet it. */
static bool is_for_all(const struct site *s)
{
    bool has_run = s->slots && s->wish != RH_SCOUT_KNOWN;
    return !(s->seen & IS_FREQUENT) && (s->seen & IS_PROMISING || has_run);
}

static bool comes_on(struct site *s)
{
    bool is_narrow = width == RT_SCOUT_NARROW;
    if (!is_plain_and(s, IS_OFF) || (is_narrow && !rt_kin_is_chosen(s->kin) && !is_for_all(s)) ||
        (!is_narrow && s->wish == RH_SCOUT_KNOWN))
        return false;
    if (s->sleep && width == RT_SCOUT_USUAL) {
        s->sleep--;
        return false;
    }
    arm(s);
    return true;
}

static void rest(struct site *s)
{
    bool is_dull = !(s->seen & (HAS_NEWS | IS_PROMISING));
    s->boredom = is_dull ? (uint8_t)(s->boredom + (s->boredom < MOST_BOREDOM)) : 0;
    s->sleep = (uint8_t)((1u << s->boredom) - 1);
    s->flags |= IS_OFF | IS_HOT;
}

static bool is_worn(struct site *s)
{
    if (!is_plain_and(s, 0) || s->visits < limit_of(s))
        return false;
    rest(s);
    return true;
}

/* What never ran stays, and what runs now and then: it may be the access that others race with. */
static bool stays(struct site *s)
{
    s->quiet = s->visits ? 0 : (uint8_t)(s->quiet + (s->quiet < QUIET));
    bool is_new = !s->slots && s->wish == RH_SCOUT_USUAL;
    return is_new || s->quiet == QUIET || (s->visits && s->seen & IS_RARE);
}

static bool goes_off(struct site *s)
{
    if (!is_plain_and(s, 0))
        return false;
    if (is_worn(s))
        return true;
    if (stays(s)) {
        count_anew(s);
        return false;
    }
    s->flags |= IS_OFF;
    return true;
}

static bool comes_for_company(struct site *s)
{
    if (!is_plain_and(s, IS_OFF) || !is_lone(s) || s->wish == RH_SCOUT_KNOWN)
        return false;
    arm(s);
    return true;
}

/* --- kin --- */

static void learn(const struct rt_image *image, const struct site *sites)
{
    for (uint32_t i = 0; i < image->site_count; i++) {
        uint8_t access = image->image->sites[i].access;
        bool writes = access != RH_ACCESS_READ && access != RH_ACCESS_ATOMIC_READ;
        if (sites[i].kin && (sites[i].slots || sites[i].seen & IS_PROMISING))
            rt_kin_learn(sites[i].kin,
                         &(struct rt_kin){.slots = sites[i].slots,
                                          .writes = writes,
                                          .is_promising = sites[i].seen & IS_PROMISING});
    }
}

bool rt_scout_sites_choose_kin(uint16_t for_one)
{
    int64_t began = rt_sys_thread_ns();
    if (!for_one)
        rt_kin_clear();
    for (uint32_t i = 0; !for_one && i < rt_image_count() && i < IMAGES; i++) {
        const struct rt_image *image = rt_image_at(i);
        if (image && image->image && sites_of[i])
            learn(image, sites_of[i]);
    }
    bool good = rt_kin_choose(for_one);
    rt_meter_charge(RT_METER_KEYS, (uint64_t)(rt_sys_thread_ns() - began));
    return good;
}

/* --- windows --- */

/* What orders threads comes first, and what of it cannot be switched on leaves order unseen. */
void rt_scout_sites_open(enum rt_scout_width wanted, uint32_t most_stacks)
{
    width = wanted;
    atomic_store(&stacks, (int32_t)most_stacks);
    if (!luck)
        luck = rt_arch_ticks() | 1;
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

static bool is_on(struct site *s)
{
    if (!is_plain_and(s, 0))
        return false;
    s->flags |= IS_OFF;
    return true;
}

void rt_scout_sites_silence(void)
{
    switch_where(is_on, false);
}

/* By image, since a batch is of one. */
static void retire_in(struct rt_image *image, const uint32_t *words, uint32_t count)
{
    uint32_t *batch = batch_of[image->number], n = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct rh_site_name name = rh_site_name_of(words[i] - 1);
        if (words[i] && name.image == image->number && is_worn(find(name)))
            batch[n++] = name.site;
    }
    if (n)
        rt_keys_sites(image, batch, n, RT_KEYS_SCOUT, false);
}

void rt_scout_sites_retire(void)
{
    int64_t began = rt_sys_thread_ns();
    static uint32_t words[WORN];
    uint32_t count = atomic_load(&worn_count);
    count = count < WORN ? count : WORN;
    for (uint32_t i = 0; i < count; i++)
        words[i] = atomic_exchange(&worn[i], 0);
    atomic_store(&worn_count, 0);
    for (uint32_t i = 0; i < rt_image_count() && i < IMAGES; i++) {
        struct rt_image *image = rt_image_at(i);
        if (image && image->image && sites_of[i])
            retire_in(image, words, count);
    }
    rt_meter_charge(RT_METER_KEYS, (uint64_t)(rt_sys_thread_ns() - began));
}

void rt_scout_sites_company(void)
{
    switch_where(comes_for_company, true);
}

uint16_t rt_scout_sites_now(void)
{
    return atomic_load_explicit(&now, memory_order_relaxed);
}

void rt_scout_sites_tick(void)
{
    enum { NOW_NS = 10000000 };
    atomic_store(&now, (uint16_t)(rt_sys_monotonic_ns() / NOW_NS));
}
