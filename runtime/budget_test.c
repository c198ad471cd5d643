/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of the budget on a clock of our own: how large the budgets are and when, the alarm and its
 * end, and that overlapping pauses count once, as the time during which at least one thread is
 * paused.
 */
#include "arch/x86_64/syscall.h"
#include "arch/x86_64/ticks.h"

#include <stdbool.h>
#include <stdint.h>

/* Time passes when a test says so, at TICKS_PER_US. */
enum { TICKS_PER_US = 3000 };
static _Atomic int64_t now_ns;
static uint64_t used_processor_ns;
static uint64_t measured_ticks; /* added when the ticks are read */

static uint64_t fake_ticks(void);
static long fake_syscall(long number, long a, long b, long c, long d, long e, long f);
#define rt_arch_ticks   fake_ticks
#define rt_arch_syscall fake_syscall
#include "budget.c"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { PPM = 1000000, MS_NS = 1000000, S_NS = 1000000000 };

/* What a test does when the clock has just been read: as if its thread were preempted there. */
static void (*after_reading)(void);

int64_t rt_sys_monotonic_ns(void)
{
    int64_t now = atomic_load(&now_ns);
    void (*then)(void) = after_reading;
    after_reading = NULL;
    if (then)
        then();
    return now;
}

static uint64_t fake_ticks(void)
{
    uint64_t ticks = (uint64_t)atomic_load(&now_ns) * TICKS_PER_US / 1000 + measured_ticks;
    return ticks;
}

static long fake_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    (void)number, (void)a, (void)c, (void)d, (void)e, (void)f;
    struct timespec *used = (struct timespec *)b;
    used->tv_sec = (time_t)(used_processor_ns / S_NS);
    used->tv_nsec = (long)(used_processor_ns % S_NS);
    return 0;
}

static uint32_t wakes;

void rt_service_wake(void)
{
    wakes++;
}

/* The program waits. */
static void wait_for(uint64_t ns)
{
    atomic_fetch_add(&now_ns, (int64_t)ns);
}

/* It works half of the time. */
static void pass(uint64_t ns)
{
    wait_for(ns);
    used_processor_ns += ns / 2;
}

/* A new process. */
static void begin(uint64_t overhead, uint64_t floor_ms)
{
    atomic_store(&now_ns, 1234567 * 1000);
    used_processor_ns = measured_ticks = wakes = 0;
    atomic_store(&rt_budget_alarm, false);
    atomic_store(&rt_budget_tasks_alarm, false);
    atomic_store(&is_shared, false);
    atomic_store(&hook_budget, UINT64_MAX);
    atomic_store(&ticks_per_us, 2000);
    for (int i = 0; i < RT_METER_COUNT; i++)
        atomic_store(&taken[i], 0);
    atomic_store(&cover, 0);
    atomic_store(&paid_us, 0);
    atomic_store(&reserved_us, 0);
    after_reading = NULL;
    rt_budget_start(overhead, floor_ms);
}

/* --- hooks and events --- */

/* Hooks that take so much together, as they are sampled: of 5 us each. */
static void spend_on(enum rt_meter meter, uint64_t ns)
{
    enum { HOOK_NS = 5000 };
    for (; ns >= HOOK_NS * RT_METER_EVERY; ns -= HOOK_NS * RT_METER_EVERY)
        rt_meter_add(meter, HOOK_NS * TICKS_PER_US / 1000 - UNMEASURED_TICKS);
    uint64_t rest = ns * TICKS_PER_US / 1000 / RT_METER_EVERY;
    if (rest > UNMEASURED_TICKS)
        rt_meter_add(meter, rest - UNMEASURED_TICKS);
}

static void spend(uint64_t ns)
{
    spend_on(RT_METER_HOOKS, ns);
}

static void test_sampling(void **state)
{
    (void)state;
    enum { HOOKS = 64 * RT_METER_EVERY };
    struct rt_thread self = {0};
    uint32_t measured = 0;
    begin(PPM / 50, 0);
    pass(S_NS);
    rt_budget_tick();
    for (uint32_t i = 0; i < HOOKS; i++) {
        uint64_t began = rt_meter_begin(&self);
        measured += began != 0;
        pass(100); /* each takes 100 ns, and what cannot be measured */
        rt_meter_end(&self, RT_METER_SYNCS, began);
    }
    assert_int_equal(measured, HOOKS / RT_METER_EVERY);
    uint64_t expected = HOOKS * (100 + UNMEASURED_TICKS * 1000 / TICKS_PER_US);
    assert_in_range(rt_budget_spent(RT_METER_SYNCS), expected * 99 / 100, expected * 101 / 100);
    assert_int_equal(rt_budget_spent(RT_METER_HOOKS), 0);
}

