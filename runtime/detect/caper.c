/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The detector `caper`: which candidates may race at all? It follows which memory several threads
 * can reach (escape/escape.h), and notes each site of a candidate that touches such memory. A pair
 * of sites can only have raced in this run if both did. After Biswas, Cao, Zhang, Bond and Wood,
 * "Lightweight Data Race Detection for Production Runs" (CC 2017). It finds no races itself and has
 * no budget, because a site that is left out would be one that is missed.
 *
 * How it works: keys of pointer stores are on from before the program's first instruction. Sites
 * are on too, but for those that earlier runs have seen to touch escaped memory. One that does is
 * noted once, and the runtime's own thread switches it off for good. So what remains on are the
 * sites that have touched private memory alone.
 */
#include "budget.h"
#include "detect.h"
#include "escape/escape.h"
#include "escape/heap.h"
#include "hook.h"
#include "keys.h"
#include "loss.h"
#include "options.h"
#include "shared.h"
#include "text.h"

static _Atomic bool has_news; /* sites were noted that are still on */

/* Of a thread. */
enum { RECENT = 64 };
struct caper {
    struct rt_escape escape;
    uint64_t recent[RECENT]; /* early visits that it has noted */
};

static struct caper *caper_of(const struct rt_thread *self)
{
    return self->detector;
}

static struct rt_escape *escape_of(const struct rt_thread *self)
{
    return &caper_of(self)->escape;
}

/* What the run tells of a site; NULL if there is no room for it. */
static _Atomic uint8_t *ran_of(const struct rt_image *image, uint32_t site)
{
    uint64_t at = (uint64_t)rt_shared()->keyed[image->number].first_site + site;
    return at < RH_SCOUT_SITES ? &rt_shared()->scout.ran[at] : NULL;
}

static bool is_known(const struct rt_image *image, uint32_t site)
{
    uint64_t at = (uint64_t)rt_shared()->keyed[image->number].first_site + site;
    return at < RH_SCOUT_SITES && rt_shared()->scout.wishes[at] == RH_SCOUT_KNOWN;
}

/* --- sites --- */

static void note_site(const struct rt_image *image, uint32_t site, uint8_t ran)
{
    _Atomic uint8_t *known = ran_of(image, site);
    if (!known) {
        rt_lose(RH_LOSS_ESCAPE_SITE);
        return;
    }
    if (atomic_load_explicit(known, memory_order_relaxed) >= ran)
        return;
    atomic_store_explicit(known, ran, memory_order_relaxed);
    if (ran == RH_RAN_ESCAPED && !atomic_load_explicit(&has_news, memory_order_relaxed))
        atomic_store(&has_news, true);
}

/* --- early visits: of sites to private blocks, by origin --- */

/* What a site did to a block while that was private may race if a racy store makes it reachable
 * later. So each pair of a site and an origin is kept. */
enum { EARLY_BITS = 16, EARLY = 1 << EARLY_BITS, PROBES = 64 };
static _Atomic uint64_t early[EARLY];
static uint32_t judged; /* origins that were racy when all were looked at last */

static uint64_t early_word(uint32_t site, uint16_t origin)
{
    return 1ull << 63 | (uint64_t)site << 16 | origin;
}

static uint32_t early_site(uint64_t word)
{
    return (uint32_t)(word >> 16);
}

static bool keep_early(uint64_t word)
{
    uint32_t at = (uint32_t)(word * 0x9e3779b97f4a7c15ull >> (64 - EARLY_BITS));
    for (uint32_t i = 0; i < PROBES; i++, at = (at + 1) % EARLY) {
        uint64_t there = atomic_load_explicit(&early[at], memory_order_relaxed);
        if (there == word ||
            (!there && (atomic_compare_exchange_strong(&early[at], &there, word) || there == word)))
            return true;
    }
    return false;
}

/* A visit that finds no room counts as one to escaped memory. */
static bool is_late(struct caper *own, uint32_t site, uint16_t origin)
{
    uint64_t word = early_word(site, origin);
    uint64_t *recent = &own->recent[(site ^ origin) % RECENT];
    if (rt_escape_is_racy(origin))
        return true;
    if (*recent == word)
        return false;
    *recent = word;
    return !keep_early(word);
}

/* Of the origins that have become racy since. */
static void judge_early(void)
{
    uint32_t count = rt_escape_racy_count();
    if (judged == count)
        return;
    judged = count;
    for (uint32_t i = 0; i < EARLY; i++) {
        uint64_t word = atomic_load_explicit(&early[i], memory_order_relaxed);
        if (!word || !rt_escape_is_racy((uint16_t)word))
            continue;
        struct rh_site_name name = rh_site_name_of(early_site(word));
        const struct rt_image *image = rt_image_at(name.image);
        if (image)
            note_site(image, name.site, RH_RAN_ESCAPED);
    }
}

/* --- visits --- */

/* Fences touch nothing, nor does a call that is told to touch no bytes. */
static bool touches(const struct rh_site_record *site, const struct rh_hook_frame *frame)
{
    return site->access != RH_ACCESS_FENCE && (!(site->flags & RH_SITE_SIZED) || frame->size);
}

static void visit(struct rt_thread *self, const struct rh_image *image,
                  const struct rh_key_record *key, const struct rh_hook_frame *frame)
{
    const struct rt_image *r = image->runtime;
    for (uint32_t s = key->first_site; s < key->first_site + key->site_count; s++) {
        const struct rh_site_record *site = &image->sites[s];
        uint16_t origin;
        if (!touches(site, frame))
            continue;
        uintptr_t address = frame->address + (uintptr_t)(intptr_t)site->offset;
        bool escaped = rt_escape_ask(self, escape_of(self), address, &origin) ||
                       is_late(caper_of(self), rh_site_word(r->number, s), origin);
        note_site(r, s, escaped ? RH_RAN_ESCAPED : RH_RAN_ONE_THREAD);
    }
}

