/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FastTrack against plain vector clocks, on random executions (scout/trace_testing.h) with sweeps:
 * what it calls a race must be one, and each access that races with an earlier one must be found to
 * race, by byte.
 */
#include "fasttrack/track.h"

#include "fasttrack/blocks.h"
#include "fasttrack/origins_testing.h"
#include "fasttrack/quick.h"
#include "hook.h"
#include "racehive/control.h"
#include "scout/recent.h"
#include "scout/trace_memory_testing.h"

#include <stdlib.h>

static _Atomic uint64_t counted[RH_LOSS_COUNT];
_Atomic uint64_t *_Atomic rt_losses = counted;

enum { MOST_MET = 4000, SWEEP_EVERY = 4 };

/* What an access met: an atomic that may acquire is judged when it has. */
struct meeting {
    uint32_t count;
    struct {
        uint64_t cell;
        uintptr_t granule;
    } met[MOST_MET];
};

static struct share {
    struct rt_clocks clocks;
    struct meeting meeting;
} shares[ACTORS];

static struct world world;
static bool reuses_slots;
static struct {
    uint64_t steps, accesses, raced, wanted, found, hidden, sweeps, whole_sweeps, lines;
} sums;

/* The runtime's order is a little stronger than the standard's (clocks.h): which accesses it takes
 * to be ordered although they are not. */
static bool is_hidden(const struct actor *a, const struct access *earlier);

static struct share *share_of(const struct rt_thread *t)
{
    return &shares[t - fakes];
}

static struct rt_clocks *clocks_of_fake(struct rt_thread *t)
{
    return &share_of(t)->clocks;
}

static uint32_t window_now(void)
{
    return 1;
}

/* A quarter of the executions has none, another has sweeps alone. */
static bool has_quick_ways(const struct world *w)
{
    return w->number % 4 != 0;
}

static bool has_checks(const struct world *w)
{
    return w->number % 2 != 0;
}

/* --- which access a cell is of: slot and epoch of each access --- */

static struct {
    uint32_t slot, epoch;
} stamps[STEPS + 2];

static bool is_hidden(const struct actor *a, const struct access *earlier)
{
    uint32_t site = (uint32_t)(earlier - world.accesses);
    return rt_clocks_knows(clocks_of_fake(a->fake), stamps[site].slot, stamps[site].epoch);
}

/* --- what fasttrack.c does --- */

static uint64_t cell_of(const struct actor *a, const struct rt_access *x, uint32_t epoch)
{
    bool is_write = x->kind != RH_ACCESS_READ && x->kind != RH_ACCESS_ATOMIC_READ;
    return rt_cell_make(rt_cell_epoch_word(rt_clocks_slot(a->fake), epoch), 0, is_write,
                        is_atomic(x), (uint16_t)x->site);
}

static void note_met(struct meeting *m, uintptr_t at, const struct rt_shadow_cells *unordered)
{
    for (uint32_t i = 0; i < unordered->count && m->count < MOST_MET; i++) {
        m->met[m->count].granule = at;
        m->met[m->count++].cell = unordered->at[i];
    }
}

static void enter_granules(struct actor *a, const struct rt_access *x, uint64_t cell, bool keeps,
                           struct meeting *m)
{
    struct rt_shadow_cells unordered;
    uintptr_t end = x->address + x->size;
    for (uintptr_t at = x->address & -(uintptr_t)RT_GRANULE; at < end; at += RT_GRANULE) {
        uint8_t bytes = rt_recent_bytes(at, x->address, end);
        uint64_t part = cell & ~((uint64_t)bytes << RT_CELL_BYTES_AT);
        struct rt_shadow_granule *granule = rt_shadow_at(at, true);
        if (keeps)
            rt_track_enter(clocks_of_fake(a->fake), granule, part, &unordered);
        else
            rt_track_compare(clocks_of_fake(a->fake), granule, part, &unordered);
        note_met(m, at, &unordered);
    }
}

/* --- checks --- */

/* Of the one key of the one image: each access is of another site. */
static _Atomic uint64_t latest_origin;

static const struct rh_key_record keys[] = {{.site_count = 1}};
static struct rt_image runtime;
static struct rh_image image = {.runtime = &runtime, .keys = keys};

/* As a check that has failed. False: it must go the long way. */
static bool check_quickly(struct actor *a, const struct rt_access *x, uint64_t shape, uint64_t cell)
{
    uint32_t slot = rt_cell_slot(cell);
    atomic_store(&rt_origin_latest[slot][0], &latest_origin);
    atomic_store(&latest_origin, rt_quick_context(0, 0) << RT_ORIGIN_NUMBER_BITS | x->site);
    rt_quick_ready(a->fake, clocks_of_fake(a->fake), rt_cell_epoch_word(slot, rt_cell_epoch(cell)));
    return rt_quick_check(&image, x->address, 0, shape, 0);
}