/* A hook that lost the processor for 10 ms was not at work for so long. */
static void test_preempted_hook(void **state)
{
    (void)state;
    begin(PPM / 50, 0);
    pass(S_NS);
    rt_budget_tick();
    rt_meter_add(RT_METER_HOOKS, 10 * MS_NS / 1000 * TICKS_PER_US);
    uint64_t expected = (uint64_t)RT_METER_EVERY * LONG_US * 1000;
    assert_in_range(rt_budget_spent(RT_METER_HOOKS), expected * 99 / 100, expected * 101 / 100);
}

/* What is always measured counts once. */
static void test_charge(void **state)
{
    (void)state;
    begin(PPM / 50, 0);
    pass(S_NS);
    rt_budget_tick();
    rt_meter_charge(RT_METER_HOOKS, 3 * MS_NS);
    assert_in_range(rt_budget_spent(RT_METER_HOOKS), 2990000, 3000000);
    assert_false(atomic_load(&rt_budget_alarm));
    rt_meter_charge(RT_METER_HOOKS, 40 * MS_NS);
    assert_true(atomic_load(&rt_budget_alarm));
}

/* A thread that was paused has not worked all the time. */
static void test_pauses_are_no_work(void **state)
{
    (void)state;
    struct rt_thread self = {.metered = RT_METER_EVERY - 1};
    begin(PPM / 50, 0);
    uint64_t began = rt_meter_begin(&self);
    assert_true(began);
    self.paused = true;
    pass(S_NS);
    rt_meter_end(&self, RT_METER_HOOKS, began);
    assert_int_equal(rt_budget_spent(RT_METER_HOOKS), 0);
    self.metered = RT_METER_EVERY - 1;
    rt_meter_begin(&self);
    assert_false(self.paused);
}

/* The budget: two in a hundred of the time, and of a grace at the beginning. */
static void test_alarm_and_its_end(void **state)
{
    (void)state;
    begin(PPM / 50, 0);
    spend(6 * MS_NS); /* before the first tick the clock's rate is guessed, for the grace alone */
    assert_false(atomic_load(&rt_budget_alarm));
    spend(4 * MS_NS);
    assert_true(atomic_load(&rt_budget_alarm));
    begin(PPM / 50, 0);
    pass(2 * S_NS - GRACE_NS);
    rt_budget_tick();
    spend(39 * MS_NS);
    assert_false(atomic_load(&rt_budget_alarm));
    spend(2 * MS_NS);
    assert_true(atomic_load(&rt_budget_alarm));
    assert_int_equal(wakes, 1);
    spend(MS_NS);
    assert_int_equal(wakes, 1); /* once is enough */
    pass(S_NS / 5);             /* 42 ms of 44 are spent: not a quarter is left */
    rt_budget_tick();
    assert_true(atomic_load(&rt_budget_alarm));
    pass(S_NS); /* 42 of 64 */
    rt_budget_tick();
    assert_false(atomic_load(&rt_budget_alarm));
    spend(23 * MS_NS);
    assert_true(atomic_load(&rt_budget_alarm));
    assert_int_equal(wakes, 2);
}

/* Beside a scout they have a quarter: 10 ms of 40. */
static void test_share_of_tasks(void **state)
{
    (void)state;
    begin(PPM / 50, 0);
    rt_budget_share();
    pass(2 * S_NS - GRACE_NS);
    rt_budget_tick();
    spend(20 * MS_NS);
    assert_false(atomic_load(&rt_budget_tasks_alarm));
    spend_on(RT_METER_TASKS, 6 * MS_NS);
    assert_true(atomic_load(&rt_budget_tasks_alarm));
    assert_false(atomic_load(&rt_budget_alarm));
    assert_int_equal(wakes, 1);
    pass(2 * S_NS); /* 6 of 10 */
    rt_budget_tick();
    assert_false(atomic_load(&rt_budget_tasks_alarm));
    spend(60 * MS_NS); /* of all */
    assert_true(atomic_load(&rt_budget_alarm) && atomic_load(&rt_budget_tasks_alarm));
}

/* Without a scout they have all of it. */
static void test_tasks_alone(void **state)
{
    (void)state;
    begin(PPM / 50, 0);
    pass(2 * S_NS - GRACE_NS);
    rt_budget_tick();
    spend_on(RT_METER_TASKS, 39 * MS_NS);
    assert_false(atomic_load(&rt_budget_tasks_alarm));
    spend_on(RT_METER_TASKS, 2 * MS_NS);
    assert_true(atomic_load(&rt_budget_alarm) && atomic_load(&rt_budget_tasks_alarm));
}