/* --- stores --- */

/* Never RT_ESCAPE_STACK; several may share one. */
static uint16_t origin_of(const struct rh_image *image, const struct rh_hook_frame *frame)
{
    const struct rt_image *r = image->runtime;
    return (uint16_t)(1 + (frame->key + r->number * 7919ull) % UINT16_MAX);
}

static void follow(struct rt_thread *self, const struct rh_image *image,
                   const struct rh_key_record *key, const struct rh_hook_frame *frame)
{
    struct rt_escape *own = escape_of(self);
    uint8_t event = key->escape & (uint8_t)~RH_ESCAPE_RACY;
    own->sp = rt_arch_stack(frame);
    own->is_racy = key->escape & RH_ESCAPE_RACY;
    switch ((enum rh_escape_event)event) {
    case RH_ESCAPE_STORE:
        rt_escape_store(self, own, frame->address, frame->size);
        break;
    case RH_ESCAPE_LENGTH:
        own->length = frame->size;
        break;
    case RH_ESCAPE_COPY:
        rt_escape_copy(self, own, frame->address, frame->size,
                       key->first_site ? key->first_site : own->length);
        break;
    case RH_ESCAPE_WORD:
        rt_escape_word(self, own, frame->address);
        break;
    case RH_ESCAPE_ALLOC:
    case RH_ESCAPE_REALLOC:
        rt_escape_alloc(self, own, frame->address, frame->size, origin_of(image, frame),
                        event == RH_ESCAPE_REALLOC);
        break;
    case RH_ESCAPE_EVENTS:
        break;
    }
}

static void caper_hook(struct rh_image *image, struct rh_hook_frame *frame)
{
    const struct rh_key_record *key = &image->keys[frame->key];
    struct rt_thread *self = rt_thread_self();
    if (rt_unlikely(!self)) {
        rt_lose(RH_LOSS_HOOK_NO_THREAD);
        return;
    }
    self->in_hook++;
    atomic_signal_fence(memory_order_seq_cst);
    uint64_t began = rt_meter_begin(self);
    if (key->kind == RH_KEY_ESCAPE)
        follow(self, image, key, frame);
    else if (key->kind == RH_KEY_ACCESS)
        visit(self, image, key, frame);
    rt_meter_end(self, RT_METER_HOOKS, began);
    atomic_signal_fence(memory_order_seq_cst);
    self->in_hook--;
}

/* --- switching off --- */

static void retire(struct rt_image *image)
{
    enum { BATCH = 256 };
    uint32_t sites[BATCH], count = 0;
    for (uint32_t s = 0; image->site_armed && s < image->site_count; s++) {
        const _Atomic uint8_t *ran = ran_of(image, s);
        if (!ran)
            break;
        if (!image->site_armed[s] ||
            atomic_load_explicit(ran, memory_order_relaxed) != RH_RAN_ESCAPED)
            continue;
        sites[count++] = s;
        if (count == BATCH) {
            rt_keys_sites(image, sites, count, RT_KEYS_ALL, false);
            count = 0;
        }
    }
    if (count)
        rt_keys_sites(image, sites, count, RT_KEYS_ALL, false);
}

static void tell_time(void)
{
    atomic_store(&rt_shared()->hook_ns, rt_budget_spent(RT_METER_HOOKS) +
                                            rt_budget_spent(RT_METER_SYNCS) +
                                            rt_budget_spent(RT_METER_KEYS));
}

static void caper_tick(void)
{
    judge_early();
    tell_time();
    if (!atomic_exchange(&has_news, false))
        return;
    uint32_t count = rt_image_count();
    for (uint32_t i = 0; i < count; i++) {
        struct rt_image *image = rt_image_at(i);
        if (image && image->image)
            retire(image);
    }
}

/* --- the process --- */

static bool caper_start(void)
{
    if (!rt_shared() || !rt_escape_start())
        return false;
    if (!rt_control())
        rt_shared_control_self();
    atomic_fetch_add(&rt_memory_live, 1);
    return rt_keys_all(true);
}

static void caper_access(struct rt_thread *self, const struct rt_access *a)
{
    (void)self;
    (void)a; /* its hook takes them all */
}

/* Not in a hook: from the wrapper of a function that gives memory back. */
static void caper_gone(struct rt_thread *self, uintptr_t start, size_t size)
{
    rt_escape_gone(escape_of(self), start, size);
}

static void caper_thread_begin(struct rt_thread *self)
{
    rt_escape_begin(escape_of(self));
}

static void caper_thread_end(struct rt_thread *gone)
{
    rt_escape_end(escape_of(gone));
}

/* What was found is in the shared memory of the run. */
static void caper_finish(void)
{
    judge_early();
    tell_time();
    if (!rt_options.verbose)
        return;
    struct rt_line line = {0};
    rt_line_text(&line, "kilobytes of memory for blocks: ");
    rt_line_number(&line, rt_heap_memory() / 1024);
    rt_line_text(&line, ", places that allocate what racy stores publish: ");
    rt_line_number(&line, rt_escape_racy_count());
    rt_log(&line);
}

static void caper_after_fork(struct rt_thread *self)
{
    (void)self;
}

const struct rt_detector rt_detector_caper = {
    .thread_size = sizeof(struct caper),
    .start = caper_start,
    .access = caper_access,
    .after = caper_access,
    .hook = caper_hook,
    .gone = caper_gone,
    .thread_begin = caper_thread_begin,
    .thread_end = caper_thread_end,
    .after_fork = caper_after_fork,
    .finish = caper_finish,
    .tick = caper_tick,
    .is_known = is_known,
    .wants_stores = true,
};
