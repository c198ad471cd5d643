/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of what racemob and litehb conclude from the two hooks of an atomic that may acquire. Other
 * threads run between the hook before it, the atomic and the hook after it: those that acquire from
 * the atomic are ordered behind it and must not be reported, the others must.
 */
#include "evidence/pause.c"

#include "detect.h"
#include "detect/fakes_testing.h"
#include "keys.h"
#include "options.h"
#include "plan.h"
#include "shared.h"

#include "evidence/findings.h"

#include <pthread.h>
#include <sched.h>

/* --- one task, whose first site is an atomic and whose second is a plain write --- */

enum { SITE_ATOMIC, SITE_WRITE, SITES, BLOCK = 0x10000, OTHER_BLOCK = 0x20000, BLOCK_SIZE = 64 };

static uint32_t after_keys[SITES] = {[SITE_ATOMIC] = 0, [SITE_WRITE] = RT_NO_KEY};
static struct rt_image image_record = {.after_key = after_keys};
static struct rh_image image = {.runtime = &image_record};
static struct rt_plan plan;
static struct rh_result result;
static uint32_t collisions, unordered;

void rt_plan_visit(struct rt_thread *self, const struct rt_access *a,
                   void (*visit)(struct rt_thread *, const struct rt_visit *))
{
    bool is_first = a->site == SITE_ATOMIC;
    const struct rt_visit v = {.plan = &plan,
                               .task = &plan.tasks[0],
                               .side = is_first ? RT_SIDE_FIRST : RT_SIDE_SECOND,
                               .other = is_first ? RT_SIDE_SECOND : RT_SIDE_FIRST,
                               .access = a};
    visit(self, &v);
}

struct rh_result *rt_plan_result(uint32_t task)
{
    (void)task;
    return &result;
}

void rt_plan_note(uint32_t task, uint32_t seen)
{
    (void)task;
    atomic_fetch_or(&result.seen, seen);
}

bool rt_finding_report(const struct rt_finding *f)
{
    collisions += f->proof == RH_PROOF_COLLISION;
    unordered += f->proof == RH_PROOF_UNORDERED;
    return true;
}

uint32_t rt_meetings_note(struct rt_meetings *c, enum rt_side side, enum rt_side other,
                          const struct rt_thread *self, const struct rt_access *a)
{
    (void)c, (void)side, (void)other, (void)self, (void)a;
    return 0;
}

/* --- a budget that pays for pauses up to a length --- */

static uint64_t longest_pause_ns;

bool rt_budget_pause_begin(uint64_t ns, int64_t *until_ns)
{
    *until_ns = INT64_MAX;
    return ns <= longest_pause_ns;
}

void rt_budget_pause_end(void)
{
}

void rt_budget_after_fork(void)
{
}

/* --- what no test calls, or what does nothing while no window is open --- */

struct rt_options rt_options;

struct rh_shared *rt_shared(void)
{
    return NULL;
}

bool rt_plan_take(const struct rh_task *tasks, uint32_t count, bool with_order)
{
    (void)tasks, (void)count, (void)with_order;
    return false;
}

bool rt_plan_add(const struct rh_task *task, uint32_t attempts)
{
    (void)task, (void)attempts;
    return false;
}

void rt_plan_image(struct rt_image *loaded)
{
    (void)loaded;
}

void rt_plan_tick(void)
{
}

void rt_plan_finish(void)
{
}

bool rt_scout_start(size_t offset)
{
    (void)offset;
    return false;
}

void rt_scout_access(struct rt_thread *self, const struct rt_access *a)
{
    (void)self, (void)a;
}

void rt_scout_after(struct rt_thread *self, const struct rt_access *a)
{
    (void)self, (void)a;
}

void rt_scout_sync(struct rt_thread *self, enum rt_sync what, const volatile void *object)
{
    (void)self, (void)what, (void)object;
}

void rt_scout_use(struct rt_thread *self, const struct rt_access *a)
{
    (void)self;
    (void)a;
}

void rt_scout_gone(struct rt_thread *self, const struct rt_access *a, uintptr_t start, size_t size)
{
    (void)self, (void)a, (void)start, (void)size;
}

