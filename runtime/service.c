/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime's own thread: see service.h. */
#include "service.h"

#include <sched.h>

#include "keys.h"
#include "lock.h"
#include "options.h"
#include "racehive/random.h"
#include "shared.h"
#include "sys.h"
#include "text.h"
#include "thread.h"

enum { FLIP_BATCH = 64 };

static uint64_t first_random(void)
{
    uint64_t seed = rt_options.seed;
    if (!seed)
        seed = (uint64_t)rt_sys_monotonic_ns() ^ (uint64_t)rt_sys_getpid() << 40;
    return rh_random_seed(seed);
}

/* Some sites, or now and then all of an image: a gate is off only while no key behind it is on. */
static void flip_some(uint64_t *random)
{
    enum { ALL_IN = 4 };
    uint32_t sites[FLIP_BATCH];
    uint32_t count = rt_image_count();
    struct rt_image *image = count ? rt_image_at(rh_random_below(random, count)) : NULL;
    if (!image || !image->site_count)
        return;
    bool on = rh_random_below(random, 2);
    if (rh_random_below(random, ALL_IN) == 0) {
        rt_keys_sites(image, NULL, image->site_count, RT_KEYS_ALL, on);
        return;
    }
    for (uint32_t i = 0; i < FLIP_BATCH; i++)
        sites[i] = rh_random_below(random, image->site_count);
    rt_keys_sites(image, sites, FLIP_BATCH, RT_KEYS_ALL, on);
}

static void flip_for_ever(void)
{
    uint64_t random = first_random();
    _Atomic uint32_t never = 0;
    for (;;) {
        flip_some(&random);
        rt_sys_futex_wait(&never, 0, (int64_t)rt_options.flip_interval * 1000);
    }
}

/* The tasks that keys were last switched for. */
static struct rt_lock tasks_lock;
static struct rh_task current[RH_MAX_TASKS];
static uint32_t current_count;

static bool switch_site(const struct rh_site_name *name, bool on)
{
    struct rt_image *image = rt_image_at(name->image);
    if (!image || name->site >= image->site_count)
        return false;
    return rt_keys_sites(image, &name->site, 1, RT_KEYS_ALL, on);
}

static bool switch_tasks(bool on)
{
    bool good = true;
    for (uint32_t i = 0; i < current_count; i++) {
        good &= switch_site(&current[i].first, on);
        good &= switch_site(&current[i].second, on);
    }
    return good;
}

/* The generation that has been applied. */
static uint32_t applied;

static bool take_tasks(const struct rh_control *control)
{
    uint32_t count = control->task_count;
    if (rt_detector->tasks)
        return rt_detector->tasks(control->tasks, count);
    switch_tasks(false);
    current_count = count < RH_MAX_TASKS ? count : RH_MAX_TASKS;
    for (uint32_t i = 0; i < current_count; i++)
        current[i] = control->tasks[i];
    return true;
}

/* False: not now. */
static bool apply_tasks(struct rh_control *control, uint32_t generation)
{
    rt_lock(&tasks_lock);
    bool taken = take_tasks(control);
    bool good = taken && (rt_detector->tasks || switch_tasks(true));
    rt_unlock(&tasks_lock);
    if (!taken)
        return false;
    applied = generation;
    atomic_store(&control->applied, generation);
    rt_post(RH_EVENT_APPLIED, 0, generation, good, 0, 0);
    return true;
}

/* Without a controller, a run works on candidates of its own choice: any pause may be the right
 * one, short ones are tried more often. */
static void choose_tasks(const struct rt_image *image, struct rh_control *control)
{
    enum { LONGEST_US = 200000 };
    uint64_t random = first_random();
    uint32_t candidates = image->image->counts[3];
    uint32_t count = rt_options.tasks < RH_MAX_TASKS ? (uint32_t)rt_options.tasks : RH_MAX_TASKS;
    for (uint32_t i = 0; i < count && candidates; i++) {
        const uint32_t *pair = image->image->candidates[rh_random_below(&random, candidates)];
        uint32_t pause = 1000;
        while (pause < LONGEST_US && rh_random_below(&random, 2))
            pause *= 2;
        control->tasks[i] = (struct rh_task){
            .id = i,
            .stage = RH_STAGE_STEER,
            .order = rh_random_below(&random, 2),
            .pause_us = pause < LONGEST_US ? pause : LONGEST_US,
            .first = {.site = pair[0]},
            .second = {.site = pair[1]},
        };
        control->task_count = i + 1;
    }
    atomic_store(&control->generation, control->task_count > 0);
}

