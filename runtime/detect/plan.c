/* SPDX-License-Identifier: Apache-2.0 */
/* What a run is asked to do: see plan.h. */
#include "plan.h"

#include "budget.h"
#include "evidence/pause.h"
#include "hook.h"
#include "keys.h"
#include "opaque.h"
#include "shared.h"
#include "sys.h"

static struct rt_plan *the_plan;
static _Atomic(struct rt_plan *) current;
static bool wants_order;                          /* the detector does, for this plan */
static bool is_armed;                             /* atomics and fences are */
static bool is_cool;                              /* keys are off until the budget has recovered */
static uint64_t seen_executions[RH_MAX_TASKS][2]; /* at the last look at the budget */

struct rh_result *rt_plan_result(uint32_t task)
{
    return &rt_shared()->results[task];
}

void rt_plan_note(uint32_t task, uint32_t seen)
{
    struct rh_result *result = rt_plan_result(task);
    if (seen & ~atomic_load_explicit(&result->seen, memory_order_relaxed))
        atomic_fetch_or(&result->seen, seen);
}

/* --- accesses --- */

static struct rt_plan_site *site_at(struct rt_plan *p, struct rh_site_name name)
{
    uint32_t word = rh_site_word(name.image, name.site) + 1, at = (word * 0x9e3779b1u) >> 24;
    while (p->sites[at].word && p->sites[at].word != word)
        at = (at + 1) % RT_PLAN_SITES;
    return &p->sites[at];
}
_Static_assert(RT_PLAN_SITES == 256 && RT_PLAN_SITES >= 4 * RH_MAX_TASKS,
               "found by the upper eight bits; half of it is free");

static enum rt_side other_side(const struct rt_task *t, enum rt_side side)
{
    if (t->same)
        return side;
    return side == RT_SIDE_FIRST ? RT_SIDE_SECOND : RT_SIDE_FIRST;
}

static void visit_each(struct rt_thread *self, struct rt_plan *p, uint64_t tasks, enum rt_side side,
                       const struct rt_access *a,
                       void (*visit)(struct rt_thread *, const struct rt_visit *))
{
    for (; tasks; tasks &= tasks - 1) {
        uint32_t index = (uint32_t)__builtin_ctzll(tasks);
        struct rt_task *t = &p->tasks[index];
        const struct rt_visit v = {.plan = p,
                                   .task = t,
                                   .index = index,
                                   .side = side,
                                   .other = other_side(t, side),
                                   .access = a};
        visit(self, &v);
    }
}

void rt_plan_visit(struct rt_thread *self, const struct rt_access *a,
                   void (*visit)(struct rt_thread *, const struct rt_visit *))
{
    enum { FIRST_PAGE = 4096 }; /* a null pointer that a library function leaves alone */
    struct rt_plan *p = atomic_load_explicit(&current, memory_order_acquire);
    if (!p || a->users == RT_KEYS_SCOUT || a->ignored || self->in_hook > 1 ||
        a->address < FIRST_PAGE ||
        atomic_load_explicit(&rt_budget_tasks_alarm, memory_order_relaxed))
        return;
    const struct rt_image *image = a->image->runtime;
    const struct rt_plan_site *s = site_at(p, (struct rh_site_name){image->number, a->site});
    visit_each(self, p, s->first, RT_SIDE_FIRST, a, visit);
    visit_each(self, p, s->second, RT_SIDE_SECOND, a, visit);
}

/* --- keys --- */

/* The sites of all tasks that are in one image, in one batch. */
static bool arm_tasks_in(const struct rt_plan *p, uint32_t number, bool on)
{
    uint32_t sites[2 * RH_MAX_TASKS], count = 0;
    struct rt_image *image = rt_image_at(number);
    for (uint32_t i = 0; image && i < p->count; i++) {
        const struct rt_task *t = &p->tasks[i];
        if (on && t->dropped)
            continue;
        if (t->task.first.image == number && t->task.first.site < image->site_count)
            sites[count++] = t->task.first.site;
        if (t->task.second.image == number && t->task.second.site < image->site_count)
            sites[count++] = t->task.second.site;
    }
    return !count || rt_keys_sites(image, sites, count, RT_KEYS_TASK, on);
}