/* Whether the check in instrumented code stops at the first cell. */
static bool is_superfluous(const struct rt_access *x, uint64_t cell)
{
    uintptr_t end = x->address + x->size;
    for (uintptr_t at = x->address & -(uintptr_t)RT_GRANULE; at < end; at += RT_GRANULE) {
        uint8_t bytes = rt_recent_bytes(at, x->address, end);
        uint64_t needs = rt_cell_needs(bytes, rt_cell_is_write(cell), false);
        if (!rt_cell_covers(atomic_load(&rt_shadow_at(at, true)->first), cell, needs))
            return false;
    }
    return true;
}

static void enter_plain(struct actor *a, const struct rt_access *x, uint64_t cell,
                        struct meeting *m)
{
    uint64_t shape = x->size | (x->kind == RH_ACCESS_WRITE ? RH_CHECK_SHAPE_WRITES : 0);
    if (has_checks(&world) && (is_superfluous(x, cell) || check_quickly(a, x, shape, cell)))
        return;
    enter_granules(a, x, cell, true, m);
}

/* --- sweeps --- */

/* Its accesses have consecutive sites, and its cells the first of them as their origin. */
static struct {
    uint32_t count; /* at the first; 0: not the first of a sweep */
} swept[STEPS + 2];

struct sweep_plan {
    struct rt_access first;
    uint64_t stride;
    uint32_t count;
};

static bool fits(const struct world *w, const struct sweep_plan *p)
{
    uint32_t steps_left = w->step_count - w->step;
    if (w->last_site + p->count + steps_left >= STEPS)
        return false;
    for (uint32_t i = 0; i < p->count; i++) {
        uintptr_t at = p->first.address + i * p->stride - block_at(0);
        if (at / BLOCK_SIZE != (at + p->first.size - 1) / BLOCK_SIZE ||
            at + p->first.size > BLOCKS * BLOCK_SIZE)
            return false;
    }
    return true;
}

/* Half of them are of whole lines, or of every second granule of them. */
static struct sweep_plan plan_sweep(struct world *w)
{
    enum { ALL = BLOCKS * BLOCK_SIZE, LINE = RT_SHADOW_LINE * RT_SHADOW_GRANULE };
    static const uint8_t sizes[] = {1, 2, 3, 4, 8, 8, 16, 24, 32};
    struct sweep_plan p = {.first.kind = pick(w, 2) ? RH_ACCESS_READ : RH_ACCESS_WRITE};
    p.first.size = sizes[pick(w, sizeof sizes)];
    p.stride = pick(w, 3) ? p.first.size : 1 + pick(w, 40);
    p.first.address = block_at(0) + pick(w, ALL);
    p.count = 1 + pick(w, 20);
    if (pick(w, 2)) {
        p.first.size = RT_SHADOW_GRANULE;
        p.stride = RT_SHADOW_GRANULE * (1 + pick(w, 2));
        p.first.address = block_at(0) + pick(w, ALL / LINE) * LINE;
        p.first.address += p.stride - RT_SHADOW_GRANULE * (1 + pick(w, 2) % (p.stride / 8));
        p.count = (uint32_t)(LINE * (1 + pick(w, 2)) / p.stride);
    }
    return p;
}

/* What watch_sweep of detect/fasttrack.c does. */
static void enter_sweep(struct actor *a, const struct sweep_plan *p, uint64_t cell,
                        struct meeting *m)
{
    struct rt_access one = p->first;
    uintptr_t end = one.address + p->count * p->stride;
    uint64_t shape = one.size | RH_CHECK_SHAPE_SWEEP | p->stride << RH_CHECK_SHAPE_STRIDE_AT |
                     (uint64_t)p->count << RH_CHECK_SHAPE_COUNT_AT |
                     (one.kind == RH_ACCESS_WRITE ? RH_CHECK_SHAPE_WRITES : 0);
    if (has_checks(&world) && check_quickly(a, &one, shape, cell)) {
        sums.whole_sweeps++;
        return;
    }
    while (has_quick_ways(&world) ? !rt_quick_sweep(clocks_of_fake(a->fake), &one.address, end,
                                                    p->stride, one.size, cell)
                                  : one.address < end) {
        enter_granules(a, &one, cell, true, m);
        one.address += p->stride;
    }
}

/* --- judging --- */

