/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of the table of recent accesses: what it finds, what it forgets, and that under real
 * threads no record that it returns is torn, of another granule or of another window.
 */
#include "recent.c"

#include "detect/fakes_testing.h"

#include <pthread.h>
#include <string.h>

enum { GRANULE = 0x10000 };

static uint32_t window; /* a new one for each test: the table is empty in it */
static uint32_t hints;
static struct rt_recent others[RT_RECENT_CELLS];

/* Sites are such that all would replace the same place. */
static struct rt_recent plain(uint32_t slot, bool is_write, uint8_t bytes)
{
    static uint32_t last_site;
    return (struct rt_recent){.site = last_site += RT_RECENT_CELLS,
                              .epoch = 1,
                              .slot = (uint8_t)(slot & 63),
                              .is_write = is_write,
                              .bytes = bytes};
}

static struct rt_recent atomic(uint32_t slot, bool is_write, uint8_t bytes)
{
    struct rt_recent access = plain(slot, is_write, bytes);
    access.is_atomic = 1;
    return access;
}

static uint32_t visit(uintptr_t granule, struct rt_recent access)
{
    return rt_recent_visit(window, granule, &access, others, &hints);
}

static int set_up(void **state)
{
    (void)state;
    window++;
    return rt_recent_start() ? 0 : -1;
}

/* --- what conflicts --- */

static void test_bytes(void **state)
{
    (void)state;
    for (uint32_t x = 1; x < 256; x++) {
        for (uint32_t y = 1; y < 256; y++) {
            struct rt_recent first = plain(1, true, (uint8_t)x),
                             second = plain(2, true, (uint8_t)y);
            assert_int_equal(rt_recent_conflicts(&first, &second), (x & y) != 0);
        }
    }
}

static void test_kinds(void **state)
{
    (void)state;
    const struct {
        struct rt_recent first, second;
        bool conflicts;
    } rows[] = {
        {plain(1, true, 1), plain(2, true, 1), true},
        {plain(1, true, 1), plain(2, false, 1), true},
        {plain(1, false, 1), plain(2, true, 1), true},
        {plain(1, false, 1), plain(2, false, 1), false},
        {plain(1, true, 1), plain(1, true, 1), false},
        {plain(63, true, 1), plain(0, true, 1), true},
        {atomic(1, true, 1), plain(2, false, 1), true},
        {plain(1, true, 1), atomic(2, false, 1), true},
        {atomic(1, false, 1), plain(2, false, 1), false},
        {atomic(1, true, 1), atomic(2, true, 1), false},
        {atomic(1, true, 1), atomic(2, false, 1), false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        window++;
        assert_int_equal(visit(GRANULE, rows[i].first), 0);
        assert_int_equal(visit(GRANULE, rows[i].second), rows[i].conflicts);
        if (rows[i].conflicts)
            assert_memory_equal(&others[0], &rows[i].first, sizeof others[0]);
    }
}

static void test_looking_without_entering(void **state)
{
    (void)state;
    struct rt_recent end = plain(2, true, 0xff);
    end.epoch = 0;
    assert_int_equal(visit(GRANULE, plain(1, false, 1)), 0);
    assert_int_equal(visit(GRANULE, end), 1);
    assert_int_equal(visit(GRANULE, plain(3, true, 2)), 0);
    assert_int_equal(visit(GRANULE, plain(3, true, 1)), 1);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(visit(GRANULE, end), 3);
        end.site++;
    }
}

/* --- what is kept --- */

static void test_successor_replaces(void **state)
{
    (void)state;
    struct rt_recent access = plain(1, true, 0x0f);
    for (int i = 0; i < 10; i++, access.epoch++)
        visit(GRANULE, access);
    assert_int_equal(visit(GRANULE, plain(2, false, 0x01)), 1);
    assert_int_equal(others[0].site, access.site);
    assert_int_equal(others[0].epoch, 10);
}

/* One that comes meets all sites where another thread has been. */
static void test_sites_are_kept(void **state)
{
    (void)state;
    for (int i = 0; i < RT_RECENT_CELLS; i++)
        visit(GRANULE, plain(1, false, 0x0f));
    assert_int_equal(visit(GRANULE, plain(2, true, 0x01)), RT_RECENT_CELLS);
}