void rt_scout_thread_begin(struct rt_thread *self)
{
    (void)self;
}

void rt_scout_after_fork(void)
{
}

void rt_scout_image(struct rt_image *loaded)
{
    (void)loaded;
}

void rt_scout_image_gone(struct rt_image *loaded)
{
    (void)loaded;
}

void rt_scout_creating(void)
{
}

void rt_scout_tick(void)
{
}

bool rt_scout_next_suspect(struct rh_site_name *first, struct rh_site_name *second,
                           bool *is_second_rarer)
{
    (void)first, (void)second, (void)is_second_rarer;
    return false;
}

/* --- hooks --- */

extern const struct rt_detector rt_detector_racemob, rt_detector_litehb;

static const struct rt_detector *detector; /* that is tested */

static struct rt_access atomic_on(uintptr_t address)
{
    return (struct rt_access){.image = &image,
                              .site = SITE_ATOMIC,
                              .kind = RH_ACCESS_ATOMIC_UPDATE,
                              .order = RH_MO_ACQ_REL,
                              .address = address,
                              .size = 8};
}

static void before_atomic(uint32_t thread, uintptr_t address)
{
    struct rt_access a = atomic_on(address);
    detector->access(&fakes[thread], &a);
}

static void after_atomic(uint32_t thread, uintptr_t address)
{
    struct rt_access a = atomic_on(address);
    detector->after(&fakes[thread], &a);
}

static void whole_atomic(uint32_t thread, uintptr_t address)
{
    before_atomic(thread, address);
    after_atomic(thread, address);
}

static void write_plainly(uint32_t thread, uintptr_t address)
{
    struct rt_access a = {.image = &image,
                          .site = SITE_WRITE,
                          .kind = RH_ACCESS_WRITE,
                          .address = address,
                          .size = 8};
    detector->access(&fakes[thread], &a);
}

static int set_up(const struct rt_detector *tested, enum rh_stage stage)
{
    detector = tested;
    clear_fakes(0, FAKES);
    for (uint32_t i = 0; i < 4; i++) {
        fakes[i].id = i + 1;
        fakes[i].in_hook = 1;
        atomic_store(&fakes[i].state, RT_THREAD_RUNNING);
    }
    memset(&plan, 0, sizeof plan);
    memset(&result, 0, sizeof result);
    plan.count = 1;
    plan.tasks[0].task.stage = stage;
    collisions = unordered = 0;
    rt_order_allow(true);
    return 0;
}

static int set_up_racemob(void **state)
{
    (void)state;
    return set_up(&rt_detector_racemob, RH_STAGE_ORDER);
}

static int set_up_litehb(void **state)
{
    (void)state;
    return set_up(&rt_detector_litehb, RH_STAGE_ORDER);
}

static int set_up_steering(void **state)
{
    (void)state;
    rt_options.steer = true;
    longest_pause_ns = UINT64_MAX;
    return set_up(&rt_detector_racemob, RH_STAGE_STEER);
}

static int tear_down(void **state)
{
    (void)state;
    rt_order_end_all();
    return 0;
}

/* --- order --- */

/* The last owner acquires from the atomic, and then has the bytes to himself. */
static void test_last_owner(void **state)
{
    (void)state;
    before_atomic(0, BLOCK);
    whole_atomic(1, BLOCK);
    write_plainly(1, BLOCK);
    after_atomic(0, BLOCK);
    assert_int_equal(unordered, 0);
}

/* The last owner gives the block back, and it is another thread's when the hook after comes. */
static void test_block_used_again(void **state)
{
    (void)state;
    before_atomic(0, BLOCK);
    whole_atomic(1, BLOCK);
    detector->gone(&fakes[1], BLOCK, BLOCK_SIZE);
    write_plainly(2, BLOCK);
    after_atomic(0, BLOCK);
    assert_int_equal(unordered, 0);
}

/* A signal handler runs behind the atomic, and reaches the same site. */
static void test_last_owner_and_a_handler(void **state)
{
    (void)state;
    before_atomic(0, BLOCK);
    whole_atomic(1, BLOCK);
    write_plainly(1, BLOCK);
    whole_atomic(0, OTHER_BLOCK);
    after_atomic(0, BLOCK);
    assert_int_equal(unordered, 0);
}

