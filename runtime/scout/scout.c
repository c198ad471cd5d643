/* SPDX-License-Identifier: Apache-2.0 */
/* The scout: see scout.h. */
#include "scout/scout.h"

#include "budget.h"
#include "evidence/depot.h"
#include "hook.h"
#include "keys.h"
#include "lock.h"
#include "opaque.h"
#include "options.h"
#include "scout/ambush.h"
#include "scout/held.h"
#include "scout/kin.h"
#include "scout/meet.h"
#include "scout/recent.h"
#include "scout/sites.h"
#include "scout/spans.h"
#include "service.h"
#include "shared.h"
#include "sync.h"
#include "sys.h"

enum { FIRST_PAGE = 4096 };

static _Atomic uint32_t window; /* the number of the one that is open, or 0 */

static size_t share_offset;

static struct rt_scout *share_of(const struct rt_thread *t)
{
    return (struct rt_scout *)((char *)t->detector + share_offset);
}

static bool is_plain(uint8_t kind)
{
    return kind == RH_ACCESS_READ || kind == RH_ACCESS_WRITE;
}

/* --- when there is a window --- */

/* Slices of the budget. */
enum { LEAST_SLICE_NS = 1000000, REGULAR_SLICE_NS = 2000000, MOST_SLICE_NS = 50000000 };
enum { AMBUSHES = 8 };           /* in one window */
enum { NS_PER_STACK = 4000 };    /* one takes about 1 us, and all of them a quarter of the slice */
enum { LONGEST_NS = 100000000 }; /* that one is open: others wait for their turn */

static struct rt_lock lock; /* of what follows; never taken in a hook */
static bool is_open;
static bool is_silent;          /* and no site is on at all */
static _Atomic bool is_started; /* there has been a window */
static uint32_t serial;
static enum rt_scout_width width; /* of the window */
static int64_t opened_ns;
static _Atomic uint32_t asked_for; /* a thread waits for a window: its access' kin and why */
static _Atomic int32_t turns;      /* ambushes that this window may have yet */
static _Atomic bool may_be_asked;  /* there is enough of the budget for a window */

/* True for so many callers a window. */
static bool take_turn(void)
{
    return atomic_load_explicit(&turns, memory_order_relaxed) > 0 &&
           atomic_fetch_sub(&turns, 1) > 0;
}

/* True if one will be opened. */
static bool ask_for_window(enum rt_scout_ambush why, uint16_t kin)
{
    uint32_t nobody = 0;
    if (!atomic_load_explicit(&may_be_asked, memory_order_relaxed) ||
        atomic_load(&rt_budget_alarm) ||
        !atomic_compare_exchange_strong(&asked_for, &nobody, (uint32_t)kin << 16 | why))
        return false;
    rt_service_wake();
    return true;
}

/* --- suspects --- */

enum { SUSPECTS = 64 };

static _Atomic uint64_t suspects[SUSPECTS]; /* rh_met_sites */
static _Atomic uint32_t suspect_count;

static void suspect(uint32_t a, uint32_t b)
{
    if (!rt_opaque_reasons() || atomic_load(&suspect_count) >= SUSPECTS)
        return;
    uint32_t at = atomic_fetch_add(&suspect_count, 1);
    if (at < SUSPECTS)
        atomic_store(&suspects[at], rh_met_sites(a, b));
}

bool rt_scout_next_suspect(struct rh_site_name *first, struct rh_site_name *second,
                           bool *is_second_rarer)
{
    static uint32_t next;
    uint64_t sites = next < SUSPECTS ? atomic_load(&suspects[next]) : 0;
    if (!sites)
        return false;
    next++;
    *first = rh_site_name_of(rh_met_first(sites));
    *second = rh_site_name_of(rh_met_second(sites));
    *is_second_rarer = rt_scout_sites_is_hot(*first) && !rt_scout_sites_is_hot(*second);
    return true;
}

/* --- accesses --- */

static struct rt_recent describe_whole(struct rt_thread *self, const struct rt_access *a,
                                       uint32_t epoch)
{
    struct rt_recent access = rt_recent_of(self, a, epoch);
    access.locks = rt_held_by(self);
    if (rt_scout_sites_wants_witness(a))
        access.witness = rt_depot_put(self, a);
    return access;
}