/* What is asked for from the beginning is there before the program's first instruction. */
static void begin(const struct rt_image *image)
{
    if (!rt_options.control[0] && rt_detector->tasks && rt_equal(rt_options.keys, "task"))
        choose_tasks(image, rt_shared_control_self());
    struct rh_control *control = rt_control();
    uint32_t generation = control ? atomic_load(&control->generation) : 0;
    if (generation)
        apply_tasks(control, generation);
    rt_service_start();
}

void rt_service_image(struct rt_image *image)
{
    if (atomic_load(&rt_mode) != RT_MODE_LIVE)
        return;
    if (image->is_executable) {
        begin(image);
        return;
    }
    rt_lock(&tasks_lock);
    if (rt_detector->image)
        rt_detector->image(image);
    for (uint32_t i = 0; i < current_count; i++) {
        if (current[i].first.image == image->number)
            switch_site(&current[i].first, true);
        if (current[i].second.image == image->number)
            switch_site(&current[i].second, true);
    }
    rt_unlock(&tasks_lock);
}

void rt_service_image_gone(struct rt_image *image)
{
    if (atomic_load(&rt_mode) != RT_MODE_LIVE || !rt_detector->image_gone)
        return;
    rt_lock(&tasks_lock);
    rt_detector->image_gone(image);
    rt_unlock(&tasks_lock);
}

static void tick(void)
{
    rt_lock(&tasks_lock);
    rt_detector->tick();
    rt_unlock(&tasks_lock);
}

static void follow_control(struct rh_control *control)
{
    enum { TICK_NS = 10000000 };
    for (;;) {
        uint32_t generation = atomic_load(&control->generation);
        bool is_done = generation == applied || apply_tasks(control, generation);
        bool ticks = rt_detector->tick;
        if (ticks)
            tick();
        rt_sys_futex_wait_shared(&control->generation, generation,
                                 is_done && !ticks ? -1 : TICK_NS);
    }
}

void rt_service_wake(void)
{
    struct rh_control *control = rt_control();
    if (control)
        rt_sys_futex_wake_shared(&control->generation);
}

static bool wants_flips(void)
{
    return rt_equal(rt_options.keys, "flip");
}

static int serve(void *arg)
{
    (void)arg;
    if (wants_flips())
        flip_for_ever();
    else
        follow_control(rt_control());
    return 0;
}

void rt_service_first_keys(void)
{
    if (rt_equal(rt_options.keys, "all"))
        rt_keys_all(true);
    else if (!wants_flips() && !rt_equal(rt_options.keys, "task"))
        rt_complain("RACEHIVE_OPTIONS: keys is task, all or flip, not '", rt_options.keys, "'");
}

void rt_service_fork_before(void)
{
    rt_lock(&tasks_lock);
}

void rt_service_fork_after(void)
{
    rt_unlock(&tasks_lock);
}

/* libc's clone by its other name: clone itself is wrapped, for threads of the program's. */
extern int __clone(int (*function)(void *), void *stack, int flags, void *arg, ...);

/*
 * Made with clone and not with pthread_create: libc does not count it, so a process whose main
 * thread has ended in pthread_exit still ends with its last thread. In return it must not touch
 * anything of libc's, because it shares its maker's thread-local memory. Signals are blocked in it:
 * they are the program's.
 */
bool rt_service_thread(int (*run)(void *), char **stack, bool shares_files)
{
    enum { STACK_SIZE = 64 * 1024 };
    if (!*stack)
        *stack = rt_map(STACK_SIZE);
    uint64_t signals = rt_signals_block();
    int flags = CLONE_VM | CLONE_FS | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                (shares_files ? CLONE_FILES : 0);
    bool made = *stack && __clone(run, *stack + STACK_SIZE, flags, NULL) >= 0;
    rt_signals_restore(signals);
    return made;
}

void rt_service_start(void)
{
    static char *stack;
    if (!wants_flips() && !rt_control())
        return;
    if (!rt_service_thread(serve, &stack, true))
        rt_complain("cannot start the runtime's own thread; keys stay as they are", "", "");
    if (rt_detector->serve)
        rt_detector->serve();
}
