/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of locks in common: known ones, those of a thread that had none to show yet, and what it
 * had carried into the window. */
#include "held.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static bool knows;

bool rt_sync_knows_held(const struct rt_thread *thread)
{
    (void)thread;
    return knows;
}

/* Two that have different bits. */
static const char first_lock[64], second_lock[64];
static const void *others(void)
{
    const char *other = second_lock;
    while (bit_of(other) == bit_of(first_lock))
        other++;
    return other;
}

static struct rt_recent access_with(uint32_t locks, uint8_t slot)
{
    return (struct rt_recent){.epoch = 1, .locks = locks, .slot = slot};
}

static int set_up(void **state)
{
    (void)state;
    knows = true;
    rt_held_forget();
    return 0;
}

static void test_known(void **state)
{
    (void)state;
    struct rt_thread a = {.held_count = 1, .held = {{.lock = first_lock}}};
    struct rt_thread b = {.held_count = 1, .held = {{.lock = others()}}};
    struct rt_recent x = access_with(rt_held_by(&a), 1), y = access_with(rt_held_by(&b), 2);
    assert_false(rt_held_in_common(&x, &y));
    b.held[b.held_count++].lock = first_lock;
    y.locks = rt_held_by(&b);
    assert_true(rt_held_in_common(&x, &y) && rt_held_in_common(&y, &x));
}

/* It gave nothing back that it had not taken in the window: it held none. */
static void test_nothing_carried(void **state)
{
    (void)state;
    struct rt_thread a = {.slot = 1}, b = {.held_count = 1, .held = {{.lock = first_lock}}};
    knows = false;
    struct rt_recent early = access_with(rt_held_by(&a), 1);
    knows = true;
    struct rt_recent late = access_with(rt_held_by(&b), 2);
    a.held[a.held_count++].lock = first_lock;
    rt_held_event(&a, RT_SYNC_MUTEX_LOCK, first_lock);
    rt_held_event(&a, RT_SYNC_MUTEX_UNLOCK, first_lock);
    assert_false(rt_held_in_common(&late, &early));
}

static void test_carried(void **state)
{
    (void)state;
    struct rt_thread a = {.slot = 1}, b = {.held_count = 1, .held = {{.lock = first_lock}}};
    struct rt_recent early = access_with(ANY, 1), late = access_with(rt_held_by(&b), 2);
    rt_held_event(&a, RT_SYNC_MUTEX_UNLOCK, first_lock);
    assert_true(rt_held_in_common(&late, &early));
    rt_held_forget();
    assert_false(rt_held_in_common(&late, &early));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_known, set_up),
        cmocka_unit_test_setup(test_nothing_carried, set_up),
        cmocka_unit_test_setup(test_carried, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