static void meet(const struct rt_comer *comer, const struct rt_recent *earlier)
{
    if (rt_meet(comer, earlier, rt_held_in_common(comer->later, earlier)) == RT_MET_FIRST_RACE)
        suspect(comer->later->site, earlier->site);
}

/* What an earlier window has left at the same place, if no common lock was held. */
static void take_hints(const struct rt_recent *later, const struct rt_recent *others,
                       uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!(later->locks & others[i].locks))
            rt_meet_hint(later->site, others[i].site);
}

static void meet_all(struct rt_comer *comer, uintptr_t granule, const struct rt_recent *others,
                     uint32_t count)
{
    comer->granule = granule;
    for (uint32_t i = 0; i < count; i++)
        meet(comer, &others[i]);
}

/* Long accesses that others have made. */
static void meet_spans(struct rt_comer *comer, uint32_t w, struct rt_recent *access)
{
    struct rt_recent others[RT_SPANS];
    const struct rt_access *a = comer->access;
    uintptr_t granule = a->address & -(uintptr_t)RT_GRANULE;
    access->bytes = rt_recent_bytes(granule, a->address, a->address + a->size);
    uint32_t hints, count = rt_spans_find(w, a->address, a->size, access, others, &hints);
    meet_all(comer, granule, others, count);
    take_hints(access, others + count, hints);
}

static void watch_span(struct rt_comer *comer, uint32_t w, struct rt_recent *access)
{
    enum { MOST = 4096 }; /* granules that are looked at */
    struct rt_recent others[RT_RECENT_CELLS];
    const struct rt_access *a = comer->access;
    uintptr_t end = a->address + a->size, at = a->address & -(uintptr_t)RT_GRANULE;
    for (uint32_t n = 0; n < MOST && (at = rt_recent_next(w, at, end)) < end; n++) {
        access->bytes = rt_recent_bytes(at, a->address, end);
        meet_all(comer, at, others, rt_recent_look(w, at, access, others));
        at += RT_GRANULE;
    }
    rt_spans_put(w, a->address, a->size, access);
}

static void watch_granules(struct rt_comer *comer, uint32_t w, struct rt_recent *access)
{
    struct rt_recent others[RT_RECENT_CELLS];
    const struct rt_access *a = comer->access;
    uintptr_t end = a->address + a->size, at = a->address & -(uintptr_t)RT_GRANULE;
    for (; at < end; at += RT_GRANULE) {
        access->bytes = rt_recent_bytes(at, a->address, end);
        uint32_t hints, count = rt_recent_visit(w, at, access, others, &hints);
        meet_all(comer, at, others, count);
        take_hints(access, others, hints);
    }
}

static void watch(struct rt_thread *self, const struct rt_scout *mine, uint32_t w,
                  const struct rt_access *a, uint32_t epoch)
{
    struct rt_recent access = describe_whole(self, a, epoch);
    struct rt_comer comer = {.self = self, .clocks = &mine->clocks, .access = a, .later = &access};
    meet_spans(&comer, w, &access);
    if (rt_likely(a->size < RT_SPAN_LEAST))
        watch_granules(&comer, w, &access);
    else
        watch_span(&comer, w, &access);
}

/* An atomic that may acquire is entered before it happens, like any access: whoever it releases to
 * must find it there, and memory that is given back must lose it. What it met is judged when it has
 * acquired; who comes between the two hooks may know of the atomic, and judges for himself. */
static void watch_atomic(struct rt_thread *self, struct rt_scout_atomic *atomic, uint32_t w,
                         const struct rt_access *a, uint32_t epoch)
{
    enum { GRANULES = sizeof atomic->met / sizeof atomic->met[0] / RT_RECENT_CELLS };
    struct rt_recent others[RT_RECENT_CELLS];
    uintptr_t end = a->address + a->size, at = a->address & -(uintptr_t)RT_GRANULE;
    atomic->window = w;
    atomic->site = a->site;
    atomic->count = 0;
    atomic->access = describe_whole(self, a, epoch);
    for (uint32_t n = 0; at < end && n < GRANULES; n++, at += RT_GRANULE) {
        atomic->access.bytes = rt_recent_bytes(at, a->address, end);
        uint32_t hints, count = rt_recent_visit(w, at, &atomic->access, others, &hints);
        for (uint32_t i = 0; i < count; i++, atomic->count++) {
            atomic->met[atomic->count].granule = at;
            atomic->met[atomic->count].earlier = others[i];
        }
    }
}

