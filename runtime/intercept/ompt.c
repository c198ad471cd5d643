/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tool that OpenMP's library tells of regions, barriers and tasks (OMPT, OpenMP 5.0, chapter
 * 4): what comes of it is order between threads. The library asks for `ompt_start_tool` when it is
 * first used, before it starts threads.
 *
 * Teams and tasks have numbers, and what is given from thread to thread goes through objects that
 * the numbers stand for:
 *   a region begins       the encountering thread gives to the team, each thread of it takes
 *   a barrier, its end    each thread gives to the team before, and takes from it behind
 *   a region ends         the encountering thread takes from the team
 *   a task is created     the creator gives to the task; whoever runs it takes
 *   a task is suspended   its thread gives to the task; whoever goes on with it takes
 *   a task is complete    its thread gives to its parent (taskwait) and to the team (barriers,
 *                         groups), before anyone may know that it is
 *   a taskwait ends       the task takes what was given to it as a parent
 *   a group ends          its thread takes from the team
 *   dependences           a task that has some gives to one object for all when it is complete, and
 *                         takes from it when it begins
 * The last two rows order more than the program does, as two numbers may that are the same when
 * they have been counted round: a race may be missed, none is invented.
 *
 * Locks are not followed here: the library tells of their release too late (racehive/openmp.h).
 * Untied and detached tasks make the process opaque.
 */
#include "intercept/openmp.h"

#include "opaque.h"
#include "sync.h"

const volatile void *rt_openmp_dependences(void)
{
    static const uint64_t object[2];
    return object;
}

#ifndef RT_STATIC

#include <dlfcn.h>

/* --- the interface, as far as it is used --- */

/* A word that the library keeps for us with each region and task; 0 at first. */
struct ompt_data {
    uint64_t value;
};

enum ompt_event {
    OMPT_PARALLEL_BEGIN = 3,
    OMPT_PARALLEL_END = 4,
    OMPT_TASK_CREATE = 5,
    OMPT_TASK_SCHEDULE = 6,
    OMPT_IMPLICIT_TASK = 7,
    OMPT_SYNC_REGION_WAIT = 16,
    OMPT_SYNC_REGION = 23,
};

enum ompt_endpoint { OMPT_BEGIN = 1, OMPT_END = 2, OMPT_BEGIN_END = 3 };
enum ompt_sync_region { OMPT_TASKWAIT = 5, OMPT_TASKGROUP = 6, OMPT_REDUCTION = 7 };
enum ompt_status { OMPT_YIELD = 2, OMPT_DETACH = 4, OMPT_SWITCH = 7 };
enum { OMPT_SET_ALWAYS = 5, OMPT_TASK_TASKWAIT = 0x10, OMPT_TASK_UNTIED = 0x10000000 };

typedef void ompt_callback(void);
typedef ompt_callback *ompt_lookup(const char *name);
typedef int ompt_set_callback(int event, ompt_callback *callback);

struct ompt_start_tool_result {
    int (*initialize)(ompt_lookup *lookup, int device, struct ompt_data *tool);
    void (*finalize)(struct ompt_data *tool);
    struct ompt_data tool;
};

/* --- what we keep in those words --- */

/* Of a region, the number of its team. Of a task that the program creates: its own number, its
 * parent's, its team's, and whether it depends on others. 0 is nobody. */
enum { TASK_BITS = 24, TEAM_BITS = 15 };
enum { TASKS = (1 << TASK_BITS) - 1, TEAMS = (1 << TEAM_BITS) - 1 };
_Static_assert(2 * TASK_BITS + TEAM_BITS + 1 == 64, "one word for each task");

struct task {
    uint32_t id, parent, team;
    bool depends;
};

/* Regions that a thread is in, one within the other: in each it runs one implicit task and no
 * other. Their words are left alone, because libomp 19 takes one that is not 0 for a fault when the
 * thread next waits for dependences. */
enum { DEEPEST = 16 };

static _Thread_local struct {
    uint32_t depth;
    struct task tasks[DEEPEST];
} implicit __attribute__((tls_model("initial-exec")));

/* What the calling thread knows of a task: one that the program has created, or its own. */
static struct task read_task(const struct ompt_data *data)
{
    uint64_t word = data ? data->value : 0;
    if (!word && implicit.depth && implicit.depth <= DEEPEST)
        return implicit.tasks[implicit.depth - 1];
    return (struct task){
        .id = word & TASKS,
        .parent = word >> TASK_BITS & TASKS,
        .team = word >> 2 * TASK_BITS & TEAMS,
        .depends = word >> (2 * TASK_BITS + TEAM_BITS),
    };
}

static void write_task(struct ompt_data *data, struct task t)
{
    data->value = t.id | (uint64_t)t.parent << TASK_BITS | (uint64_t)t.team << 2 * TASK_BITS |
                  (uint64_t)t.depends << (2 * TASK_BITS + TEAM_BITS);
}

static uint32_t new_number(_Atomic uint32_t *last, uint32_t most)
{
    return atomic_fetch_add(last, 1) % most + 1;
}

static _Atomic uint32_t last_task, last_team;

/* Like rt_thread_object: no memory, and nothing else. */
enum kind { TEAM, TASK, PARENT };

static const volatile void *object_of(enum kind kind, uint32_t number)
{
    uintptr_t from = UINTPTR_MAX / 2 + 1 + ((uintptr_t)1 << 56) + ((uintptr_t)kind << 48);
    return (const volatile void *)(from + ((uintptr_t)number << 4));
}

static void give(enum kind kind, uint32_t number)
{
    if (number)
        rt_sync(RT_SYNC_BARRIER_ARRIVE, object_of(kind, number));
}

static void take(enum kind kind, uint32_t number)
{
    if (number)
        rt_sync(RT_SYNC_BARRIER_LEAVE, object_of(kind, number));
}