static void arm_tasks(const struct rt_plan *p, bool on)
{
    bool good = true;
    for (uint32_t i = 0; i < rt_image_count(); i++)
        good &= arm_tasks_in(p, i, on);
    if (!good && on)
        rt_opaque(RH_OPAQUE_KEYS);
}

/* All atomics and fences of an image; what cannot be switched on leaves order unseen. */
static void arm_order_in(struct rt_image *image, bool on)
{
    const struct rh_image *tables = image->image;
    size_t size = image->site_count * sizeof(uint32_t);
    if (!tables || !size)
        return;
    uint32_t *sites = rt_map(size), count = 0;
    for (uint32_t s = 0; sites && s < image->site_count; s++) {
        const struct rh_site_record *site = &tables->sites[s];
        if (site->access == RH_ACCESS_READ || site->access == RH_ACCESS_WRITE)
            continue;
        sites[count++] = s;
        if (on && site->size > 8)
            rt_order_widen();
    }
    if ((!sites || (count && !rt_keys_sites(image, sites, count, RT_KEYS_ORDER, on))) && on)
        rt_opaque(RH_OPAQUE_KEYS);
    if (sites)
        rt_unmap(sites, size);
}

static void arm_order(bool on)
{
    is_armed = on;
    for (uint32_t i = 0; i < rt_image_count(); i++) {
        struct rt_image *image = rt_image_at(i);
        if (image)
            arm_order_in(image, on);
    }
    rt_order_allow(on);
}

/* Order first: it is told of whoever comes to a site. */
static void switch_on(const struct rt_plan *p)
{
    if (wants_order)
        arm_order(true);
    arm_tasks(p, true);
}

static void switch_off(const struct rt_plan *p)
{
    rt_order_allow(false);
    rt_pause_release_all();
    arm_tasks(p, false);
    if (is_armed)
        arm_order(false);
}

/* --- tasks --- */

/* Of any image, loaded or not: its number will not be another's. */
static void add_site(struct rt_plan *p, const struct rh_site_name *name, uint64_t first,
                     uint64_t second)
{
    struct rt_plan_site *s = site_at(p, *name);
    /* Hooks may look at the same time: they find all of it, or nothing. */
    __atomic_fetch_or(&s->first, first, __ATOMIC_RELEASE);
    __atomic_fetch_or(&s->second, second, __ATOMIC_RELEASE);
    __atomic_store_n(&s->word, rh_site_word(name->image, name->site) + 1, __ATOMIC_RELEASE);
}

static void add_sites_of(struct rt_plan *p, uint32_t index)
{
    struct rt_task *t = &p->tasks[index];
    uint64_t bit = 1ull << index;
    t->same =
        t->task.first.image == t->task.second.image && t->task.first.site == t->task.second.site;
    add_site(p, &t->task.first, bit, 0);
    if (!t->same)
        add_site(p, &t->task.second, 0, bit);
}

static void fill(struct rt_plan *p, const struct rh_task *tasks, uint32_t count)
{
    volatile uint64_t *words = (volatile uint64_t *)p;
    for (size_t i = 0; i < sizeof *p / sizeof *words; i++)
        words[i] = 0;
    p->count = count < RH_MAX_TASKS ? count : RH_MAX_TASKS;
    for (uint32_t i = 0; i < p->count; i++) {
        p->tasks[i].task = tasks[i];
        add_sites_of(p, i);
    }
    for (uint32_t i = 0; i < RH_MAX_TASKS; i++)
        seen_executions[i][0] = seen_executions[i][1] = 0;
}
_Static_assert(sizeof(struct rt_plan) % sizeof(uint64_t) == 0, "cleared by words");

bool rt_plan_take(const struct rh_task *tasks, uint32_t count, bool with_order)
{
    if (!the_plan && !(the_plan = rt_map(sizeof *the_plan)))
        return true;
    if (atomic_exchange(&current, NULL))
        switch_off(the_plan);
    if (!rt_hooks_drain())
        return false;
    fill(the_plan, tasks, count);
    wants_order = with_order;
    is_cool = false;
    atomic_store(&current, the_plan);
    switch_on(the_plan);
    return true;
}

