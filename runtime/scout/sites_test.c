/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of which sites are on when, by windows of each width, and of whose stacks are taken. */
#include "sites.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SITES = 8, CHOSEN = 7, OTHER_KIN = 9 };

/* --- an image whose keys are a byte each --- */

static const struct rh_site_record records[SITES] = {
    {.size = 4, .access = RH_ACCESS_READ, .kin = CHOSEN},
    {.size = 4, .access = RH_ACCESS_WRITE, .kin = OTHER_KIN},
    {.size = 4, .access = RH_ACCESS_WRITE, .kin = OTHER_KIN},
    {.size = 4, .access = RH_ACCESS_READ, .kin = OTHER_KIN},
    {.size = 4, .access = RH_ACCESS_ATOMIC_READ, .order = RH_MO_ACQUIRE, .kin = OTHER_KIN},
};
static struct rt_image record = {.site_count = SITES, .is_executable = true};
static struct rh_image image = {.sites = records, .runtime = &record};
static bool is_armed[SITES];
static uint32_t wakes;
static int64_t clock_ns;

static struct rh_shared *shared;
struct rt_options rt_options;

struct rh_shared *rt_shared(void)
{
    return shared;
}

uint32_t rt_image_count(void)
{
    return 1;
}

struct rt_image *rt_image_at(uint32_t number)
{
    return number == 0 ? &record : NULL;
}

bool rt_keys_sites(struct rt_image *which, const uint32_t *sites, uint32_t count,
                   enum rt_keys_user user, bool on)
{
    assert_true(which == &record && user == RT_KEYS_SCOUT);
    for (uint32_t i = 0; i < count; i++)
        is_armed[sites[i]] = on;
    return true;
}

void rt_kin_add(uint16_t kin)
{
    (void)kin;
}

void rt_kin_clear(void)
{
}

void rt_kin_learn(uint16_t kin, const struct rt_kin *site)
{
    (void)kin;
    (void)site;
}

bool rt_kin_choose(uint16_t for_one)
{
    (void)for_one;
    return true;
}

bool rt_kin_is_chosen(uint16_t kin)
{
    return kin == CHOSEN;
}

void rt_opaque(enum rh_opaque why)
{
    fail_msg("opaque: %d", (int)why);
}

void rt_service_wake(void)
{
    wakes++;
}

void rt_meter_charge(enum rt_meter meter, uint64_t ns)
{
    (void)meter;
    (void)ns;
}

int64_t rt_sys_monotonic_ns(void)
{
    return clock_ns;
}

int64_t rt_sys_thread_ns(void)
{
    return 0;
}

void *rt_map(size_t size)
{
    return calloc(1, size);
}

/* --- a run --- */

static struct rt_thread threads[2] = {{.slot = 1}, {.slot = 2}};

static struct rt_access access_of(uint32_t site)
{
    return (struct rt_access){.image = &image, .site = site, .kind = records[site].access};
}

/* How many of these visits are to be watched. */
static uint32_t visit(uint32_t site, const struct rt_thread *thread, uint32_t times)
{
    struct rt_access a = access_of(site);
    enum rt_scout_chance chance;
    uint32_t watched = 0;
    for (uint32_t i = 0; i < times; i++)
        watched += rt_scout_sites_visit(thread, &a, &chance);
    return watched;
}

static void pass(uint32_t steps)
{
    clock_ns += steps * (int64_t)10000000;
    rt_scout_sites_tick();
}

static void open_once(enum rt_scout_width wanted)
{
    rt_scout_sites_open(wanted, 2);
}

static int set_up(void **state)
{
    (void)state;
    free(sites_of[0]);
    free(batch_of[0]);
    free(shared);
    sites_of[0] = NULL;
    shared = calloc(1, sizeof *shared);
    record.image = &image;
    rt_options.scout_visits = 1000;
    memset(is_armed, 0, sizeof is_armed);
    wakes = 0;
    pass(100);
    return shared ? 0 : -1;
}

/* --- tests --- */

static void test_what_is_known(void **state)
{
    (void)state;
    shared->scout.wishes[0] = shared->scout.wishes[1] = RH_SCOUT_KNOWN;
    shared->scout.wishes[2] = RH_SCOUT_FOCUS;
    shared->scout.wishes[4] = RH_SCOUT_KNOWN;
    open_once(RT_SCOUT_WIDE);
    assert_true(is_armed[2] && is_armed[3]);
    assert_false(is_armed[0] || is_armed[1]);
    assert_true(is_armed[4]); /* it orders threads */
    rt_scout_sites_close();
    open_once(RT_SCOUT_NARROW);
    assert_true(is_armed[0]); /* its kin has its turn */
    assert_false(is_armed[1]);
}

/* Beside the chosen kin a narrow window has what runs now and then, and not what runs often. */
static void test_narrow_window(void **state)
{
    (void)state;
    open_once(RT_SCOUT_WIDE);
    visit(1, &threads[0], 2000);
    visit(2, &threads[0], 1);
    pass(1);
    rt_scout_sites_retire();
    rt_scout_sites_close();
    rt_scout_sites_silence();
    open_once(RT_SCOUT_NARROW);
    assert_true(is_armed[0] && is_armed[2] && is_armed[4]);
    assert_false(is_armed[1]); /* often */
    assert_false(is_armed[3]); /* never ran */
}

static void test_stacks(void **state)
{
    (void)state;
    open_once(RT_SCOUT_WIDE);
    uint32_t taken = 0;
    for (uint32_t site = 0; site < 4; site++) {
        struct rt_access a = access_of(site);
        visit(site, &threads[0], 1);
        taken += rt_scout_sites_wants_witness(&a);
    }
    assert_int_equal(taken, 2);
    struct rt_access promising = access_of(3);
    rt_scout_sites_news((struct rh_site_name){0, 3}, RT_SCOUT_PROMISING);
    assert_true(rt_scout_sites_wants_witness(&promising));
}

/* The runtime's own thread learns of a site that runs on after it is worn, once. */
static void test_what_runs_on(void **state)
{
    (void)state;
    open_once(RT_SCOUT_WIDE);
    uint32_t watched = visit(1, &threads[0], 100000);
    assert_true(watched < 100000);
    assert_int_equal(wakes, 1);
    assert_true(atomic_load(&rt_scout_sites_worn));
    rt_scout_sites_retire();
    assert_false(is_armed[1]);
}

int main(void)
{
#define CASE(test) cmocka_unit_test_setup(test, set_up)
    const struct CMUnitTest tests[] = {
        CASE(test_what_is_known),
        CASE(test_narrow_window),
        CASE(test_stacks),
        CASE(test_what_runs_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