static bool is_met(const struct world *w, const struct actor *a, const struct meeting *m,
                   uintptr_t byte)
{
    (void)w;
    for (uint32_t i = 0; i < m->count; i++) {
        uint64_t cell = m->met[i].cell;
        bool touches = byte - m->met[i].granule < RT_GRANULE &&
                       rt_cell_bytes(cell) >> (byte - m->met[i].granule) & 1;
        if (touches &&
            !rt_clocks_knows(clocks_of_fake(a->fake), rt_cell_slot(cell), rt_cell_epoch(cell)))
            return true;
    }
    return false;
}

/* The access of a sweep, or the single one, that touches this byte; NULL: none. */
static const struct access *access_at(const struct world *w, uint32_t site, uintptr_t byte)
{
    uint32_t count = swept[site].count ? swept[site].count : 1;
    for (uint32_t i = site; i < site + count; i++)
        if (byte - w->accesses[i].address < w->accesses[i].size)
            return &w->accesses[i];
    return NULL;
}

static void check_met(const struct world *w, const struct actor *a, uint32_t site,
                      const struct meeting *m)
{
    for (uint32_t i = 0; i < m->count; i++) {
        uint64_t cell = m->met[i].cell;
        uint32_t common = 0, earlier = rt_cell_origin(cell);
        if (rt_clocks_knows(clocks_of_fake(a->fake), rt_cell_slot(cell), rt_cell_epoch(cell)))
            continue;
        CHECK(w, earlier && earlier < site);
        for (uint32_t k = 0; k < RT_GRANULE; k++) {
            const struct access *x = access_at(w, site, m->met[i].granule + k);
            if (!x || !(rt_cell_bytes(cell) >> k & 1))
                continue;
            const struct access *y = access_at(w, earlier, m->met[i].granule + k);
            CHECK(w, y && conflict(x, y));
            CHECK(w, !knows(&a->now, y));
            common++;
        }
        CHECK(w, common);
        sums.raced++;
    }
}

/* Whether the thread has made an access of this byte in the same epoch that races with all that
 * this one races with: then it need not be compared, since the other was. */
static bool was_covered(const struct world *w, uint32_t site, uintptr_t byte)
{
    const struct access *x = &w->accesses[site];
    for (uint32_t i = site; i-- > 1;) {
        const struct access *z = &w->accesses[i];
        bool is_own = z->life == x->life && stamps[i].epoch;
        if (is_own && stamps[i].epoch != stamps[site].epoch)
            return false;
        if (is_own && z->generation == x->generation && byte - z->address < z->size &&
            (z->is_write || !x->is_write) && (!z->is_atomic || x->is_atomic))
            return true;
    }
    return false;
}

/* Every earlier access is compared, at every byte that both touch. */
static void check_missed(const struct world *w, const struct actor *a, uint32_t site,
                         const struct meeting *m)
{
    const struct access *x = &w->accesses[site];
    for (uint32_t i = 1; i < site; i++) {
        const struct access *y = &w->accesses[i];
        if (!conflict(x, y) || knows(&a->now, y))
            continue;
        sums.wanted++;
        if (is_hidden(a, y)) {
            sums.hidden++;
            continue;
        }
        uintptr_t low = x->address > y->address ? x->address : y->address;
        uintptr_t x_end = x->address + x->size, y_end = y->address + y->size;
        for (uintptr_t b = low; b < x_end && b < y_end; b++)
            CHECK(w, is_met(w, a, m, b) || (has_quick_ways(w) && was_covered(w, site, b)));
        sums.found++;
    }
}

static void judge(const struct world *w, const struct actor *a, uint32_t site,
                  const struct meeting *m)
{
    uint32_t count = swept[site].count ? swept[site].count : 1;
    CHECK(w, m->count < MOST_MET);
    check_met(w, a, site, m);
    for (uint32_t i = site; i < site + count && !reuses_slots; i++)
        check_missed(w, a, i, m);
}

/* --- what the trace tells --- */

/* A thread that takes over the slot of one that ended seems to come behind it, whether it was
 * joined or not: then only what is reported can be judged. */
static void tell_entered(struct actor *a)
{
    if (!reuses_slots)
        a->fake->slot = a->life;
    memset(&shares[a->fake - fakes], 0, sizeof shares[0]);
}

static void tell_begin(struct actor *a)
{
    rt_clocks_begin(a->fake, clocks_of_fake(a->fake));
}

static void tell_sync(struct actor *a, enum rt_sync what, uintptr_t object)
{
    rt_clocks_sync(a->fake, clocks_of_fake(a->fake), what, (const volatile void *)object);
}