static void judge_atomic(struct rt_thread *self, const struct rt_scout *mine,
                         const struct rt_access *a)
{
    const struct rt_scout_atomic *atomic = &mine->atomic;
    struct rt_comer comer = {
        .self = self, .clocks = &mine->clocks, .access = a, .later = &atomic->access};
    for (uint32_t i = 0; i < atomic->count; i++) {
        comer.granule = atomic->met[i].granule;
        meet(&comer, &atomic->met[i].earlier);
    }
}

static bool is_ours(const struct rt_thread *self, const struct rt_access *a)
{
    return a->users & RT_KEYS_SCOUT && !a->ignored && self->in_hook == 1 &&
           a->address >= FIRST_PAGE && a->kind != RH_ACCESS_FENCE;
}

/* Of a masked access nobody knows which bytes it touches; a call may tell later (rt_scout_use). */
static bool knows_bytes(const struct rt_access *a)
{
    return !(a->flags & RH_SITE_PARTIAL);
}

/* The number of the window that is open, or 0. One that has used its slice ends here and now: what
 * is switched off later then costs little. */
static uint32_t open_now(void)
{
    uint32_t w = atomic_load_explicit(&window, memory_order_acquire);
    if (rt_likely(!w || !atomic_load_explicit(&rt_budget_slice_over, memory_order_relaxed)))
        return w;
    uint32_t over = w;
    if (atomic_compare_exchange_strong(&window, &w, 0))
        atomic_store(&rt_hook_scout_over, over);
    return 0;
}

/* A thread's own stack is mostly its own, and others' accesses of it can wait for it. */
static bool is_on_stack(const struct rt_thread *self, uintptr_t address)
{
    return address >= self->stack_low && address < self->stack_high;
}

static uint16_t kin_of(const struct rt_access *a)
{
    return a->image->sites[a->site].kin;
}

/* What comes after a rare access is mostly as rare: of all that, some are enough for some time. */
static bool may_wait_again(struct rt_scout *mine)
{
    enum { MOST = 4 };
    uint16_t now = rt_scout_sites_now();
    if (mine->last_rare != now) {
        mine->last_rare = now;
        mine->rare_waits = 0;
    }
    return mine->rare_waits < MOST;
}

/* In a window a few accesses are made to wait. Between two, an access that is made now and then has
 * one opened for itself: it waits until the runtime's own thread has come to that, and longer. */
static void lie_in_ambush(struct rt_thread *self, const struct rt_access *a, bool is_rare,
                          uint32_t w)
{
    enum { LENGTH_US = 400, TO_OPEN_US = 1600 };
    if (!is_plain(a->kind) || !a->size || is_on_stack(self, a->address))
        return;
    struct rt_scout *mine = share_of(self);
    enum rt_scout_ambush why = rt_scout_sites_wants_ambush(a, is_rare && may_wait_again(mine));
    if (why == RT_AMBUSH_NO || (w ? !take_turn() : !ask_for_window(why, kin_of(a))))
        return;
    if (why == RT_AMBUSH_RARE)
        mine->rare_waits++;
    if (rt_ambush(self, a, w ? LENGTH_US : LENGTH_US + TO_OPEN_US) != RT_PAUSE_REFUSED)
        rt_scout_sites_ambushed(a);
}

void rt_scout_access(struct rt_thread *self, const struct rt_access *a)
{
    uint32_t w = open_now();
    struct rt_scout *mine = share_of(self);
    const struct rt_image *image = a->image->runtime;
    bool watched = false;
    if (is_ours(self, a)) {
        enum rt_scout_chance chance;
        watched = rt_scout_sites_visit(self, a, &chance);
        if (rt_likely(knows_bytes(a))) {
            rt_ambush_meet(self, a);
            if (rt_unlikely(chance != RT_CHANCE_NONE))
                lie_in_ambush(self, a, chance & RT_CHANCE_RARE, w);
        }
        w = open_now();
    }
    watched &= w != 0;
    if (rt_unlikely(!knows_bytes(a)))
        mine->call_window = watched ? w : 0;
    else if (watched && image->after_key[a->site] != RT_NO_KEY)
        watch_atomic(self, &mine->atomic, w, a, rt_clocks_use_epoch(self, &mine->clocks));
    else if (watched)
        watch(self, mine, w, a, rt_clocks_use_epoch(self, &mine->clocks));
    /* What an atomic gives away includes itself: so this comes after it was entered. */
    if (w && !is_plain(a->kind))
        rt_clocks_before(self, &mine->clocks, a);
}