/* When there is no room, a thread's reads make room for it before anything else. */
static void test_own_reads_make_room(void **state)
{
    (void)state;
    visit(GRANULE, plain(1, false, 0xff));
    for (uint32_t i = 1; i < RT_RECENT_CELLS; i++)
        visit(GRANULE, plain(1 + i, true, 0xff));
    for (int i = 0; i < 5; i++)
        visit(GRANULE, plain(1, false, 0xff));
    assert_int_equal(visit(GRANULE, plain(40, true, 0xff)), RT_RECENT_CELLS);
}

/* A read and a write, and different bytes, are kept beside each other. */
static void test_different_accesses_are_kept(void **state)
{
    (void)state;
    visit(GRANULE, plain(1, true, 0x0f));
    visit(GRANULE, plain(1, false, 0x0f));
    visit(GRANULE, plain(1, true, 0xf0));
    assert_int_equal(visit(GRANULE, plain(2, true, 0xff)), 3);
}

static void test_latest_has_a_place(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 60; i++) {
        struct rt_recent access = plain(i, true, 0xff), look = plain(61, false, 0xff);
        bool is_there = false;
        look.epoch = 0;
        visit(GRANULE, access);
        uint32_t count = visit(GRANULE, look);
        assert_int_equal(count, i < RT_RECENT_CELLS ? i + 1 : RT_RECENT_CELLS);
        for (uint32_t k = 0; k < count; k++)
            is_there |= others[k].site == access.site;
        assert_true(is_there);
    }
}

static uintptr_t other_granule_of(uintptr_t granule)
{
    uintptr_t other = granule + RT_GRANULE;
    while (entry_of(other) != entry_of(granule))
        other += RT_GRANULE;
    return other;
}

static void test_other_granule_takes_entry(void **state)
{
    (void)state;
    uintptr_t other = other_granule_of(GRANULE);
    visit(GRANULE, plain(1, true, 0xff));
    assert_int_equal(visit(other, plain(2, true, 0xff)), 0);
    assert_int_equal(visit(GRANULE, plain(3, true, 0xff)), 0);
    assert_int_equal(visit(GRANULE, plain(4, true, 0xff)), 1);
}

static void test_windows_are_apart(void **state)
{
    (void)state;
    visit(GRANULE, plain(1, true, 0xff));
    window++;
    assert_int_equal(visit(GRANULE, plain(2, true, 0xff)), 0);
    assert_int_equal(hints, 1);
    assert_int_equal(others[0].slot, 1);
    assert_int_equal(visit(GRANULE, plain(3, true, 0xff)), 1);
    assert_int_equal(hints, 0);
    window--; /* one who is late */
    assert_int_equal(visit(GRANULE, plain(4, true, 0xff)), 0);
}

/* --- what is forgotten --- */

enum { RUN = 64 };

static void fill(void)
{
    window++;
    for (uintptr_t i = 0; i < RUN; i++)
        visit(GRANULE + i * RT_GRANULE, plain(1, true, 0xff));
}

static bool is_known(uintptr_t index)
{
    struct rt_recent look = plain(2, false, 0xff);
    look.epoch = 0;
    return visit(GRANULE + index * RT_GRANULE, look) > 0;
}

static void check_forgotten(uintptr_t start, size_t size)
{
    fill();
    assert_true(rt_recent_forget(window, start, size));
    for (uintptr_t i = 0; i < RUN; i++) {
        uintptr_t at = GRANULE + i * RT_GRANULE;
        assert_int_equal(is_known(i), !(at < start + size && at + RT_GRANULE > start));
    }
}