static void test_tick_finds_it_too(void **state)
{
    (void)state;
    begin(PPM / 50, 0);
    atomic_store(&hook_budget, UINT64_MAX); /* a guess that was far off */
    pass(MS_NS / 2);
    rt_budget_tick(); /* too early to measure anything */
    spend(S_NS);
    assert_false(atomic_load(&rt_budget_alarm));
    pass(MS_NS);
    rt_budget_tick();
    assert_true(atomic_load(&rt_budget_alarm));
}

/* Many threads work more than one second in a second. */
static void test_processor_time_fills_it(void **state)
{
    (void)state;
    begin(PPM / 50, 0);
    pass(2 * S_NS - GRACE_NS);
    used_processor_ns = 8ull * S_NS - GRACE_NS;
    rt_budget_tick();
    spend(159 * MS_NS);
    assert_false(atomic_load(&rt_budget_alarm));
    spend(2 * MS_NS);
    assert_true(atomic_load(&rt_budget_alarm));
}

/* A program that has waited for 90 of 100 seconds spends what 20 earn, and the first five. */
static void test_waiting_earns_little(void **state)
{
    (void)state;
    begin(PPM / 50, 0);
    wait_for(100ull * S_NS);
    used_processor_ns = 10ull * S_NS - GRACE_NS / 2;
    rt_budget_tick();
    spend(499 * MS_NS);
    assert_false(atomic_load(&rt_budget_alarm));
    spend(2 * MS_NS);
    assert_true(atomic_load(&rt_budget_alarm));
}

/* --- pauses --- */

/* Begins a pause, whose thread is to be let go when it is over. */
static bool pause_for(uint64_t ns)
{
    int64_t until = 0, now = atomic_load(&now_ns);
    bool begun = rt_budget_pause_begin(ns, &until);
    if (begun)
        assert_in_range(until, now + (int64_t)ns - 1000, now + (int64_t)ns);
    return begun;
}

static void test_budget_of_pauses(void **state)
{
    (void)state;
    begin(PPM / 50, 10000);
    assert_true(pause_for(200 * MS_NS)); /* what ten seconds earn */
    assert_false(pause_for(201 * MS_NS));
    pass(50 * MS_NS);
    assert_int_equal(rt_budget_paused(), 50 * MS_NS);
    rt_budget_pause_end();
    assert_int_equal(rt_budget_paused(), 50 * MS_NS);
    assert_false(pause_for(151 * MS_NS));
    assert_true(pause_for(150 * MS_NS));
    pass(150 * MS_NS);
    rt_budget_pause_end();
    assert_false(pause_for(MS_NS));
    pass(20ull * S_NS); /* beyond the floor, time earns */
    assert_false(pause_for(210 * MS_NS));
    assert_true(pause_for(204 * MS_NS));
    rt_budget_pause_end();
    assert_int_equal(rt_budget_paused(), 200 * MS_NS);
}

static void test_no_overhead_no_pause(void **state)
{
    (void)state;
    begin(0, 10000);
    pass(100ull * S_NS);
    assert_false(pause_for(1000));
    assert_int_equal(rt_budget_paused(), 0);
}

static void test_after_fork(void **state)
{
    (void)state;
    begin(PPM / 50, 10000);
    assert_true(pause_for(200 * MS_NS));
    pass(10 * MS_NS);
    rt_budget_after_fork();
    pass(100 * MS_NS);
    assert_int_equal(rt_budget_paused(), 10 * MS_NS);
    assert_false(pause_for(191 * MS_NS));
    assert_true(pause_for(190 * MS_NS));
    rt_budget_pause_end();
}

/* A pause that overlaps others adds only the time by which it is longer. */
static void test_overlapping_is_paid_once(void **state)
{
    (void)state;
    begin(PPM / 50, 10000);
    assert_true(pause_for(150 * MS_NS));
    pass(50 * MS_NS);
    assert_true(pause_for(100 * MS_NS)); /* for nothing */
    assert_false(pause_for(151 * MS_NS));
    assert_true(pause_for(150 * MS_NS)); /* for 50 ms, the last */
    pass(10 * MS_NS);
    rt_budget_pause_end();
    rt_budget_pause_end();
    assert_int_equal(rt_budget_paused(), 60 * MS_NS);
    assert_false(pause_for(141 * MS_NS)); /* the third goes on until 200 */
    pass(20 * MS_NS);
    rt_budget_pause_end();
    assert_int_equal(rt_budget_paused(), 80 * MS_NS); /* the rest is given back */
    assert_true(pause_for(120 * MS_NS));
    rt_budget_pause_end();
}

