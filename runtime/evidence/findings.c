/* SPDX-License-Identifier: Apache-2.0 */
/* Findings: see findings.h. Reports come from hooks: no lock, no libc. */
#include "evidence/findings.h"

#include "budget.h"
#include "loss.h"
#include "opaque.h"
#include "options.h"
#include "shared.h"
#include "stack/images.h"
#include "stack/stack.h"
#include "sys.h"
#include "text.h"

#include <sys/auxv.h>

/* --- places --- */

static struct rh_place place_of(uintptr_t address, const struct rt_stack_image *image)
{
    if (image->name == RH_NO_IMAGE)
        return (struct rh_place){.image = RH_NO_IMAGE};
    return (struct rh_place){.image = (uint32_t)image->name, .offset = address - image->base};
}

static struct rh_place place_of_code(uintptr_t pc)
{
    struct rt_stack_image image;
    if (!rt_stack_image_at(pc - 1, &image))
        return (struct rh_place){.image = RH_NO_IMAGE};
    return place_of(pc, &image);
}

static struct rh_place place_of_data(uintptr_t address)
{
    struct rt_stack_image image;
    if (!rt_stack_image_around(address, &image))
        return (struct rh_place){.image = RH_NO_IMAGE};
    return place_of(address, &image);
}

/* Tells locks apart without telling where they are. */
static uint32_t tag_of(uintptr_t lock)
{
    return (uint32_t)(lock * 0x9e3779b97f4a7c15ull >> 33) | 1;
}

static void describe_side(const struct rt_witness *w, struct rh_finding_side *side)
{
    side->site = w->site;
    side->thread = w->thread;
    side->parent = w->parent;
    side->size = (uint32_t)w->size;
    side->frame_count = w->frame_count;
    side->lock_count = w->lock_count;
    for (uint32_t i = 0; i < w->frame_count; i++)
        side->frames[i] = place_of_code(w->frames[i]);
    for (uint32_t i = 0; i < w->lock_count; i++) {
        side->locks[i] = place_of_data(w->locks[i]);
        side->locks[i].tag = tag_of(w->locks[i]);
    }
}

struct owner {
    uintptr_t address;
    uint32_t thread;
};

static bool owns(struct rt_thread *t, void *arg)
{
    struct owner *owner = arg;
    if (owner->address >= t->stack_low && owner->address < t->stack_high)
        owner->thread = t->id;
    return !owner->thread;
}

static void describe_block(uintptr_t address, struct rh_finding *finding)
{
    struct owner owner = {.address = address};
    finding->data = place_of_data(address);
    finding->block = RH_BLOCK_GLOBAL;
    if (finding->data.image != RH_NO_IMAGE)
        return;
    rt_thread_each(owns, &owner);
    finding->block = owner.thread ? RH_BLOCK_STACK : RH_BLOCK_OTHER;
    finding->block_thread = owner.thread;
}

/* --- findings --- */

/* One entry for each finding that was told, by its hash; 0 is free. Twice as many as can be kept,
 * so that those which are not kept are counted once each, too. */
enum { TOLD_BITS = 13, TOLD = 1 << TOLD_BITS, PROBES = 64 };
_Static_assert(TOLD >= 2 * RH_MAX_FINDINGS, "at most half of the table is for what is kept");
static _Atomic uint64_t told[TOLD];

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 29;
}

/* By the sites in the order in which they came, the proof, and whether the first stack is known:
 * one with it may follow one without. That two differ and hash alike is one chance in 2^64 for each
 * pair of findings. */
static uint64_t hash_of(const struct rt_finding *f)
{
    const struct rh_site_name *first = &f->first->site, *second = &f->second->site;
    uint64_t kind = f->proof + 1 + (f->first->frame_count ? RH_PROOF_COUNT : 0);
    uint64_t hash = mix(kind, (uint64_t)first->image << 32 | first->site);
    hash = mix(hash, (uint64_t)second->image << 32 | second->site);
    return hash ? hash : 1;
}

/* True for the first that tells of it; also if there is no room to remember that. */
static bool is_news(uint64_t hash)
{
    for (uint32_t i = 0; i < PROBES; i++) {
        _Atomic uint64_t *entry = &told[((hash >> (64 - TOLD_BITS)) + i) % TOLD];
        uint64_t found = atomic_load_explicit(entry, memory_order_relaxed);
        if (!found && atomic_compare_exchange_strong(entry, &found, hash))
            return true;
        if (found == hash)
            return false;
    }
    return true;
}

static uintptr_t meeting_point(const struct rt_finding *f)
{
    return f->first->address > f->second->address ? f->first->address : f->second->address;
}

/* A slot for one more finding, or NULL. */
static struct rh_finding *take_slot(struct rh_shared *shared)
{
    uint32_t at = atomic_load(&shared->finding_count);
    do {
        if (at >= RH_MAX_FINDINGS)
            return NULL;
    } while (!atomic_compare_exchange_weak(&shared->finding_count, &at, at + 1));
    struct rh_finding *slot = &shared->findings[at];
    return rt_sys_make_present(slot, sizeof *slot) ? slot : NULL;
}

static void keep(struct rh_shared *shared, const struct rt_finding *f)
{
    struct rh_finding *finding = take_slot(shared);
    if (!finding) {
        rt_lose(RH_LOSS_FINDING);
        return;
    }
    finding->proof = f->proof;
    finding->opaque = rt_opaque_reasons();
    finding->pause_us = f->pause_us;
    describe_block(meeting_point(f), finding);
    describe_side(f->first, &finding->sides[0]);
    describe_side(f->second, &finding->sides[1]);
    atomic_store(&finding->ready, 1);
}