static void test_forget(void **state)
{
    (void)state;
    check_forgotten(GRANULE, 0);
    check_forgotten(GRANULE + 8, 8);
    check_forgotten(GRANULE + 8, 1);
    check_forgotten(GRANULE + 15, 2); /* parts of two granules */
    check_forgotten(GRANULE + 13, 100);
    check_forgotten(GRANULE - 1000, 1004);
    check_forgotten(GRANULE, RUN * RT_GRANULE);
    /* So large that all entries are looked at. */
    check_forgotten(GRANULE + 16, (size_t)ENTRIES * RT_GRANULE);
    check_forgotten(GRANULE - 0x8000, 0x8000 + 20);
    check_forgotten(GRANULE + 20, (size_t)1 << 40);
    check_forgotten((uintptr_t)1 << 40, (size_t)1 << 40);
}

/* A thread that is still in an earlier window does not hide what a later one has used. */
static void test_forget_with_laggard(void **state)
{
    (void)state;
    uint32_t earlier = window++;
    struct rt_recent access = plain(1, true, 0xff), look = plain(2, true, 0xff);
    visit(GRANULE, access);
    rt_recent_visit(earlier, GRANULE + RT_GRANULE, &access, others, &hints);
    assert_true(rt_recent_forget(window, GRANULE, RT_GRANULE));
    assert_int_equal(visit(GRANULE, look), 0);
    visit(GRANULE, access);
    assert_true(rt_recent_forget(earlier, GRANULE, RT_GRANULE));
    look.epoch = 0;
    assert_int_equal(visit(GRANULE, look), 0);
}

/* Of a long range, what no access of the window came near is passed over, and nothing else. */
static void test_next(void **state)
{
    (void)state;
    uintptr_t start = GRANULE - 0x10000, end = GRANULE + 0x10000, at = start;
    assert_true(rt_recent_next(window, start, end) >= end);
    visit(GRANULE + 24, plain(1, true, 0xff));
    visit(end - RT_GRANULE, plain(1, true, 0xff));
    bool found[2] = {false};
    uint32_t looked = 0;
    while ((at = rt_recent_next(window, at, end)) < end) {
        found[0] |= at == GRANULE + 24;
        found[1] |= at == end - RT_GRANULE;
        looked++;
        at += RT_GRANULE;
    }
    assert_true(found[0] && found[1]);
    assert_true(looked <= 16 * NEAR); /* others may share their groups */
    assert_true(rt_recent_next(window + 1, start, end) >= end);
}

/* --- what is busy --- */

static void test_busy(void **state)
{
    (void)state;
    uint64_t before = atomic_load(&rt_recent_busy);
    visit(GRANULE, plain(1, true, 0xff));
    assert_true(seize(entry_of(GRANULE)));
    assert_int_equal(visit(GRANULE, plain(2, true, 0xff)), 0);
    assert_int_equal(atomic_load(&rt_recent_busy), before + 1);
    assert_false(rt_recent_forget(window, GRANULE, 8));
    assert_false(rt_recent_forget(window, GRANULE - 64, 256));
    assert_false(rt_recent_forget(window, GRANULE, (size_t)1 << 40));
    assert_true(rt_recent_forget(window, other_granule_of(GRANULE), 8)); /* not its entry now */
    let_go(entry_of(GRANULE));
    assert_int_equal(visit(GRANULE, plain(3, true, 0xff)), 1);
    assert_true(rt_recent_forget(window, GRANULE, 8));
    assert_int_equal(visit(GRANULE, plain(4, true, 0xff)), 0);
}

/* --- real threads --- */

enum { WORKERS = 4, SHARED = 3, ROUNDS = 2000000 };

static struct {
    uintptr_t
        granules[SHARED + WORKERS]; /* all in one entry or another's; the last of one worker */
    _Atomic uint32_t window;
    _Atomic uint64_t found, wrong, left_over;
} hammer;

/* Every field follows from the site, whose bits say where it was. */
static struct rt_recent sealed(uint32_t place, uint32_t in_window, uint32_t slot, uint64_t random)
{
    uint32_t site = (uint32_t)random << 8 | place << 4 | (slot & 15);
    uint32_t mixed = site * 0x9e3779b1u ^ in_window * 0x85ebca6bu;
    return (struct rt_recent){.site = site,
                              .epoch = in_window,
                              .locks = mixed,
                              .witness = (uint16_t)(mixed * 31),
                              .slot = slot & 15,
                              .is_write = 1,
                              .bytes = (uint8_t)(mixed >> 24 | 1)};
}