void rt_scout_use(struct rt_thread *self, const struct rt_access *a)
{
    struct rt_scout *mine = share_of(self);
    uint32_t w = open_now();
    rt_ambush_meet(self, a);
    if (w && mine->call_window == w)
        watch(self, mine, w, a, rt_clocks_use_epoch(self, &mine->clocks));
    mine->call_window = 0;
}

void rt_scout_after(struct rt_thread *self, const struct rt_access *a)
{
    uint32_t w = atomic_load_explicit(&window, memory_order_acquire);
    struct rt_scout *mine = share_of(self);
    if (!w)
        return;
    rt_clocks_after(self, &mine->clocks, a);
    bool is_same = mine->atomic.site == a->site && mine->atomic.window == w;
    mine->atomic.window = 0;
    if (is_same && self->in_hook == 1 && a->kind != RH_ACCESS_FENCE)
        judge_atomic(self, mine, a);
}

void rt_scout_sync(struct rt_thread *self, enum rt_sync what, const volatile void *object)
{
    if (!open_now())
        return;
    rt_held_event(self, what, object);
    rt_clocks_sync(self, &share_of(self)->clocks, what, object);
}

/* --- memory that is given back --- */

/* An entry that stays busy cannot be cleared: then all are void. */
static void forget(uint32_t w, uintptr_t start, size_t size)
{
    bool is_forgotten = rt_recent_forget(w, start, size);
    if (!rt_spans_forget(start, size) || !is_forgotten)
        atomic_store(&window, 0);
}

void rt_scout_gone(struct rt_thread *self, const struct rt_access *a, uintptr_t start, size_t size)
{
    uint32_t w = atomic_load_explicit(&window, memory_order_acquire);
    if (a && self->in_hook == 1)
        rt_ambush_meet(self, a);
    if (!w)
        return;
    if (a && self->in_hook == 1)
        watch(self, share_of(self), w, a, 0);
    forget(w, start, size);
}

/* --- windows --- */

static void open_window(uint64_t slice_ns, enum rt_scout_width wanted)
{
    width = wanted;
    opened_ns = rt_sys_monotonic_ns();
    rt_held_forget();
    atomic_store(&rt_meter_events_are_scouts, true);
    rt_sync_need();
    atomic_fetch_add(&rt_memory_live, 1);
    atomic_store(&rt_hook_scout_window, ++serial);
    rt_scout_sites_open(width, (uint32_t)(slice_ns / NS_PER_STACK));
    rt_budget_slice(slice_ns);
    is_open = true;
    is_silent = false;
    atomic_store(&turns, AMBUSHES);
    atomic_store(&may_be_asked, false);
    atomic_fetch_add(&rt_shared()->scout.windows, 1);
    atomic_store(&window, serial);
}

static void close_window(void)
{
    atomic_store(&window, 0);
    is_open = false;
    rt_scout_sites_close();
    atomic_store(&rt_hook_scout_window, 0);
    atomic_fetch_sub(&rt_memory_live, 1);
    rt_sync_done();
    atomic_store(&rt_meter_events_are_scouts, false);
}

static uint64_t age(void)
{
    return (uint64_t)(rt_sys_monotonic_ns() - opened_ns);
}

/* `is_over`: its slice is. One that ends with something left could have been for more kin. */
static void end_window(bool is_over)
{
    if (width == RT_SCOUT_NARROW)
        rt_kin_lasted(is_over ? age() : UINT64_MAX);
    close_window();
}

/* The budget is spent: nothing is left on that a later window could be asked by. */
static void fall_silent(void)
{
    rt_scout_sites_silence();
    is_silent = true;
}

/* Half of what can be spared, so that something is left for the next window. */
static uint64_t next_slice(void)
{
    uint64_t slice = rt_budget_spare() / 2;
    return slice < MOST_SLICE_NS ? slice : MOST_SLICE_NS;
}

/* A window that was asked for is short: others will ask. */
static uint64_t slice_for_one(void)
{
    uint64_t slice = next_slice();
    return slice < REGULAR_SLICE_NS ? slice : REGULAR_SLICE_NS;
}

/* Whether a window costs more than it shows: its sites have been seen often enough, and following
 * synchronisation is nearly all that is left. */