/* A thread that was let go, but got no processor for some time, was not paused meanwhile. */
static void test_late_end(void **state)
{
    (void)state;
    begin(PPM / 50, 10000);
    assert_true(pause_for(100 * MS_NS));
    pass(180 * MS_NS);
    assert_int_equal(rt_budget_paused(), 100 * MS_NS);
    assert_true(pause_for(100 * MS_NS)); /* before the first has ended */
    pass(30 * MS_NS);
    rt_budget_pause_end();
    rt_budget_pause_end();
    assert_int_equal(rt_budget_paused(), 130 * MS_NS);
}

static void end_another_later(void)
{
    pass(100 * MS_NS);
    rt_budget_pause_end();
}

/* One thread looks at the clock and is preempted; another is paused on, and ends before it. */
static void test_preempted_at_the_end(void **state)
{
    (void)state;
    begin(PPM, 1000000);
    assert_true(pause_for(S_NS));
    assert_true(pause_for(S_NS));
    pass(100 * MS_NS);
    after_reading = end_another_later;
    rt_budget_pause_end();
    assert_int_equal(rt_budget_paused(), 200 * MS_NS);
}

/* --- the union, measured by others --- */

enum { THREADS = 4, PAUSES = 1000 };

static struct {
    pthread_rwlock_t clock; /* it stands still while someone begins or ends */
    _Atomic uint32_t paused;
    _Atomic uint32_t running;
    uint64_t sum_ns;
} measured;

/* Takes some time. On a busy machine, thousands of calls of sched_yield would take minutes. */
static void dawdle(uint64_t *random, uint32_t most)
{
    *random = *random * 6364136223846793005ull + 1442695040888963407ull;
    for (uint32_t times = (uint32_t)(*random >> 33) % most * 32; times; times--)
        __builtin_ia32_pause();
}

static void pause_once(uint64_t *random)
{
    pthread_rwlock_rdlock(&measured.clock);
    int64_t until;
    bool begun = rt_budget_pause_begin(S_NS, &until);
    atomic_fetch_add(&measured.paused, begun);
    pthread_rwlock_unlock(&measured.clock);
    if (!begun)
        return;
    dawdle(random, 4);
    pthread_rwlock_rdlock(&measured.clock);
    rt_budget_pause_end();
    atomic_fetch_sub(&measured.paused, 1);
    pthread_rwlock_unlock(&measured.clock);
    dawdle(random, 32);
}

static void *pause_often(void *arg)
{
    uint64_t random = (uintptr_t)arg;
    for (int i = 0; i < PAUSES; i++)
        pause_once(&random);
    atomic_fetch_sub(&measured.running, 1);
    return NULL;
}

static void let_time_pass(void)
{
    uint64_t random = 0;
    while (atomic_load(&measured.running)) {
        pthread_rwlock_wrlock(&measured.clock);
        measured.sum_ns += atomic_load(&measured.paused) ? 7000 : 0;
        pass(7000);
        pthread_rwlock_unlock(&measured.clock);
        dawdle(&random, 4);
    }
}

static void test_union_of_overlapping_pauses(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    begin(PPM, 1000000000);
    pthread_rwlock_init(&measured.clock, NULL);
    atomic_store(&measured.running, THREADS);
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, pause_often, (void *)(i + 1)), 0);
    let_time_pass();
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    print_message("%lu of %ld us\n", measured.sum_ns / 1000,
                  (long)(atomic_load(&now_ns) - began_ns) / 1000);
    assert_true(measured.sum_ns > 0 && (int64_t)measured.sum_ns <= atomic_load(&now_ns) - began_ns);
    assert_int_equal(rt_budget_paused(), measured.sum_ns);
    assert_int_equal(atomic_load(&cover) & COUNT_MASK, 0);
    assert_int_equal(atomic_load(&reserved_us), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sampling),
        cmocka_unit_test(test_preempted_hook),
        cmocka_unit_test(test_charge),
        cmocka_unit_test(test_pauses_are_no_work),
        cmocka_unit_test(test_alarm_and_its_end),
        cmocka_unit_test(test_share_of_tasks),
        cmocka_unit_test(test_tasks_alone),
        cmocka_unit_test(test_tick_finds_it_too),
        cmocka_unit_test(test_processor_time_fills_it),
        cmocka_unit_test(test_waiting_earns_little),
        cmocka_unit_test(test_budget_of_pauses),
        cmocka_unit_test(test_no_overhead_no_pause),
        cmocka_unit_test(test_after_fork),
        cmocka_unit_test(test_overlapping_is_paid_once),
        cmocka_unit_test(test_late_end),
        cmocka_unit_test(test_preempted_at_the_end),
        cmocka_unit_test(test_union_of_overlapping_pauses),
    };
    return cmocka_run_group_tests_name("budget", tests, NULL, NULL);
}
