/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The detector `fasttrack`: every race of the order in which a run's accesses happened. All sites
 * are watched all the time, and all synchronisation is followed with vector clocks; what is known
 * of the program's memory is in shadow memory, by byte (fasttrack/track.h). For tests: it has no
 * budget.
 *
 * What is not seen makes a race missed and none made up: signal handlers that interrupt a hook,
 * more than 64 threads at once (their clocks are shared), memory beyond shadow_mb.
 */
#include "detect.h"
#include "evidence/findings.h"
#include "fasttrack/check.h"
#include "fasttrack/origins.h"
#include "fasttrack/quick.h"
#include "fasttrack/told.h"
#include "fasttrack/track.h"
#include "hook.h"
#include "judge.h"
#include "keys.h"
#include "loss.h"
#include "options.h"
#include "scout/recent.h"
#include "shared.h"
#include "state.h"

enum { FIRST_PAGE = 4096, MOST_MET = 32 };

/* An atomic that may acquire, between its two hooks, and what it met: judged when it has acquired.
 */
struct atomic {
    bool is_open;
    uint32_t site, count;
    uint64_t cell;
    struct {
        uintptr_t granule;
        uint64_t earlier;
    } met[MOST_MET];
};

/* Of a thread. */
struct tracked {
    struct rt_state common; /* its clocks are the scout's, which does not run */
    struct atomic atomic;
    bool has_begun;
};

static struct tracked *state_of(const struct rt_thread *t)
{
    return t->detector;
}

static struct rt_clocks *clocks_of(struct rt_thread *t)
{
    return &state_of(t)->common.scout.clocks;
}

/* --- races --- */

static void report(struct rt_thread *self, const struct rt_access *a, uintptr_t granule,
                   uint64_t earlier)
{
    struct rt_witness first, second;
    if (rt_told_add(earlier, a->image, a->site))
        return;
    if (!rt_origin_recall(rt_cell_slot(earlier), rt_cell_epoch(earlier), rt_cell_origin(earlier),
                          &first)) {
        rt_lose(RH_LOSS_ORIGIN);
        return;
    }
    first.address = granule + (uint32_t)__builtin_ctz(rt_cell_bytes(earlier));
    first.size = (uint32_t)__builtin_popcount(rt_cell_bytes(earlier));
    rt_witness_take(self, a, &second);
    rt_finding_report(
        &(struct rt_finding){.proof = RH_PROOF_UNORDERED, .first = &first, .second = &second});
}

static void report_all(struct rt_thread *self, const struct rt_access *a, uintptr_t granule,
                       const struct rt_shadow_cells *unordered)
{
    for (uint32_t i = 0; i < unordered->count; i++)
        report(self, a, granule, unordered->at[i]);
}

/* --- accesses --- */

static bool is_plain(uint8_t kind)
{
    return kind == RH_ACCESS_READ || kind == RH_ACCESS_WRITE;
}

static bool is_write(uint8_t kind)
{
    return kind != RH_ACCESS_READ && kind != RH_ACCESS_ATOMIC_READ;
}

/* Of a masked access nobody knows which bytes it touches. */
static bool is_watched(const struct rt_thread *self, const struct rt_access *a)
{
    return !a->ignored && self->in_hook == 1 && a->address >= FIRST_PAGE &&
           !(a->flags & RH_SITE_PARTIAL) && a->kind != RH_ACCESS_FENCE && a->size;
}

static uint16_t origin_of(const struct rt_thread *self, uint32_t slot, const struct rt_access *a,
                          uint64_t locks)
{
    if (!a->frame)
        return rt_origin_of(self, slot, a, locks);
    uint64_t context = rt_quick_context(rt_arch_stack(a->frame), locks);
    return a->image->keys[a->frame->key].site_count == 1 ? rt_origin_at_key(self, slot, a, context)
                                                         : rt_origin_of(self, slot, a, context);
}

/* The access as a cell of no bytes; 0 if its thread has no more epochs. */
static uint64_t describe(struct rt_thread *self, const struct rt_access *a)
{
    struct tracked *mine = state_of(self);
    uint32_t slot = rt_clocks_slot(self);
    uint32_t epoch = rt_clocks_use_epoch(self, clocks_of(self));
    if (rt_unlikely(!epoch))
        return 0;
    if (rt_unlikely(!mine->has_begun)) {
        rt_origins_begin(self, slot, epoch);
        mine->has_begun = true;
    }
    uint64_t epoch_word = rt_cell_epoch_word(slot, epoch), locks = rt_quick_locks(self);
    rt_quick_ready(self, clocks_of(self), epoch_word);
    return rt_cell_make(epoch_word, 0, is_write(a->kind), !is_plain(a->kind),
                        origin_of(self, slot, a, locks));
}

static uint64_t with_bytes(uint64_t cell, uint8_t bytes)
{
    return cell & ~((uint64_t)bytes << RT_CELL_BYTES_AT);
}

/* Whether this thread has made an access in the same epoch that conflicts with all that this one
 * conflicts with. If others came since, they are looked at again. */