static bool arm_site(const struct rh_site_name *name)
{
    struct rt_image *image = rt_image_at(name->image);
    return image && name->site < image->site_count &&
           rt_keys_sites(image, &name->site, 1, RT_KEYS_TASK, true);
}

bool rt_plan_add(const struct rh_task *task, uint32_t attempts)
{
    struct rt_plan *p = atomic_load(&current);
    if (!p || is_cool || p->count == RH_MAX_TASKS)
        return false;
    p->tasks[p->count] = (struct rt_task){.task = *task, .more = attempts};
    add_sites_of(p, p->count++);
    wants_order = true;
    if (!is_armed)
        arm_order(true);
    return arm_site(&task->first) && arm_site(&task->second);
}

void rt_plan_image(struct rt_image *image)
{
    const struct rt_plan *p = atomic_load(&current);
    if (is_armed)
        arm_order_in(image, true);
    if (p && !is_cool)
        arm_tasks_in(p, image->number, true);
}

/* --- the budget --- */

static uint64_t executions_of(const struct rt_plan *p, uint32_t task, uint32_t side)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < RT_PLAN_STRIPES; i++)
        sum += __atomic_load_n(&p->executions[i][task][side], __ATOMIC_RELAXED);
    return sum;
}

/* How often a task's sites ran since the last look. */
static uint64_t recent(const struct rt_plan *p, uint32_t task)
{
    uint64_t sum = 0;
    for (uint32_t side = 0; side < 2; side++)
        sum += executions_of(p, task, side) - seen_executions[task][side];
    return sum;
}

static void cool_down(struct rt_plan *p)
{
    enum { GOOD_PART = 16 };
    uint64_t all = 0;
    for (uint32_t i = 0; i < p->count; i++)
        all += recent(p, i);
    switch_off(p);
    for (uint32_t i = 0; i < p->count; i++) {
        bool is_hot = recent(p, i) > all / GOOD_PART;
        rt_plan_note(i, is_hot ? RH_SEEN_HOT : RH_SEEN_UNTRACKED);
        if (is_hot && p->tasks[i].task.stage == RH_STAGE_MEET)
            p->tasks[i].dropped = true;
    }
    is_cool = true;
}

static void publish_costs(void)
{
    struct rh_shared *shared = rt_shared();
    atomic_store(&shared->hook_ns,
                 rt_budget_spent(RT_METER_HOOKS) + rt_budget_spent(RT_METER_SYNCS) +
                     rt_budget_spent(RT_METER_KEYS) + rt_budget_spent(RT_METER_TASKS));
    atomic_store(&shared->pause_ns, rt_budget_paused());
    atomic_fetch_or(&shared->opaque, rt_opaque_reasons());
}

void rt_plan_tick(void)
{
    struct rt_plan *p = atomic_load(&current);
    rt_budget_tick();
    rt_order_collect();
    if (!p)
        return;
    bool alarm = atomic_load(&rt_budget_tasks_alarm);
    if (alarm && !is_cool) {
        cool_down(p);
    } else if (!alarm && is_cool) {
        is_cool = false;
        switch_on(p);
    }
    for (uint32_t i = 0; i < p->count; i++)
        for (uint32_t side = 0; side < 2; side++)
            seen_executions[i][side] = executions_of(p, i, side);
    publish_costs();
}

/* Several processes may tell: the most of one of them counts. */
static void raise(_Atomic uint64_t *most, uint64_t count)
{
    uint64_t before = atomic_load(most);
    while (before < count && !atomic_compare_exchange_weak(most, &before, count))
        continue;
}

void rt_plan_finish(void)
{
    const struct rt_plan *p = atomic_load(&current);
    for (uint32_t i = 0; p && i < p->count; i++)
        for (uint32_t side = 0; side < 2; side++)
            raise(&rt_plan_result(i)->executions[side], executions_of(p, i, side));
    publish_costs();
}
