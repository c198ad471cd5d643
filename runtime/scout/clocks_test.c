/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scout's clocks and table of recent accesses against full vector clocks, on random executions
 * (trace_testing.h) of which only windows are watched. What is called a race must be one, and of
 * the races that there are, most must be found.
 */
#include "clocks.c"
#include "recent.c"

#include "trace_memory_testing.h"

/* An atomic that may acquire is compared with what was there before it, but after it has acquired:
 * whoever comes between may know of it. */
struct meeting {
    uint32_t count;
    struct rt_recent others[2 * RT_RECENT_CELLS];
    uint32_t neighbour_count;
    uint32_t neighbours[2 * RT_GRANULE]; /* sites of the last accesses to each of its bytes */
};

static struct share {
    struct rt_clocks clocks;
    struct meeting meeting;
} shares[ACTORS];

static uint32_t window, serial; /* the number of the open one, or 0; of the latest */
static struct world world;

/* Of all executions. */
static struct {
    uint64_t steps, accesses, ordered, raced, ahead, windows;
    uint64_t racing, found; /* of accesses that follow each other at some byte */
} sums;

static uint32_t last_sites[BLOCKS * BLOCK_SIZE]; /* of each byte */

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
    return window;
}

/* --- meetings --- */

/* Two that are both about to happen race, whatever the second to happen learns on its way. */
static void check_race(const struct world *w, const struct actor *a, const struct access *later,
                       const struct access *earlier)
{
    CHECK(w, conflict(later, earlier));
    CHECK(w, later->window == earlier->window);
    CHECK(w, !knows(&a->now, earlier));
    sums.ahead += earlier->is_ahead;
    sums.raced++;
}

static void meet(const struct world *w, const struct actor *a, uint32_t site,
                 const struct rt_recent *earlier)
{
    const struct rt_clocks *mine = &share_of(a->fake)->clocks;
    CHECK(w, earlier->site && earlier->site < site);
    if (rt_clocks_knows(mine, earlier->slot, earlier->epoch))
        sums.ordered++;
    else
        check_race(w, a, &w->accesses[site], &w->accesses[earlier->site]);
}

/* Looks each granule up and enters the access; what it finds comes back. */
static void visit(const struct actor *a, const struct rt_access *x, uint32_t epoch,
                  struct meeting *m)
{
    struct rt_recent access = {
        .site = x->site,
        .epoch = epoch,
        .slot = (uint8_t)(rt_clocks_slot(a->fake) % RT_CLOCK_SLOTS),
        .is_write = x->kind != RH_ACCESS_READ && x->kind != RH_ACCESS_ATOMIC_READ,
        .is_atomic = is_atomic(x),
    };
    uintptr_t end = x->address + x->size;
    m->count = 0;
    for (uintptr_t at = x->address & -(uintptr_t)RT_GRANULE; at < end; at += RT_GRANULE) {
        access.bytes = 0;
        for (uintptr_t i = 0; i < RT_GRANULE; i++)
            access.bytes |= (uint8_t)((at + i >= x->address && at + i < end) << i);
        uint32_t hints;
        m->count += rt_recent_visit(window, at, &access, &m->others[m->count], &hints);
    }
}

static bool has_found(const struct actor *a, const struct meeting *m, uint32_t site)
{
    for (uint32_t i = 0; i < m->count; i++)
        if (m->others[i].site == site)
            return !rt_clocks_knows(clocks_of_fake(a->fake), m->others[i].slot, m->others[i].epoch);
    return false;
}

static void meet_all(const struct world *w, const struct actor *a, uint32_t site,
                     const struct meeting *m)
{
    for (uint32_t i = 0; i < m->count; i++)
        meet(w, a, site, &m->others[i]);
    for (uint32_t i = 0; i < m->neighbour_count; i++) {
        const struct access *earlier = &w->accesses[m->neighbours[i]];
        if (!conflict(&w->accesses[site], earlier) || knows(&a->now, earlier))
            continue;
        sums.racing++;
        sums.found += has_found(a, m, m->neighbours[i]);
    }
}