static uint32_t stamp(struct actor *a, const struct rt_access *x)
{
    stamps[x->site].slot = rt_clocks_slot(a->fake);
    stamps[x->site].epoch = rt_clocks_use_epoch(a->fake, clocks_of_fake(a->fake));
    return stamps[x->site].epoch;
}

static void tell_before(struct world *w, struct actor *a, const struct rt_access *x)
{
    struct share *mine = share_of(a->fake);
    mine->meeting.count = 0;
    if (x->kind != RH_ACCESS_FENCE) {
        uint32_t epoch = stamp(a, x);
        if (is_atomic(x))
            enter_granules(a, x, cell_of(a, x, epoch), true, &mine->meeting);
        else
            enter_plain(a, x, cell_of(a, x, epoch), &mine->meeting);
        if (!is_atomic(x) || !may_acquire(x))
            judge(w, a, x->site, &mine->meeting);
    }
    if (is_atomic(x))
        rt_clocks_before(a->fake, &mine->clocks, x);
}

static void tell_after(struct world *w, struct actor *a, const struct rt_access *x)
{
    struct share *mine = share_of(a->fake);
    rt_clocks_after(a->fake, &mine->clocks, x);
    if (x->kind != RH_ACCESS_FENCE)
        check_met(w, a, x->site, &mine->meeting);
}

static void tell_gone(struct world *w, struct actor *a, const struct rt_access *x)
{
    struct meeting m = {.count = 0};
    stamps[x->site].epoch = 0; /* it is not entered */
    enter_granules(a, x, cell_of(a, x, 1), false, &m);
    judge(w, a, x->site, &m);
    rt_shadow_forget(x->address, x->size);
}

static void count_lines(const struct sweep_plan *p)
{
    uintptr_t end = p->first.address + p->count * p->stride;
    for (uintptr_t at = p->first.address; at < end; at += RT_SHADOW_LINE * RT_SHADOW_GRANULE)
        sums.lines += rt_shadow_is_regular(rt_shadow_line(rt_shadow_at(at, true)));
}

/* Between two events of its thread: so all its accesses are of one epoch. */
static void sweep(struct world *w, struct actor *a)
{
    struct meeting m = {.count = 0};
    struct sweep_plan p = plan_sweep(w);
    if (!fits(w, &p))
        return;
    for (uint32_t i = 0; i < p.count; i++) {
        struct rt_access x = p.first;
        x.address += i * p.stride;
        enter_access(w, a, &x);
        stamp(a, &x);
        if (i == 0)
            p.first.site = x.site;
    }
    swept[p.first.site].count = p.count;
    enter_sweep(a, &p, cell_of(a, &p.first, stamps[p.first.site].epoch), &m);
    judge(w, a, p.first.site, &m);
    count_lines(&p);
    sums.sweeps++;
}

/* --- tests --- */

static void run_trace(uint32_t number)
{
    struct world *w = &world;
    start_world(w, number);
    rt_shadow_forget(block_at(0), BLOCKS * BLOCK_SIZE);
    start_main(w);
    memset(swept, 0, sizeof swept);
    for (w->step = 0; w->step < w->step_count; w->step++) {
        struct actor *a = pick(w, SWEEP_EVERY) ? NULL : any_in(w, RT_THREAD_RUNNING);
        if (a && !a->is_in_atomic)
            sweep(w, a);
        else
            take_step(w);
    }
    sums.steps += w->step_count;
    sums.accesses += w->last_site;
}

static int set_up(void **state)
{
    (void)state;
    memset(&sums, 0, sizeof sums);
    rt_clocks_of = clocks_of_fake;
    return rt_clocks_start_exact() && rt_shadow_start(UINT64_MAX) ? 0 : -1;
}

/* Hidden are those that the clocks take to be ordered: release sequences are longer, and all
 * atomics of sixteen bytes are one. */
static void test_races_are_those_of_vector_clocks(void **state)
{
    const char *wanted = getenv("RH_TRACK_TRACES");
    const uint32_t traces = wanted ? (uint32_t)strtoul(wanted, NULL, 10) : 1000;
    (void)state;
    reuses_slots = false;
    for (uint32_t i = 0; i < traces; i++)
        run_trace(i);
    print_message(
        "%lu steps, %lu accesses, %lu comparisons were races; %lu of %lu racing pairs "
        "found, %lu hidden by stronger clocks; %lu sweeps, %lu quick ones, %lu lines left "
        "regular\n",
        sums.steps, sums.accesses, sums.raced, sums.found, sums.wanted, sums.hidden, sums.sweeps,
        sums.whole_sweeps, sums.lines);
    assert_true(sums.sweeps > 50 * traces && sums.whole_sweeps > 10 * traces &&
                sums.lines > traces);
    assert_true(sums.raced > 100 * traces && sums.wanted > 100 * traces);
    assert_true(sums.hidden * 8 < sums.wanted);
    for (int i = 0; i < RH_LOSS_COUNT; i++)
        assert_int_equal(atomic_load(&counted[i]), 0);
}