static bool is_covered(const struct rt_shadow_granule *granule, uint64_t cell)
{
    uint64_t first = atomic_load_explicit(&granule->first, memory_order_relaxed);
    uint64_t needs =
        rt_cell_needs(rt_cell_bytes(cell), rt_cell_is_write(cell), rt_cell_is_atomic(cell));
    if (rt_cell_covers(first, cell, needs))
        return true;
    return rt_cell_epoch(first) && !rt_cell_conflicts(first, cell) &&
           rt_shadow_covers(granule, cell, needs);
}

static void enter(struct rt_thread *self, uintptr_t at, uint64_t cell,
                  struct rt_shadow_cells *unordered)
{
    struct rt_shadow_granule *granule = rt_shadow_at(at, true);
    unordered->count = 0;
    if (rt_likely(granule) && !is_covered(granule, cell) &&
        !rt_track_quickly(clocks_of(self), granule, cell))
        rt_track_enter(clocks_of(self), granule, cell, unordered);
}

/* The bytes of an access from `from` to before `end`. */
static void watch_bytes(struct rt_thread *self, const struct rt_access *a, uintptr_t from,
                        uintptr_t end, uint64_t cell)
{
    struct rt_shadow_cells unordered;
    for (uintptr_t at = from & -(uintptr_t)RT_GRANULE; at < end; at += RT_GRANULE) {
        enter(self, at, with_bytes(cell, rt_recent_bytes(at, from, end)), &unordered);
        if (rt_unlikely(unordered.count))
            report_all(self, a, at, &unordered);
    }
}

static void watch_sweep(struct rt_thread *self, const struct rt_access *a, uint64_t cell)
{
    uint64_t shape = a->frame->size;
    uint64_t stride = shape >> RH_CHECK_SHAPE_STRIDE_AT & RH_CHECK_SHAPE_STRIDE;
    uintptr_t end = a->address + (shape >> RH_CHECK_SHAPE_COUNT_AT) * stride;
    struct rt_access one = *a;
    while (!rt_quick_sweep(clocks_of(self), &one.address, end, stride, one.size, cell)) {
        watch_bytes(self, &one, one.address, one.address + one.size, cell);
        one.address += stride;
    }
}

static void watch_whole(struct rt_thread *self, const struct rt_access *a, uint64_t cell)
{
    uintptr_t end = a->address + a->size, high = end & -(uintptr_t)RT_GRANULE;
    uintptr_t at = (a->address + RT_GRANULE - 1) & -(uintptr_t)RT_GRANULE;
    if (at >= high) {
        watch_bytes(self, a, a->address, end, cell);
        return;
    }
    watch_bytes(self, a, a->address, at, cell);
    while (!rt_quick_sweep(clocks_of(self), &at, high, RT_GRANULE, RT_GRANULE, cell)) {
        watch_bytes(self, a, at, at + RT_GRANULE, cell);
        at += RT_GRANULE;
    }
    watch_bytes(self, a, high, end, cell);
}

/* What a check's stub has for a size is more than that. */
static bool is_sweep(const struct rt_access *a)
{
    return a->frame && !(a->flags & RH_SITE_SIZED) && a->frame->size & RH_CHECK_SHAPE_SWEEP;
}

static void watch(struct rt_thread *self, const struct rt_access *a)
{
    uint64_t cell = describe(self, a);
    if (cell && is_sweep(a))
        watch_sweep(self, a, cell);
    else if (cell)
        watch_whole(self, a, cell);
}

/* --- atomics that may acquire --- */

static bool comes_back(const struct rt_access *a)
{
    const struct rt_image *image = a->image->runtime;
    return image->after_key[a->site] != RT_NO_KEY;
}

static void note_met(struct atomic *atomic, uintptr_t granule,
                     const struct rt_shadow_cells *unordered)
{
    for (uint32_t i = 0; i < unordered->count && atomic->count < MOST_MET; i++) {
        atomic->met[atomic->count].granule = granule;
        atomic->met[atomic->count++].earlier = unordered->at[i];
    }
}

/* It is entered before it happens: whoever it releases to must find it there. */
static void watch_atomic(struct rt_thread *self, const struct rt_access *a)
{
    struct rt_shadow_cells unordered;
    struct atomic *atomic = &state_of(self)->atomic;
    uint64_t cell = describe(self, a);
    uintptr_t end = a->address + a->size;
    atomic->is_open = cell != 0;
    atomic->site = a->site;
    atomic->count = 0;
    for (uintptr_t at = a->address & -(uintptr_t)RT_GRANULE; cell && at < end; at += RT_GRANULE) {
        enter(self, at, with_bytes(cell, rt_recent_bytes(at, a->address, end)), &unordered);
        note_met(atomic, at, &unordered);
    }
}

static void judge_atomic(struct rt_thread *self, const struct rt_access *a)
{
    struct atomic *atomic = &state_of(self)->atomic;
    for (uint32_t i = 0; i < atomic->count; i++) {
        uint64_t earlier = atomic->met[i].earlier;
        if (!rt_clocks_knows(clocks_of(self), rt_cell_slot(earlier), rt_cell_epoch(earlier)))
            report(self, a, atomic->met[i].granule, earlier);
    }
}