static bool is_whole(const struct rt_recent *r, uint32_t place, uint32_t in_window)
{
    struct rt_recent should = sealed(place, in_window, r->slot, r->site >> 8);
    return memcmp(r, &should, sizeof should) == 0;
}

/* As any thread, so that others are found whoever has the processor. */
static void hammer_shared(uint32_t place, uint64_t random)
{
    uint32_t now = atomic_load(&hammer.window);
    struct rt_recent found[RT_RECENT_CELLS], access = sealed(place, now, (uint32_t)random, random);
    uint32_t none, count = rt_recent_visit(now, hammer.granules[place], &access, found, &none);
    for (uint32_t i = 0; i < count; i++)
        if (!is_whole(&found[i], place, now))
            atomic_fetch_add(&hammer.wrong, 1);
    atomic_fetch_add_explicit(&hammer.found, count, memory_order_relaxed);
}

/* Nobody else uses this granule, but others use its entry. */
static void hammer_own(uint32_t worker, uint64_t random)
{
    uint32_t now = atomic_load(&hammer.window), place = SHARED + worker, none;
    struct rt_recent found[RT_RECENT_CELLS], access = sealed(place, now, worker, random);
    rt_recent_visit(now, hammer.granules[place], &access, found, &none);
    if (!rt_recent_forget(now, hammer.granules[place], 1 + random % RT_GRANULE))
        return;
    access = sealed(place, now, worker + WORKERS, random);
    atomic_fetch_add(&hammer.left_over,
                     rt_recent_visit(now, hammer.granules[place], &access, found, &none));
    rt_recent_forget(now, hammer.granules[place], RT_GRANULE);
}

static void *work(void *arg)
{
    uint32_t worker = (uint32_t)(uintptr_t)arg;
    uint64_t random = seed_of(worker);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint32_t place = draw_below(&random, SHARED + 2);
        if (place < SHARED)
            hammer_shared(place, draw(&random) & 0xffffff);
        else if (place == SHARED)
            hammer_own(worker, draw(&random) & 0xffffff);
        else
            rt_recent_forget(atomic_load(&hammer.window),
                             hammer.granules[draw_below(&random, SHARED)], RT_GRANULE);
        if (draw_below(&random, 1000) == 0)
            atomic_fetch_add(&hammer.window, 1);
    }
    return NULL;
}

static void test_threads(void **state)
{
    pthread_t threads[WORKERS];
    (void)state;
    hammer.granules[0] = GRANULE;
    for (uint32_t i = 1; i < SHARED + WORKERS; i++)
        hammer.granules[i] =
            i % 3 ? other_granule_of(hammer.granules[i - 1]) : GRANULE + i * RT_GRANULE;
    atomic_store(&hammer.window, window);
    for (uintptr_t i = 0; i < WORKERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, (void *)i), 0);
    for (uint32_t i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    window = atomic_load(&hammer.window);
    print_message("%lu found, %lu visits found their entry busy\n", atomic_load(&hammer.found),
                  atomic_load(&rt_recent_busy));
    assert_int_equal(atomic_load(&hammer.wrong), 0);
    assert_int_equal(atomic_load(&hammer.left_over), 0);
    assert_true(atomic_load(&hammer.found) > 1000);
}

int main(void)
{
#define CASE(test) cmocka_unit_test_setup(test, set_up)
    const struct CMUnitTest tests[] = {
        CASE(test_bytes),
        CASE(test_kinds),
        CASE(test_looking_without_entering),
        CASE(test_successor_replaces),
        CASE(test_sites_are_kept),
        CASE(test_own_reads_make_room),
        CASE(test_different_accesses_are_kept),
        CASE(test_latest_has_a_place),
        CASE(test_other_granule_takes_entry),
        CASE(test_windows_are_apart),
        CASE(test_forget),
        CASE(test_forget_with_laggard),
        CASE(test_next),
        CASE(test_busy),
        CASE(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
