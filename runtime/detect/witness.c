/* Evidence: see witness.h. Runs in hooks: no lock, no libc. */
#include "witness.h"

#include "keys.h"
#include "opaque.h"
#include "shared.h"
#include "stack/images.h"
#include "stack/stack.h"
#include "text.h"

void rt_witness_take(const struct rt_thread *self, const struct rt_access *a, struct rt_witness *w)
{
    const struct rt_image *image = a->image->runtime;
    w->site = (struct rh_site_name){.image = image->number, .site = a->site};
    w->thread = self->id;
    w->parent = self->parent;
    w->address = a->address;
    w->size = a->size;
    w->frame_count = a->frame ? rt_stack_at_key(self, a->frame, w->frames, RH_MAX_FRAMES)
                              : rt_stack_here(self, w->frames, RH_MAX_FRAMES);
    w->lock_count = 0;
    for (uint32_t i = 0; i < self->held_count && w->lock_count < RH_MAX_LOCKS; i++)
        w->locks[w->lock_count++] = (uintptr_t)self->held[i].lock;
}

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

static void describe_block(uintptr_t address, struct rh_finding *race)
{
    struct owner owner = {.address = address};
    race->data = place_of_data(address);
    race->block = RH_BLOCK_GLOBAL;
    if (race->data.image != RH_NO_IMAGE)
        return;
    rt_thread_each(owns, &owner);
    race->block = owner.thread ? RH_BLOCK_STACK : RH_BLOCK_OTHER;
    race->block_thread = owner.thread;
}

/* --- findings --- */

/* Of each task, which orders and proofs are there already, as bits. */
static _Atomic uint8_t told[RH_MAX_TASKS];
_Static_assert(2 * RH_PROOF_COUNT <= 8, "a bit for each order and proof");

void rt_finding_forget(void)
{
    for (uint32_t i = 0; i < RH_MAX_TASKS; i++)
        atomic_store(&told[i], 0);
}

static uintptr_t meeting_point(const struct rt_finding *f)
{
    return f->first->address > f->second->address ? f->first->address : f->second->address;
}

static void keep(struct rh_shared *shared, const struct rt_finding *f)
{
    uint32_t at = atomic_fetch_add(&shared->finding_count, 1);
    if (at >= RH_MAX_FINDINGS)
        return;
    struct rh_finding *race = &shared->findings[at];
    race->task = f->task;
    race->order = f->order;
    race->proof = f->proof;
    race->opaque = rt_opaque_reasons();
    race->pause_us = f->pause_us;
    describe_block(meeting_point(f), race);
    describe_side(f->first, &race->sides[0]);
    describe_side(f->second, &race->sides[1]);
    atomic_store(&race->ready, 1);
}

bool rt_finding_report(const struct rt_finding *f)
{
    struct rh_shared *shared = rt_shared();
    if (rt_is_benign(f->first->address, f->first->size) ||
        rt_is_benign(f->second->address, f->second->size)) {
        atomic_fetch_add(&shared->benign, 1);
        return false;
    }
    uint8_t kind = (uint8_t)(1u << (f->order * RH_PROOF_COUNT + f->proof));
    if (!(atomic_fetch_or(&told[f->task], kind) & kind))
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
    if (side->site.image == RH_NO_IMAGE) {
        rt_line_text(&line, "code that is no site");
    } else {
        rt_line_text(&line, "site ");
        rt_line_number(&line, side->site.site);
    }
    rt_line_text(&line, side->thread ? " in thread " : " in a thread unknown");
    if (side->thread)
        rt_line_number(&line, side->thread);
    rt_line_text(&line, ", ");
    rt_line_number(&line, side->size);
    rt_line_text(&line, side->size == 1 ? " byte, at" : " bytes, at");
    rt_log_line(log, &line);
    for (uint32_t i = 0; i < side->frame_count; i++)
        log_place(log, shared, "    #", i, &side->frames[i]);
}

static void log_race(int log, const struct rh_shared *shared, const struct rh_finding *race,
                     const char *detector)
{
    struct rt_line line = {0};
    static const char *const proofs[RH_PROOF_COUNT] = {
        [RH_PROOF_UNORDERED] = "nothing orders the accesses",
        [RH_PROOF_COLLISION] = "two threads collided",
        [RH_PROOF_CHANGED] = "a value changed before a thread that was held",
        [RH_PROOF_WATCHED] = "a value was written before a thread that was held",
    };
    rt_line_text(&line, detector);
    bool proved = race->proof != RH_PROOF_UNORDERED || !race->opaque;
    rt_line_text(&line, proved ? ": true race, " : ": suspected race, ");
    rt_line_text(&line, proofs[race->proof]);
    rt_log_line(log, &line);
    log_side(log, shared, "  first ", &race->sides[0]);
    log_side(log, shared, "  then ", &race->sides[1]);
}

void rt_findings_log(const char *detector)
{
    const struct rh_shared *shared = rt_shared();
    uint32_t count = atomic_load(&shared->finding_count);
    if (rt_shared_is_read() || !count)
        return;
    int log = rt_log_open();
    for (uint32_t i = 0; i < count && i < RH_MAX_FINDINGS; i++)
        if (atomic_load(&shared->findings[i].ready))
            log_race(log, shared, &shared->findings[i], detector);
    rt_log_close(log);
}