/* --- regions and barriers --- */

static void begin_parallel(struct ompt_data *task, const void *frame, struct ompt_data *parallel,
                           unsigned requested, int flags, const void *caller)
{
    (void)task, (void)frame, (void)requested, (void)flags, (void)caller;
    rt_opaque_loaded(); /* the library looks for allocators when it begins */
    parallel->value = new_number(&last_team, TEAMS);
    give(TEAM, (uint32_t)parallel->value);
}

static void end_parallel(struct ompt_data *parallel, struct ompt_data *task, int flags,
                         const void *caller)
{
    (void)task, (void)flags, (void)caller;
    take(TEAM, (uint32_t)parallel->value);
}

/* A thread of a team may tell of the end only when it begins the next region. */
static void tell_implicit_task(int endpoint, struct ompt_data *parallel, struct ompt_data *data,
                               unsigned size, unsigned index, int flags)
{
    (void)data, (void)size, (void)index, (void)flags;
    if (endpoint == OMPT_END) {
        implicit.depth -= implicit.depth > 0;
        return;
    }
    uint32_t team = parallel ? (uint32_t)parallel->value : 0;
    if (implicit.depth < DEEPEST)
        implicit.tasks[implicit.depth] =
            (struct task){.id = new_number(&last_task, TASKS), .team = team};
    else
        rt_opaque(RH_OPAQUE_OPENMP);
    implicit.depth++;
    take(TEAM, team);
}

/* A thread may run tasks while it waits; what they do is given when they are complete. */
static void tell_sync_region(int kind, int endpoint, struct ompt_data *parallel,
                             struct ompt_data *task, const void *caller)
{
    (void)parallel, (void)caller;
    struct task t = read_task(task);
    if (kind == OMPT_REDUCTION)
        return;
    if (kind == OMPT_TASKWAIT) {
        if (endpoint & OMPT_END)
            take(PARENT, t.id);
        return;
    }
    if (kind != OMPT_TASKGROUP && (endpoint & OMPT_BEGIN))
        give(TEAM, t.team);
    if (endpoint & OMPT_END)
        take(TEAM, t.team);
}

/* --- tasks --- */

static void create_task(struct ompt_data *creator, const void *frame, struct ompt_data *created,
                        int flags, int has_dependences, const void *caller)
{
    (void)frame, (void)caller;
    struct task by = read_task(creator);
    struct task t = {.id = new_number(&last_task, TASKS),
                     .parent = by.id,
                     .team = by.team,
                     .depends = has_dependences};
    /* The word of a wait for dependences must stay 0; openmp.c sees those. */
    if (!created || (flags & OMPT_TASK_TASKWAIT))
        return;
    if (flags & OMPT_TASK_UNTIED)
        rt_opaque(RH_OPAQUE_OPENMP);
    write_task(created, t);
    give(TASK, t.id);
}

static void schedule_task(struct ompt_data *prior, int status, struct ompt_data *next)
{
    struct task from = read_task(prior), to = read_task(next);
    if (status == OMPT_DETACH)
        rt_opaque(RH_OPAQUE_OPENMP);
    give(TASK, from.id);
    if (status != OMPT_YIELD && status != OMPT_SWITCH) {
        give(PARENT, from.parent);
        give(TEAM, from.team);
        if (from.depends)
            rt_sync(RT_SYNC_BARRIER_ARRIVE, rt_openmp_dependences());
    }
    take(TASK, to.id);
    if (to.depends)
        rt_sync(RT_SYNC_BARRIER_LEAVE, rt_openmp_dependences());
}

/* --- the beginning --- */

static const struct {
    enum ompt_event event;
    ompt_callback *callback;
} callbacks[] = {
    {OMPT_PARALLEL_BEGIN, (ompt_callback *)begin_parallel},
    {OMPT_PARALLEL_END, (ompt_callback *)end_parallel},
    {OMPT_IMPLICIT_TASK, (ompt_callback *)tell_implicit_task},
    {OMPT_SYNC_REGION, (ompt_callback *)tell_sync_region},
    {OMPT_SYNC_REGION_WAIT, (ompt_callback *)tell_sync_region},
    {OMPT_TASK_CREATE, (ompt_callback *)create_task},
    {OMPT_TASK_SCHEDULE, (ompt_callback *)schedule_task},
};

/* A library that cannot tell of all of it is not followed, and makes the process opaque. */
static int initialize(ompt_lookup *lookup, int device, struct ompt_data *tool)
{
    (void)device, (void)tool;
    ompt_set_callback *set = (ompt_set_callback *)lookup("ompt_set_callback");
    bool all = set != NULL;
    for (size_t i = 0; all && i < sizeof callbacks / sizeof callbacks[0]; i++)
        all = set(callbacks[i].event, callbacks[i].callback) == OMPT_SET_ALWAYS;
    rt_opaque_follow_openmp(all);
    return 1;
}

static void finalize(struct ompt_data *tool)
{
    (void)tool;
}

/* Idle, the library finds its next tool, as if we were not here. */
RT_EXPORT __attribute__((weak)) struct ompt_start_tool_result *ompt_start_tool(unsigned version,
                                                                               const char *library);

struct ompt_start_tool_result *ompt_start_tool(unsigned version, const char *library)
{
    static struct ompt_start_tool_result ours = {.initialize = initialize, .finalize = finalize};
    typedef struct ompt_start_tool_result *start_tool(unsigned, const char *);
    rt_start();
    if (atomic_load(&rt_mode) == RT_MODE_LIVE)
        return &ours;
    start_tool *next = (start_tool *)dlsym(RTLD_NEXT, "ompt_start_tool");
    return next ? next(version, library) : NULL;
}

#endif