/* --- callbacks --- */

static void fasttrack_access(struct rt_thread *self, const struct rt_access *a)
{
    rt_judge_open(self, a);
    if (is_watched(self, a)) {
        if (!is_plain(a->kind) && comes_back(a))
            watch_atomic(self, a);
        else
            watch(self, a);
    }
    /* What an atomic gives away includes itself: so this comes after it was entered. */
    if (!is_plain(a->kind)) {
        rt_clocks_before(self, clocks_of(self), a);
        rt_quick_sync(self);
    }
    rt_shadow_check_limit();
}

/* A signal handler may have entered another atomic meanwhile: then this one is not judged. */
static void fasttrack_after(struct rt_thread *self, const struct rt_access *a)
{
    struct atomic *atomic = &state_of(self)->atomic;
    rt_clocks_after(self, clocks_of(self), a);
    rt_quick_sync(self);
    bool is_same = atomic->is_open && atomic->site == a->site;
    atomic->is_open = false;
    if (is_same && self->in_hook == 1 && a->kind != RH_ACCESS_FENCE)
        judge_atomic(self, a);
}

static void fasttrack_sync(struct rt_thread *self, enum rt_sync what, const volatile void *object)
{
    rt_clocks_sync(self, clocks_of(self), what, object);
    rt_quick_sync(self);
    if (what == RT_SYNC_THREAD_END)
        rt_quick_end();
}

/* To give a block back is to write to all of it. */
static void compare_block(struct rt_thread *self, const struct rt_access *a)
{
    struct rt_shadow_cells unordered;
    uint64_t cell = rt_cell_make(rt_cell_epoch_word(rt_clocks_slot(self), 1), 0xff, true, false, 0);
    uintptr_t end = a->address + a->size;
    for (uintptr_t at = a->address & -(uintptr_t)RT_GRANULE; at < end; at += RT_GRANULE) {
        if (at % FIRST_PAGE == 0 || at <= a->address)
            while (at < end && !rt_shadow_is_touched(at))
                at = rt_shadow_page_end(at);
        struct rt_shadow_granule *granule = at < end ? rt_shadow_at(at, false) : NULL;
        if (!granule)
            continue;
        rt_track_compare(clocks_of(self), granule, cell, &unordered);
        report_all(self, a, at, &unordered);
    }
}

/* Of an object that is used its first bytes stand for all: who makes or destroys it writes those,
 * too. */
static uint64_t size_of_use(const struct rt_use *use)
{
    bool is_buffer = use->what == RT_SYNC_KERNEL_SEND || use->what == RT_SYNC_KERNEL_RECEIVE;
    return is_buffer || use->is_write || use->size < RT_GRANULE ? use->size : RT_GRANULE;
}

/* A call has come to touch the memory that its site told of. */
static void fasttrack_use(struct rt_thread *self, const struct rt_use *use)
{
    struct rt_access a;
    if (self->in_hook != 1 || !rt_judge_close_use(self, use, &a))
        return;
    a.size = size_of_use(use);
    watch(self, &a);
}

static void fasttrack_gone(struct rt_thread *self, uintptr_t start, size_t size)
{
    struct rt_access a;
    if (self->in_hook == 1 && rt_judge_close(self, start, size, &a))
        compare_block(self, &a);
    rt_shadow_forget(start, size);
}

/* A new thread's stack may have been another's, and its own variables are there, too. */
static void fasttrack_thread_begin(struct rt_thread *self)
{
    rt_clocks_begin(self, clocks_of(self));
    if (self->slot >= RT_CLOCK_SLOTS)
        rt_lose(RH_LOSS_SHARED_CLOCK);
    if (!self->adopted && self->stack_high > self->stack_low)
        rt_shadow_forget(self->stack_low, self->stack_high - self->stack_low);
}

/* What happened before is before all that the child does. */
static void fasttrack_after_fork(struct rt_thread *self)
{
    state_of(self)->atomic.is_open = false;
    rt_quick_end();
    rt_shadow_after_fork();
}

static bool fasttrack_start(void)
{
    enum { MEGABYTE_BITS = 20 };
    rt_clocks_of = clocks_of;
    atomic_fetch_add(&rt_memory_live, 1);
    return rt_shared() && rt_clocks_start_exact() &&
           rt_shadow_start(rt_options.shadow_mb << MEGABYTE_BITS) && rt_keys_all(true);
}

/* What was found is in the shared memory of the run. */
static void fasttrack_finish(void)
{
}

const struct rt_detector rt_detector_fasttrack = {
    .thread_size = sizeof(struct tracked),
    .start = fasttrack_start,
    .hook = rt_hook,
    .check = rt_quick_check,
    .access = fasttrack_access,
    .after = fasttrack_after,
    .fresh_slots = RT_CLOCK_SLOTS,
    .wants_syncs = true,
    .sync = fasttrack_sync,
    .use = fasttrack_use,
    .gone = fasttrack_gone,
    .thread_begin = fasttrack_thread_begin,
    .after_fork = fasttrack_after_fork,
    .finish = fasttrack_finish,
};
