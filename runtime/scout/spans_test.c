/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of the spans of long accesses: what they conflict with, which are kept and forgotten, and
 * that under real threads none is found torn.
 */
#include "spans.c"

#include "detect/fakes_testing.h"

#include <pthread.h>
#include <string.h>

enum { WINDOW = 5, START = 0x10000, SIZE = 1000 };

static uint32_t hints;
static struct rt_recent found[RT_SPANS];

static struct rt_recent access_of(uint32_t site, uint8_t slot, bool is_write)
{
    return (struct rt_recent){
        .site = site, .epoch = 1, .slot = slot & 63, .is_write = is_write, .bytes = 1};
}

static void put(uint32_t site, uint8_t slot, bool is_write, uintptr_t start)
{
    struct rt_recent access = access_of(site, slot, is_write);
    rt_spans_put(WINDOW, start, SIZE, &access);
}

static uint32_t find(uint32_t window, uint8_t slot, bool is_write, uintptr_t start)
{
    struct rt_recent access = access_of(999, slot, is_write);
    access.bytes = 0x30;
    return rt_spans_find(window, start, 2, &access, found, &hints);
}

static int set_up(void **state)
{
    (void)state;
    memset(spans, 0, sizeof spans);
    return 0;
}

static void test_conflicts(void **state)
{
    (void)state;
    put(1, 1, false, START);
    assert_int_equal(find(WINDOW, 2, true, START), 1);
    assert_int_equal(found[0].site, 1);
    assert_int_equal(found[0].bytes, 0x30);
    assert_int_equal(find(WINDOW, 2, true, START + SIZE - 1), 1);
    assert_int_equal(find(WINDOW, 2, true, START - 1), 1);
    assert_int_equal(find(WINDOW, 2, true, START + SIZE), 0);
    assert_int_equal(find(WINDOW, 2, true, START - 2), 0);
    assert_int_equal(find(WINDOW, 2, false, START), 0);
    assert_int_equal(find(WINDOW, 1, true, START), 0);
}

static void test_other_windows_are_hints(void **state)
{
    (void)state;
    put(1, 1, true, START);
    assert_int_equal(find(WINDOW + 1, 2, false, START), 0);
    assert_int_equal(hints, 1);
    assert_int_equal(found[0].site, 1);
    assert_int_equal(find(WINDOW, 2, false, START), 1);
    assert_int_equal(hints, 0);
}

static void test_access_without_epoch_is_not_kept(void **state)
{
    (void)state;
    struct rt_recent access = access_of(1, 1, true);
    access.epoch = 0;
    rt_spans_put(WINDOW, START, SIZE, &access);
    assert_int_equal(find(WINDOW, 2, true, START), 0);
}

static void test_successor_replaces_and_oldest_makes_room(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        put(1, 1, true, START);
    assert_int_equal(find(WINDOW, 2, true, START), 1);
    for (uint32_t i = 0; i < 2 * RT_SPANS; i++)
        put(10 + i, 1, true, START);
    assert_int_equal(find(WINDOW, 2, true, START), RT_SPANS);
    for (uint32_t i = 0; i < RT_SPANS; i++)
        assert_true(found[i].site >= 10 + RT_SPANS);
}

static void test_forget(void **state)
{
    (void)state;
    put(1, 1, true, START);
    put(2, 1, true, START + SIZE);
    assert_true(rt_spans_forget(START + SIZE - 1, 1));
    assert_int_equal(find(WINDOW, 2, true, START), 0);
    assert_int_equal(find(WINDOW, 2, true, START + SIZE), 1);
    for (int i = 0; i < RT_SPANS; i++) /* somebody is changing them, for ever */
        spans[i].version = 1;
    assert_false(rt_spans_forget(START + SIZE, 1));
    assert_int_equal(find(WINDOW, 2, true, START + SIZE), 0);
}

/* Every span that is put says the same in each of its fields. */
static void *put_many(void *arg)
{
    uint8_t slot = (uint8_t)(uintptr_t)arg;
    for (uint32_t i = 1; i < 300000; i++) {
        struct rt_recent access = access_of(i % 16, slot, true);
        access.epoch = access.locks = i;
        rt_spans_put(i, (uintptr_t)i * 0x1000, RT_SPAN_LEAST, &access);
        if (i % 100 == 0)
            rt_spans_forget((uintptr_t)i * 0x1000, 1);
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    pthread_t threads[3];
    uint64_t seen = 0;
    for (uintptr_t i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, put_many, (void *)(i + 1)), 0);
    struct rt_recent all[RT_SPANS], me = access_of(999, 9, true);
    do
        rt_spans_find(0, 0, SIZE_MAX / 2, &me, all, &hints);
    while (!hints); /* they have begun */
    for (uint32_t n = 0; n < 200000; n++) {
        uint32_t count = rt_spans_find(0, 0, SIZE_MAX / 2, &me, all, &hints);
        assert_int_equal(count, 0);
        for (uint32_t i = 0; i < hints; i++)
            assert_true(all[i].epoch == all[i].locks && all[i].epoch % 16 == all[i].site);
        seen += hints;
    }
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert_true(seen > 0);
}

#define CASE(test) cmocka_unit_test_setup(test, set_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_conflicts),
        CASE(test_other_windows_are_hints),
        CASE(test_access_without_epoch_is_not_kept),
        CASE(test_successor_replaces_and_oldest_makes_room),
        CASE(test_forget),
        CASE(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