static void test_no_race_is_made_up_where_slots_are_reused(void **state)
{
    enum { TRACES = 500 };
    (void)state;
    reuses_slots = true;
    for (uint32_t i = 0; i < TRACES; i++)
        run_trace(i);
    print_message("%lu comparisons were races\n", sums.raced);
    assert_true(sums.raced > 10000);
}

/* What is in a cell comes out of it. */
static void test_cells(void **state)
{
    (void)state;
    uint64_t random = seed_of(1);
    for (int i = 0; i < 100000; i++) {
        uint32_t slot = draw_below(&random, RT_CLOCK_SLOTS), epoch = (uint32_t)draw(&random) | 1;
        uint8_t bytes = (uint8_t)draw(&random);
        bool is_write = draw(&random) & 1, is_atomic = draw(&random) & 1;
        uint16_t origin = (uint16_t)draw(&random);
        uint64_t cell =
            rt_cell_make(rt_cell_epoch_word(slot, epoch), bytes, is_write, is_atomic, origin);
        assert_int_equal(rt_cell_slot(cell), slot);
        assert_int_equal(rt_cell_epoch(cell), epoch);
        assert_int_equal(rt_cell_bytes(cell), bytes);
        assert_int_equal(rt_cell_is_write(cell), is_write);
        assert_int_equal(rt_cell_is_atomic(cell), is_atomic);
        assert_int_equal(rt_cell_origin(cell), origin);
        assert_true(rt_cell_covers(cell, rt_cell_epoch_word(slot, epoch),
                                   rt_cell_needs(bytes, is_write, is_atomic)));
    }
}

/* A granule that 64 threads read has a cell for each; a write behind all of them leaves one. */
static void test_many_readers(void **state)
{
    enum { EPOCH = 1 << 30 }; /* beyond all that the other tests have reached */
    struct rt_shadow_cells cells, unordered;
    struct rt_clocks clocks = {0};
    uintptr_t at = 0x7fff00000000;
    (void)state;
    clear_fakes(0, FAKES);
    atomic_store(&fakes[0].state, RT_THREAD_RUNNING);
    rt_shadow_forget(block_at(0), BLOCKS * BLOCK_SIZE);
    struct rt_shadow_granule *granule = rt_shadow_at(at, true);
    for (uint32_t i = 0; i < RT_CLOCK_SLOTS; i++) {
        uint64_t read = rt_cell_make(rt_cell_epoch_word(i, EPOCH), 0xff, false, false, 1);
        rt_track_enter(&clocks, granule, read, &unordered);
        assert_int_equal(unordered.count, 0);
        assert_true(i == 0 || rt_shadow_covers(granule, rt_cell_epoch_word(i - 1, EPOCH),
                                               rt_cell_needs(0x10, false, false)));
    }
    struct rt_shadow_held held;
    assert_true(rt_shadow_hold(granule, &held));
    rt_shadow_read(&held, granule, &cells);
    rt_shadow_write(&held, granule, &cells);
    rt_shadow_let_go(&held);
    assert_int_equal(cells.count, RT_CLOCK_SLOTS);
    uint64_t write = rt_cell_make(rt_cell_epoch_word(0, EPOCH + 1), 0x0f, true, false, 1);
    rt_track_compare(&clocks, granule, write, &unordered);
    assert_int_equal(unordered.count, RT_CLOCK_SLOTS - 1);
    for (uint32_t i = 0; i < RT_CLOCK_SLOTS; i++)
        atomic_store(&clocks.known.at[i], EPOCH + 1);
    rt_track_enter(&clocks, granule, write, &unordered);
    assert_int_equal(unordered.count, 0);
    rt_shadow_forget(at, RT_SHADOW_GRANULE);
    assert_int_equal(atomic_load(&granule->first), 0);
    assert_int_equal(atomic_load(&granule->rest[0]), 0);
    assert_int_equal(rt_blocks_size(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_races_are_those_of_vector_clocks, set_up),
        cmocka_unit_test_setup(test_no_race_is_made_up_where_slots_are_reused, set_up),
        cmocka_unit_test_setup(test_cells, set_up),
        cmocka_unit_test_setup(test_many_readers, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