bool rt_finding_report(const struct rt_finding *f)
{
    struct rh_shared *shared = rt_shared();
    if (rt_is_benign(f->first->address, f->first->size) ||
        rt_is_benign(f->second->address, f->second->size)) {
        atomic_fetch_add(&shared->benign, 1);
        return false;
    }
    if (is_news(hash_of(f)))
        keep(shared, f);
    return true;
}

/* --- the log --- */

static void log_place(int log, const struct rh_shared *shared, const char *what, uint32_t number,
                      const struct rh_place *place)
{
    struct rt_line line = {0};
    rt_line_text(&line, what);
    rt_line_number(&line, number);
    rt_line_text(&line, " ");
    const char *path = place->image == RH_NO_IMAGE ? "?" : shared->images[place->image].path;
    rt_line_text(&line, *path ? path : "the program");
    rt_line_text(&line, " + 0x");
    rt_line_hex(&line, place->offset);
    rt_log_line(log, &line);
}

static void log_side(int log, const struct rh_shared *shared, const char *which,
                     const struct rh_finding_side *side)
{
    struct rt_line line = {0};
    rt_line_text(&line, which);
    if (rh_side_is_uninstrumented(side)) {
        rt_line_text(&line, "uninstrumented code");
    } else {
        rt_line_text(&line, "site ");
        rt_line_number(&line, side->site.site);
    }
    rt_line_text(&line, side->thread ? " in thread " : " in an unknown thread");
    if (side->thread)
        rt_line_number(&line, side->thread);
    rt_line_text(&line, ", ");
    rt_line_number(&line, side->size);
    rt_line_text(&line, side->size == 1 ? " byte, at" : " bytes, at");
    rt_log_line(log, &line);
    for (uint32_t i = 0; i < side->frame_count; i++)
        log_place(log, shared, "    #", i, &side->frames[i]);
}

static void log_finding(int log, const struct rh_shared *shared, const struct rh_finding *finding,
                        const char *detector)
{
    struct rt_line line = {0};
    static const char *const proofs[RH_PROOF_COUNT] = {
        [RH_PROOF_UNORDERED] = "nothing orders the accesses",
        [RH_PROOF_COLLISION] = "two threads collided",
        [RH_PROOF_CHANGED] = "a value changed while a thread was paused before its access",
        [RH_PROOF_WATCHPOINT] = "a value was written while a thread was paused before its access",
    };
    rt_line_text(&line, detector);
    bool proved = finding->proof != RH_PROOF_UNORDERED || !finding->opaque;
    rt_line_text(&line, proved ? ": true race, " : ": suspected race, ");
    rt_line_text(&line, proofs[finding->proof]);
    rt_log_line(log, &line);
    log_side(log, shared, "  first ", &finding->sides[0]);
    log_side(log, shared, "  then ", &finding->sides[1]);
}

static void log_losses(int log)
{
    for (enum rh_loss i = 0; i < RH_LOSS_COUNT; i++) {
        uint64_t count = atomic_load(&rt_losses[i]);
        struct rt_line line = {0};
        if (!count)
            continue;
        rt_line_text(&line, rt_loss_words(i));
        rt_line_text(&line, ": ");
        rt_line_number(&line, count);
        rt_log_line(log, &line);
    }
}

/* For whoever tunes: what the scout did, and what was spent on what, in microseconds. */
static void log_work(int log, const struct rh_scout *scout)
{
    const struct {
        const char *name;
        uint64_t value;
    } rows[] = {
        {"windows of the scout: ", atomic_load(&scout->windows)},
        {", ambushes: ", atomic_load(&scout->ambushes)},
        {", collisions: ", atomic_load(&scout->collisions)},
        {", microseconds in hooks: ", rt_budget_spent(RT_METER_HOOKS) / 1000},
        {", for synchronisation: ", rt_budget_spent(RT_METER_SYNCS) / 1000},
        {", for switching keys: ", rt_budget_spent(RT_METER_KEYS) / 1000},
        {", for tasks: ", rt_budget_spent(RT_METER_TASKS) / 1000},
        {", paused: ", rt_budget_paused() / 1000},
    };
    struct rt_line line = {0};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        rt_line_text(&line, rows[i].name);
        rt_line_number(&line, rows[i].value);
    }
    rt_log_line(log, &line);
}

static bool has_losses(void)
{
    for (int i = 0; i < RH_LOSS_COUNT; i++)
        if (atomic_load(&rt_losses[i]))
            return true;
    return false;
}

/* So that `racehive symbolize` finds it. */
static void log_program(int log)
{
    struct rt_line line = {0};
    const char *path = (const char *)getauxval(AT_EXECFN);
    if (!path)
        return;
    rt_line_text(&line, "the program is ");
    rt_line_text(&line, path);
    rt_log_line(log, &line);
}

void rt_findings_log(const char *detector)
{
    const struct rh_shared *shared = rt_shared();
    uint32_t count = shared ? atomic_load(&shared->finding_count) : 0;
    if (rt_shared_is_read() || (!count && !has_losses() && !rt_options.verbose))
        return;
    int log = rt_log_open();
    if (count)
        log_program(log);
    for (uint32_t i = 0; i < count; i++)
        if (atomic_load(&shared->findings[i].ready))
            log_finding(log, shared, &shared->findings[i], detector);
    log_losses(log);
    if (shared && rt_options.verbose)
        log_work(log, &shared->scout);
    rt_log_close(log);
}
