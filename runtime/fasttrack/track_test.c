/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FastTrack against plain vector clocks, on random executions (scout/trace_testing.h): what it
 * calls a race must be one, and each access that races with an earlier one must be found to race,
 * by byte.
 */
#include "fasttrack/track.h"

#include "fasttrack/blocks.h"
#include "racehive/control.h"
#include "scout/recent.h"
#include "scout/trace_memory_testing.h"

static _Atomic uint64_t counted[RH_LOSS_COUNT];
_Atomic uint64_t *_Atomic rt_losses = counted;

enum { MOST_MET = 64 };

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
    uint64_t steps, accesses, raced, wanted, found, hidden;
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

static bool try_enter(struct actor *a, struct rt_shadow_granule *granule, uint64_t cell)
{
    struct rt_shadow_held held;
    assert_true(rt_shadow_hold(granule, &held));
    bool is_done = rt_track_try(clocks_of_fake(a->fake), &held, granule, cell);
    rt_shadow_let_go(&held);
    return is_done;
}

static void enter_granules(struct actor *a, const struct rt_access *x, uint64_t cell, bool keeps,
                           struct meeting *m)
{
    struct rt_shadow_cells unordered;
    uintptr_t end = x->address + x->size;
    m->count = 0;
    for (uintptr_t at = x->address & -(uintptr_t)RT_GRANULE; at < end; at += RT_GRANULE) {
        uint8_t bytes = rt_recent_bytes(at, x->address, end);
        uint64_t part = cell & ~((uint64_t)bytes << RT_CELL_BYTES_AT);
        struct rt_shadow_granule *granule = rt_shadow_at(at, true);
        bool is_done = keeps && world.number % 2 && try_enter(a, granule, part);
        unordered.count = 0;
        if (keeps && !is_done)
            rt_track_enter(clocks_of_fake(a->fake), granule, part, &unordered);
        else if (!keeps)
            rt_track_compare(clocks_of_fake(a->fake), granule, part, &unordered);
        for (uint32_t i = 0; i < unordered.count && m->count < MOST_MET; i++) {
            m->met[m->count].granule = at;
            m->met[m->count++].cell = unordered.at[i];
        }
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

static void check_met(const struct world *w, const struct actor *a, uint32_t site,
                      const struct meeting *m)
{
    for (uint32_t i = 0; i < m->count; i++) {
        uint64_t cell = m->met[i].cell;
        if (rt_clocks_knows(clocks_of_fake(a->fake), rt_cell_slot(cell), rt_cell_epoch(cell)))
            continue;
        uint32_t earlier = rt_cell_origin(cell);
        CHECK(w, earlier && earlier < site);
        CHECK(w, conflict(&w->accesses[site], &w->accesses[earlier]));
        CHECK(w, !knows(&a->now, &w->accesses[earlier]));
        sums.raced++;
    }
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
            CHECK(w, is_met(w, a, m, b));
        sums.found++;
    }
}

static void judge(const struct world *w, const struct actor *a, uint32_t site,
                  const struct meeting *m)
{
    check_met(w, a, site, m);
    if (!reuses_slots)
        check_missed(w, a, site, m);
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

static void tell_before(struct world *w, struct actor *a, const struct rt_access *x)
{
    struct share *mine = share_of(a->fake);
    if (x->kind != RH_ACCESS_FENCE) {
        uint32_t epoch = rt_clocks_use_epoch(a->fake, &mine->clocks);
        stamps[x->site].slot = rt_clocks_slot(a->fake);
        stamps[x->site].epoch = epoch;
        enter_granules(a, x, cell_of(a, x, epoch), true, &mine->meeting);
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
    struct meeting m;
    enter_granules(a, x, cell_of(a, x, 1), false, &m);
    judge(w, a, x->site, &m);
    rt_shadow_forget(x->address, x->size);
}

/* --- tests --- */

static void run_trace(uint32_t number)
{
    struct world *w = &world;
    start_world(w, number);
    rt_shadow_forget(block_at(0), BLOCKS * BLOCK_SIZE);
    start_main(w);
    for (w->step = 0; w->step < w->step_count; w->step++)
        take_step(w);
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
    enum { TRACES = 10000 };
    (void)state;
    reuses_slots = false;
    for (uint32_t i = 0; i < TRACES; i++)
        run_trace(i);
    print_message("%lu steps, %lu accesses, %lu comparisons were races; %lu of %lu racing pairs "
                  "found, %lu hidden by stronger clocks\n",
                  sums.steps, sums.accesses, sums.raced, sums.found, sums.wanted, sums.hidden);
    assert_true(sums.raced > 100000 && sums.wanted > 100000);
    assert_true(sums.hidden * 8 < sums.wanted);
    for (int i = 0; i < RH_LOSS_COUNT; i++)
        assert_int_equal(atomic_load(&counted[i]), 0);
}

static void test_no_race_is_made_up_where_slots_are_reused(void **state)
{
    enum { TRACES = 2000 };
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