static void find_neighbours(const struct rt_access *x, struct meeting *m)
{
    uint32_t *last = &last_sites[x->address - block_at(0)];
    m->neighbour_count = 0;
    for (uint32_t i = 0; i < x->size; i++) {
        if (last[i] && (!m->neighbour_count || last[i] != m->neighbours[m->neighbour_count - 1]))
            m->neighbours[m->neighbour_count++] = last[i];
    }
    for (uint32_t i = 0; i < x->size; i++)
        last[i] = x->site;
}

/* --- what scout.c does --- */

/* The share of an ended thread may be found as it was, or empty. */
static void tell_entered(struct actor *a)
{
    if (pick(&world, 2))
        memset(&shares[a->fake - fakes], 0, sizeof shares[0]);
}

static void tell_begin(struct actor *a)
{
    rt_clocks_begin(a->fake, clocks_of_fake(a->fake));
}

static void tell_sync(struct actor *a, enum rt_sync what, uintptr_t object)
{
    if (window)
        rt_clocks_sync(a->fake, clocks_of_fake(a->fake), what, (const volatile void *)object);
}

static void tell_before(struct world *w, struct actor *a, const struct rt_access *x)
{
    struct share *mine = share_of(a->fake);
    if (!window)
        return;
    if (x->kind != RH_ACCESS_FENCE) {
        find_neighbours(x, &mine->meeting);
        visit(a, x, rt_clocks_use_epoch(a->fake, &mine->clocks), &mine->meeting);
        if (!is_atomic(x) || !may_acquire(x))
            meet_all(w, a, x->site, &mine->meeting);
    }
    if (is_atomic(x))
        rt_clocks_before(a->fake, &mine->clocks, x);
}

static void tell_after(struct world *w, struct actor *a, const struct rt_access *x)
{
    struct share *mine = share_of(a->fake);
    if (!window)
        return;
    rt_clocks_after(a->fake, &mine->clocks, x);
    if (x->kind != RH_ACCESS_FENCE && w->accesses[x->site].window == window)
        meet_all(w, a, x->site, &mine->meeting);
}

static void tell_gone(struct world *w, struct actor *a, const struct rt_access *x)
{
    struct meeting m = {.neighbour_count = 0};
    if (!window)
        return;
    for (uintptr_t at = x->address; at < x->address + x->size; at += 2 * RT_GRANULE) {
        struct rt_access half = *x;
        half.address = at;
        half.size = 2 * RT_GRANULE;
        visit(a, &half, 0, &m);
        meet_all(w, a, x->site, &m);
    }
    CHECK(w, rt_recent_forget(window, x->address, x->size));
}

/* --- tests --- */

static void set_window(bool is_open)
{
    window = is_open ? ++serial : 0;
    sums.windows += is_open;
}

static void run_trace(uint32_t number, bool has_windows)
{
    struct world *w = &world;
    start_world(w, number);
    memset(last_sites, 0, sizeof last_sites);
    w->shares_slots = has_windows && pick(w, 4) == 0;
    uint32_t mean = 4u << pick(w, 8); /* steps between changes */
    set_window(!has_windows || pick(w, 2));
    start_main(w);
    for (w->step = 0; w->step < w->step_count; w->step++) {
        if (has_windows && pick(w, mean) == 0)
            set_window(!window);
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
    return rt_clocks_start() && rt_recent_start() ? 0 : -1;
}

static void test_no_race_is_made_up(void **state)
{
    enum { TRACES = 10000 };
    (void)state;
    for (uint32_t i = 0; i < TRACES; i++)
        run_trace(i, true);
    print_message("%lu steps, %lu accesses in %lu windows; met %lu ordered, %lu races (%lu of what "
                  "was still ahead)\n",
                  sums.steps, sums.accesses, sums.windows, sums.ordered, sums.raced, sums.ahead);
    assert_true(sums.windows > 100000 && sums.ordered > 100000 && sums.raced > 100000);
}

/* Lost are those whose place in the table another has taken, and those that the runtime takes to be
 * ordered: its release sequences are longer, and all atomics of sixteen bytes are one. */
static void test_most_races_are_found(void **state)
{
    enum { TRACES = 1000 };
    (void)state;
    for (uint32_t i = 0; i < TRACES; i++)
        run_trace(i, false);
    print_message("%lu of %lu races found\n", sums.found, sums.racing);
    assert_true(sums.racing > 10000 && sums.found * 100 > sums.racing * 87);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_no_race_is_made_up, set_up),
        cmocka_unit_test_setup(test_most_races_are_found, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