static void test_write_before_an_atomic(void **state)
{
    (void)state;
    write_plainly(1, BLOCK);
    whole_atomic(0, BLOCK);
    assert_int_equal(unordered, 1);
}

static void test_write_released_to_an_atomic(void **state)
{
    (void)state;
    write_plainly(1, BLOCK);
    before_atomic(0, BLOCK);
    before_atomic(1, BLOCK); /* what it gives, the other acquires */
    after_atomic(0, BLOCK);
    assert_int_equal(unordered, 0);
}

/* Who writes between the hooks and has not acquired finds the atomic by himself. */
static void test_write_between_the_hooks(void **state)
{
    (void)state;
    before_atomic(0, BLOCK);
    write_plainly(1, BLOCK);
    assert_int_equal(unordered, 1);
    after_atomic(0, BLOCK);
    assert_int_equal(unordered, 1);
}

/* --- collisions --- */

static void *pause_at_write(void *thread)
{
    write_plainly((uint32_t)((struct rt_thread *)thread - fakes), BLOCK);
    return NULL;
}

static uint32_t count_waiting(void)
{
    uint32_t count = 0;
    for (int i = 0; i < SLOTS; i++)
        count += atomic_load(&slots[i].state) % SLOT_STATES == SLOT_WAITING;
    return count;
}

/* A thread that waits until it is met or let go. */
static pthread_t start_paused(uint32_t thread)
{
    pthread_t started;
    uint32_t waiting = count_waiting();
    atomic_store(&plan.tasks[0].steered, false);
    assert_int_equal(pthread_create(&started, NULL, pause_at_write, &fakes[thread]), 0);
    while (count_waiting() == waiting)
        sched_yield();
    return started;
}

/* The last owner again, who is paused before his write. The order asked for is the one in which the
 * other's atomic comes first, and it is not tracked any more. */
static void test_last_owner_is_paused(void **state)
{
    (void)state;
    before_atomic(0, BLOCK);
    whole_atomic(1, BLOCK);
    rt_order_end_all();
    pthread_t owner = start_paused(1);
    after_atomic(0, BLOCK);
    assert_int_equal(collisions, 0);
    rt_pause_release_tasks();
    pthread_join(owner, NULL);
    assert_int_equal(unordered, 0);
}

/* One is met in the hook before the atomic, the other, paused just as long, in the hook after. */
static void test_two_are_paused_before_an_atomic(void **state)
{
    (void)state;
    pthread_t first = start_paused(1), second = start_paused(2);
    before_atomic(0, BLOCK);
    assert_int_equal(collisions, 1);
    after_atomic(0, BLOCK);
    assert_int_equal(collisions, 2);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
}

/* A pause that the budget cannot pay for in full is a shorter one, not none: 200 ms with a head
 * start are more than a run of less than ten seconds has. */
static void test_pause_is_what_the_budget_pays_for(void **state)
{
    (void)state;
    longest_pause_ns = 200000000;
    plan.tasks[0].task.pause_us = 200000;
    pthread_t writer = start_paused(1);
    before_atomic(0, BLOCK);
    after_atomic(0, BLOCK);
    assert_int_equal(collisions, 1);
    pthread_join(writer, NULL);
    assert_false(result.seen & RH_SEEN_UNTRACKED);
}

#define CASES(name)                                                                                \
    {#name " (racemob)", name, set_up_racemob, tear_down, NULL},                                   \
    {                                                                                              \
#name " (litehb)", name, set_up_litehb, tear_down, NULL                                    \
    }
#define STEERED(name) cmocka_unit_test_setup_teardown(name, set_up_steering, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASES(test_last_owner),
        CASES(test_block_used_again),
        CASES(test_last_owner_and_a_handler),
        CASES(test_write_before_an_atomic),
        CASES(test_write_released_to_an_atomic),
        CASES(test_write_between_the_hooks),
        STEERED(test_last_owner_is_paused),
        STEERED(test_two_are_paused_before_an_atomic),
        STEERED(test_pause_is_what_the_budget_pays_for),
    };
    return cmocka_run_group_tests_name("judge", tests, NULL, NULL);
}
