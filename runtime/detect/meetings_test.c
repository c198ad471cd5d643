/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of meetings: what is seen of two sites, and that an access is found among
 * the last ones of the other site wherever the two overlap.
 */
#include "meetings.c"

#include "detect/fakes_testing.h"

#include <pthread.h>
#include <string.h>

static struct rt_meetings meetings;

static int set_up(void **state)
{
    (void)state;
    memset(&meetings, 0, sizeof meetings);
    clear_fakes(0, FAKES);
    for (uint32_t i = 0; i < FAKES; i++)
        fakes[i].id = i + 1;
    return 0;
}

static uint32_t note(enum rt_side side, uint32_t thread, uintptr_t address, uint64_t size)
{
    struct rt_access a = {.kind = RH_ACCESS_WRITE, .address = address, .size = size};
    enum rt_side other = side == RT_SIDE_FIRST ? RT_SIDE_SECOND : RT_SIDE_FIRST;
    return rt_meetings_note(&meetings, side, other, &fakes[thread], &a);
}

/* Of a candidate whose two sites are one. */
static uint32_t note_same(uint32_t thread, uintptr_t address, uint64_t size)
{
    struct rt_access a = {.kind = RH_ACCESS_WRITE, .address = address, .size = size};
    return rt_meetings_note(&meetings, RT_SIDE_FIRST, RT_SIDE_FIRST, &fakes[thread], &a);
}

static void test_stages(void **state)
{
    (void)state;
    assert_int_equal(note(RT_SIDE_FIRST, 0, 0x1000, 4), RH_SEEN_FIRST);
    assert_int_equal(note(RT_SIDE_SECOND, 0, 0x1000, 4), RH_SEEN_SECOND);
    assert_int_equal(note(RT_SIDE_SECOND, 1, 0x2010, 4), RH_SEEN_SECOND | RH_SEEN_THREADS);
    assert_int_equal(note(RT_SIDE_SECOND, 1, 0x1000, 4),
                     RH_SEEN_SECOND | RH_SEEN_THREADS | RH_SEEN_MEET);
    /* Each access that meets says so, in either order. */
    assert_int_equal(note(RT_SIDE_FIRST, 2, 0x2010, 1),
                     RH_SEEN_FIRST | RH_SEEN_THREADS | RH_SEEN_MEET);
}

static void test_one_site(void **state)
{
    (void)state;
    const uint32_t both = RH_SEEN_FIRST | RH_SEEN_SECOND;
    assert_int_equal(note_same(0, 0x1000, 8), both);
    assert_int_equal(note_same(0, 0x1000, 8), both);
    assert_int_equal(note_same(1, 0x2010, 8), both | RH_SEEN_THREADS);
    assert_int_equal(note_same(1, 0x1004, 4), both | RH_SEEN_THREADS | RH_SEEN_MEET);
}

/* Accesses of one side do not meet each other. */
static void test_one_side(void **state)
{
    (void)state;
    assert_int_equal(note(RT_SIDE_FIRST, 0, 0x1000, 8), RH_SEEN_FIRST);
    assert_int_equal(note(RT_SIDE_FIRST, 1, 0x1000, 8), RH_SEEN_FIRST);
}

/* Every size against every size at every distance: exactly those that overlap. */
static void test_overlaps(void **state)
{
    static const uint64_t sizes[] = {1, 2, 4, 7, 8, 9, 16, 100, 5000};
    enum { SIZES = sizeof sizes / sizeof sizes[0] };
    for (int i = 0; i < SIZES; i++)
        for (int j = 0; j < SIZES; j++)
            for (int64_t distance = -120; distance <= 120; distance++) {
                uintptr_t at = 0x10003 + (uintptr_t)distance;
                set_up(state);
                note(RT_SIDE_FIRST, 0, 0x10003, sizes[i]);
                bool met = note(RT_SIDE_SECOND, 1, at, sizes[j]) & RH_SEEN_MEET;
                bool overlaps = 0x10003 < at + sizes[j] && at < 0x10003 + sizes[i];
                assert_int_equal(met, overlaps);
            }
}

/* As many as there are slots are kept, and of wide accesses the last few. */
static void test_what_is_kept(void **state)
{
    for (uint32_t i = 0; i < RT_MEETINGS_SLOTS; i++)
        note(RT_SIDE_FIRST, 0, 0x1000 + i * 8, 8);
    for (uint32_t i = 0; i < RT_MEETINGS_SLOTS; i++)
        assert_true(note(RT_SIDE_SECOND, 1, 0x1000 + i * 8, 8) & RH_SEEN_MEET);
    set_up(state);
    for (uint32_t i = 0; i < 2 * RT_MEETINGS_WIDE; i++)
        note(RT_SIDE_FIRST, 0, 0x10000 + i * 0x1000, 0x1000);
    for (uint32_t i = 0; i < 2 * RT_MEETINGS_WIDE; i++)
        assert_int_equal((note(RT_SIDE_SECOND, 1, 0x10000 + i * 0x1000, 4) & RH_SEEN_MEET) != 0,
                         i >= RT_MEETINGS_WIDE);
}

static void test_extremes(void **state)
{
    (void)state;
    assert_int_equal(note(RT_SIDE_FIRST, 0, 0x1000, 0), RH_SEEN_FIRST);
    assert_int_equal(note(RT_SIDE_SECOND, 1, 0x1000, 8), RH_SEEN_SECOND | RH_SEEN_THREADS);
    assert_false(note(RT_SIDE_FIRST, 0, 0x1004, 0) & RH_SEEN_MEET);
    /* What is longer than can be kept is kept as long as can be. */
    note(RT_SIDE_FIRST, 0, 0x100000000, 0x200000000);
    assert_true(note(RT_SIDE_SECOND, 1, 0x1f0000000, 8) & RH_SEEN_MEET);
    /* At the end of the addresses. */
    note(RT_SIDE_FIRST, 0, UINTPTR_MAX - 3, 4);
    assert_true(note(RT_SIDE_SECOND, 1, UINTPTR_MAX - 1, 1) & RH_SEEN_MEET);
    assert_false(note(RT_SIDE_SECOND, 1, 0, 4) & RH_SEEN_MEET);
}

/* Threads that note at once: each its own addresses, so nobody may meet. */
static _Atomic uint32_t wrong;

static void *note_often(void *arg)
{
    uint32_t thread = (uint32_t)(uintptr_t)arg;
    for (uint32_t i = 0; i < 200000; i++) {
        /* Own slots, too: a slot that two write at once may mix them, and a look at it then finds
         * nothing. */
        uintptr_t at = 0x100000 + thread * 0x10000 + thread * 128 + i % 8 * 8;
        if (note((enum rt_side)(i & 1), thread, at, 8) & RH_SEEN_MEET)
            atomic_fetch_add(&wrong, 1);
    }
    return NULL;
}

static void test_many_threads(void **state)
{
    (void)state;
    pthread_t threads[4];
    for (uintptr_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, note_often, (void *)i), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(wrong, 0);
    assert_true(note(RT_SIDE_FIRST, 9, 0x100008, 8) & RH_SEEN_MEET);
}

#define CASE(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_stages),       CASE(test_one_site), CASE(test_one_side),     CASE(test_overlaps),
        CASE(test_what_is_kept), CASE(test_extremes), CASE(test_many_threads),
    };
    return cmocka_run_group_tests_name("meetings", tests, NULL, NULL);
}