static bool is_idle(void)
{
    enum { TIMES = 4 };
    static uint64_t hooks_before, syncs_before;
    uint64_t hooks = rt_budget_spent(RT_METER_HOOKS), syncs = rt_budget_spent(RT_METER_SYNCS);
    bool idle = syncs - syncs_before > TIMES * (hooks - hooks_before);
    hooks_before = hooks;
    syncs_before = syncs;
    return idle;
}

static bool may_open(uint64_t least_ns)
{
    return !atomic_load(&rt_budget_alarm) && next_slice() >= least_ns;
}

void rt_scout_creating(void)
{
    if (!rt_options.scout || atomic_exchange(&is_started, true))
        return;
    rt_lock(&lock);
    if (!is_open && may_open(LEAST_SLICE_NS))
        open_window(next_slice(), RT_SCOUT_WIDE);
    rt_unlock(&lock);
}

/* A new thread's stack may have been another's. Signals are still blocked in it. */
void rt_scout_thread_begin(struct rt_thread *self)
{
    rt_clocks_begin(self, &share_of(self)->clocks);
    uint32_t w = atomic_load(&window);
    if (self->adopted || !w) /* adopted: in a hook */
        return;
    if (self->stack_high > self->stack_low)
        forget(w, self->stack_low, self->stack_high - self->stack_low);
    rt_lock(&lock);
    if (is_open)
        rt_scout_sites_company();
    rt_unlock(&lock);
}

/* Who races with a rare access may be anybody, but is mostly of its kin: by turns, one and the
 * other. */
static void open_for_one(uint32_t asked)
{
    uint16_t kin = (uint16_t)(asked >> 16);
    bool is_narrow = kin && (serial % 2 || !may_open(REGULAR_SLICE_NS));
    if (is_narrow)
        rt_scout_sites_choose_kin(kin);
    open_window(slice_for_one(), is_narrow ? RT_SCOUT_NARROW : RT_SCOUT_WIDE);
}

/* Most windows are for some kin; the others find out which sites run, and who meets whom. */
static void open_regular(void)
{
    bool is_narrow = serial % 4 && rt_scout_sites_choose_kin(0);
    open_window(next_slice(), is_narrow ? RT_SCOUT_NARROW : RT_SCOUT_USUAL);
}

void rt_scout_tick(void)
{
    if (!atomic_load(&is_started))
        return;
    rt_scout_sites_tick();
    rt_lock(&lock);
    bool is_over = !atomic_load(&window) || atomic_load(&rt_budget_slice_over) ||
                   atomic_load(&rt_budget_alarm);
    if (atomic_exchange(&rt_scout_sites_worn, false))
        rt_scout_sites_retire();
    if (is_open && (is_over || is_idle() || age() > LONGEST_NS))
        end_window(is_over);
    else if (!is_open && !is_silent && atomic_load(&rt_budget_alarm))
        fall_silent();
    else if (!is_open && atomic_load(&asked_for))
        open_for_one(atomic_exchange(&asked_for, 0));
    else if (!is_open && may_open(REGULAR_SLICE_NS))
        open_regular();
    if (!is_open)
        atomic_store(&may_be_asked, may_open(LEAST_SLICE_NS));
    rt_unlock(&lock);
}

/* Its atomics have no keys on yet: the window ends, and the next one has them. */
void rt_scout_image(struct rt_image *image)
{
    atomic_store(&window, 0);
    rt_lock(&lock);
    rt_scout_sites_image(image);
    rt_unlock(&lock);
}

/* What was its variables may be anything, and its code any other's, before the next window. */
void rt_scout_image_gone(struct rt_image *image)
{
    (void)image;
    atomic_store(&window, 0);
}

/* Only the calling thread is left, and nobody holds the lock. */
void rt_scout_after_fork(void)
{
    atomic_store(&lock.word, 0);
    atomic_store(&window, 0);
    atomic_store(&rt_hook_scout_window, 0);
    rt_ambush_after_fork();
}

/* --- the start --- */

static struct rt_clocks *clocks_of(struct rt_thread *t)
{
    return &share_of(t)->clocks;
}

bool rt_scout_start(size_t offset)
{
    share_offset = offset;
    if (rt_options.scout)
        rt_budget_share();
    rt_clocks_of = clocks_of;
    return rt_clocks_start() && rt_recent_start() && rt_depot_start() && rt_kin_start();
}
