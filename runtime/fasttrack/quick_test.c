/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses in few instructions, where random executions (track_test.c) seldom come. */
#include "fasttrack/quick.h"

#include "detect/fakes_testing.h"
#include "fasttrack/origins_testing.h"
#include "fasttrack/told.h"
#include "racehive/control.h"

static _Atomic uint64_t counted[RH_LOSS_COUNT];
_Atomic uint64_t *_Atomic rt_losses = counted;

static struct rt_clocks clocks_of_all;

static struct rt_clocks *clocks_of_fake(struct rt_thread *t)
{
    (void)t;
    return &clocks_of_all;
}

/* --- tests --- */

static const struct rh_key_record keys[] = {{.site_count = 1}};
static struct rt_image runtime;
static struct rh_image image = {.runtime = &runtime, .keys = keys};

/* By the second thread. */
static bool check_read(uintptr_t at, uint16_t origin, uint64_t cell)
{
    static _Atomic uint64_t latest;
    atomic_store(&rt_origin_latest[1][0], &latest);
    atomic_store(&latest, rt_quick_context(0, 0) << RT_ORIGIN_NUMBER_BITS | origin);
    rt_quick_ready(&fakes[1], &clocks_of_all, rt_cell_epoch_word(1, rt_cell_epoch(cell)));
    return rt_quick_check(&image, at, 0, RT_SHADOW_GRANULE, 0);
}

static int set_up(void **state)
{
    (void)state;
    rt_clocks_of = clocks_of_fake;
    return rt_clocks_start_exact() && rt_shadow_start(UINT64_MAX) ? 0 : -1;
}

/* Sweeps by ever more threads, of all granules of a line or of every second one: none is lost when
 * there is no room for them in a regular line any more. */
static void check_sweeps_of_many_readers(uintptr_t at, uint64_t stride)
{
    enum { EPOCH = 1 << 30, READERS = 6, LINE = RT_SHADOW_LINE * RT_SHADOW_GRANULE };
    struct rt_clocks clocks = {0}, none = {0};
    struct rt_shadow_cells met;
    rt_shadow_at(at, true);
    for (uint32_t slot = 0; slot <= READERS; slot++) {
        uint64_t cell = rt_cell_make(rt_cell_epoch_word(slot, EPOCH), 0, slot == 0, false, 1);
        uintptr_t from = at;
        while (!rt_quick_sweep(&clocks, &from, at + LINE, stride, RT_SHADOW_GRANULE, cell)) {
            rt_track_enter(&clocks, rt_shadow_at(from, true), cell & ~(0xffull << RT_CELL_BYTES_AT),
                           &met);
            assert_int_equal(met.count, 0);
            from += stride;
        }
        atomic_store(&clocks.known.at[0], EPOCH); /* of the write, which is the first */
        assert_int_equal(rt_shadow_is_regular(rt_shadow_line(rt_shadow_at(at, true))), slot < 3);
        for (uintptr_t each = at; each < at + LINE; each += stride) {
            uint64_t write =
                rt_cell_make(rt_cell_epoch_word(READERS + 1, EPOCH), 0xff, true, false, 1);
            rt_track_compare(&none, rt_shadow_at(each, true), write, &met);
            assert_int_equal(met.count, slot + 1);
        }
    }
}

static void test_sweeps_of_many_readers(void **state)
{
    (void)state;
    clear_fakes(0, FAKES);
    atomic_store(&fakes[0].state, RT_THREAD_RUNNING);
    clocks_of_all = (struct rt_clocks){0}; /* who knows nothing keeps all cells alive */
    check_sweeps_of_many_readers(0x7ffd00000000, 8);
    check_sweeps_of_many_readers(0x7ffd00001000, 16);
    check_sweeps_of_many_readers(0x7ffd00002008, 16);
}

/* A race that was told is entered quickly from then on; another one of the same place is not. */
static void test_a_race_that_was_told(void **state)
{
    enum { EPOCH = 1 << 30 };
    const uintptr_t at = 0x7ffe00000000;
    struct rt_shadow_cells unordered;
    (void)state;
    clear_fakes(0, FAKES);
    fakes[1].slot = 1;
    clocks_of_all = (struct rt_clocks){0};
    struct rt_shadow_granule *granule = rt_shadow_at(at, true);
    for (uint16_t origin = 1; origin <= 2; origin++) {
        uint64_t write =
            rt_cell_make(rt_cell_epoch_word(0, EPOCH + origin), 0xff, true, false, origin);
        uint64_t read = rt_cell_make(rt_cell_epoch_word(1, EPOCH + origin), 0, false, false, 0);
        rt_track_enter(&clocks_of_all, granule, write, &unordered);
        uint16_t own = (uint16_t)(10 + origin);
        assert_false(check_read(at, own, read));
        assert_false(rt_told_add(write, &image, 0));
        assert_true(rt_told_add(write, &image, 0));
        assert_true(check_read(at, own, read));
        assert_int_equal(rt_cell_origin(atomic_load(&granule->first)), own);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_sweeps_of_many_readers, set_up),
        cmocka_unit_test_setup(test_a_race_that_was_told, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
