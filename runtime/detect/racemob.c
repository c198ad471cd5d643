/*
 * The detector `racemob`: validates the candidates that its tasks name.
 *
 * Each access at a site of a task goes through three stages, as far as the task asks for them:
 *   1. context: do two threads touch the same bytes at the two sites? (context.h)
 *   2. order: the access is compared with those that are tracked, and with threads that are held;
 *      if nothing orders it, there is a race. Then it is tracked itself. (order.h)
 *   3. steering: if it would come too early for the order asked for, its thread is held before it,
 *      once for each task and pause length. (pause.h)
 *
 * What is found goes into the shared memory of the run at once, so that a run that crashes or is
 * killed has told all it knew.
 */
#include "budget.h"
#include "context.h"
#include "detect.h"
#include "hook.h"
#include "keys.h"
#include "opaque.h"
#include "options.h"
#include "pause.h"
#include "shared.h"
#include "sys.h"

enum { WATCHES = 256, STRIPES = 16 };

/* A site, and the tasks of which it is the first or the second, as bits. */
struct watch {
    struct rh_image *image; /* NULL: free */
    uint32_t site;
    uint64_t first, second;
};

struct task {
    struct rh_task task;
    bool same;            /* its two sites are one */
    bool dropped;         /* too hot to be worth its cost: off for the rest of the run */
    _Atomic bool steered; /* the one attempt has been made */
    _Atomic uint32_t skipped;
    struct rt_context context;
};

/* What the run is to do. Hooks take the pointer once; it is changed only when no hook is in it. */
struct plan {
    uint32_t count;
    struct task tasks[RH_MAX_TASKS];
    struct watch watches[WATCHES];
    /* Executions of first and second, as threads count them: no two threads of the same stripe run
     * often enough at the same moment to matter. */
    uint64_t executions[STRIPES][RH_MAX_TASKS][2];
};

static struct plan *the_plan;
static _Atomic(struct plan *) plan;
static bool orders;                               /* atomics are armed */
static bool is_cool;                              /* keys are off until the budget has recovered */
static uint64_t seen_executions[RH_MAX_TASKS][2]; /* at the last look at the budget */

static struct rh_result *result_of(uint32_t task)
{
    return &rt_shared()->results[task];
}

/* --- accesses --- */

static struct watch *watch_at(struct plan *p, struct rh_image *image, uint32_t site)
{
    uint32_t at = (site * 0x9e3779b1u) >> 24;
    while (p->watches[at].image && (p->watches[at].image != image || p->watches[at].site != site))
        at = (at + 1) % WATCHES;
    return &p->watches[at];
}
_Static_assert(WATCHES == 256 && WATCHES >= 4 * RH_MAX_TASKS, "upper eight bits; half of it free");

static void note_seen(uint32_t task, uint32_t seen)
{
    struct rh_result *result = result_of(task);
    if (seen & ~atomic_load_explicit(&result->seen, memory_order_relaxed))
        atomic_fetch_or(&result->seen, seen);
}

static void count_one(_Atomic uint32_t *counter)
{
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* The order in which an access of this side comes first, or second. A site that races with itself
 * has only one. */
static enum rh_race_order order_with_first(const struct task *t, enum rt_side side)
{
    return t->same || side == RT_SIDE_FIRST ? RH_ORDER_PRIMARY : RH_ORDER_ALTERNATE;
}

static enum rh_race_order order_with_second(const struct task *t, enum rt_side side)
{
    return t->same || side == RT_SIDE_SECOND ? RH_ORDER_PRIMARY : RH_ORDER_ALTERNATE;
}

/* The comer's access comes first: the held thread is let go after it. */
static void tell_collision(struct rt_thread *self, const struct task *t, uint32_t index,
                           enum rt_side side, const struct rt_access *a,
                           const struct rt_meeting *meeting)
{
    struct rt_witness comer;
    rt_witness_take(self, a, &comer);
    enum rh_race_order order = order_with_first(t, side);
    struct rt_finding f = {.task = index,
                           .order = order,
                           .proof = RH_PROOF_COLLISION,
                           .pause_us = meeting->held_us,
                           .first = &comer,
                           .second = &meeting->held};
    if (rt_finding_report(&f))
        count_one(&result_of(index)->raced[order]);
    note_seen(index, RH_SEEN_MEET | RH_SEEN_THREADS);
}

static void tell_unordered(struct rt_thread *self, const struct task *t, uint32_t index,
                           enum rt_side side, const struct rt_access *a,
                           const struct rt_witness *first)
{
    struct rt_witness second;
    rt_witness_take(self, a, &second);
    enum rh_race_order order = order_with_second(t, side);
    struct rt_finding f = {.task = index,
                           .order = order,
                           .proof = RH_PROOF_UNORDERED,
                           .first = first,
                           .second = &second};
    if (rt_finding_report(&f))
        count_one(&result_of(index)->raced[order]);
}

static void meet(struct rt_thread *self, const struct task *t, uint32_t index, enum rt_side side,
                 enum rt_side other, const struct rt_access *a)
{
    struct rt_meeting meeting;
    if (rt_pause_meet(self, index, other, a, &meeting))
        tell_collision(self, t, index, side, a, &meeting);
}

static void compare(struct rt_thread *self, const struct task *t, uint32_t index, enum rt_side side,
                    enum rt_side other, const struct rt_access *a)
{
    struct rt_order_answer answer;
    rt_order_ask(self, index, other, a, &answer);
    if (answer.ordered)
        count_one(&result_of(index)->ordered[order_with_second(t, side)]);
    if (answer.raced)
        tell_unordered(self, t, index, side, a, &answer.first);
}

struct crowd {
    uint32_t threads;
};

static bool count_running(struct rt_thread *t, void *arg)
{
    struct crowd *crowd = arg;
    crowd->threads += atomic_load(&t->state) == RT_THREAD_RUNNING;
    return crowd->threads < 2;
}

static bool is_alone(void)
{
    struct crowd crowd = {0};
    rt_thread_each(count_running, &crowd);
    return crowd.threads < 2;
}

/* The access that would come too early is the one that is to come second. */
static bool comes_too_early(struct rt_thread *self, const struct task *t, uint32_t index,
                            enum rt_side side, enum rt_side other, const struct rt_access *a)
{
    enum rt_side later = t->task.order == RH_ORDER_PRIMARY ? RT_SIDE_SECOND : RT_SIDE_FIRST;
    return (t->same || side == later) && !rt_order_has(self, index, other, a);
}

static void steer(struct rt_thread *self, struct task *t, uint32_t index, enum rt_side side,
                  enum rt_side other, const struct rt_access *a)
{
    if (atomic_load_explicit(&t->steered, memory_order_relaxed) || !rt_options.steer ||
        !comes_too_early(self, t, index, side, other, a) || is_alone() ||
        atomic_fetch_add(&t->skipped, 1) < t->task.skip || atomic_exchange(&t->steered, true))
        return;
    enum rt_pause_end end = rt_pause(self, index, side, a, t->task.pause_us);
    if (end == RT_PAUSE_REFUSED) {
        note_seen(index, RH_SEEN_UNTRACKED);
        return;
    }
    count_one(&result_of(index)->pauses);
    if (end == RT_PAUSE_MET)
        note_seen(index, RH_SEEN_STEERED);
    else
        count_one(&result_of(index)->timeouts);
}

/* Once its context is confirmed, a candidate goes on to the next stage in the same run. */
static bool is_promoted(const struct task *t, uint32_t index)
{
    return t->task.stage >= RH_STAGE_ORDER ||
           atomic_load_explicit(&result_of(index)->seen, memory_order_relaxed) & RH_SEEN_MEET;
}

static enum rt_side other_side(const struct task *t, enum rt_side side)
{
    if (t->same)
        return side;
    return side == RT_SIDE_FIRST ? RT_SIDE_SECOND : RT_SIDE_FIRST;
}

/* Of a masked access nobody knows which bytes it touches. */
static bool is_in_order_stage(const struct task *t, uint32_t index, const struct rt_access *a)
{
    return is_promoted(t, index) && !(a->flags & RH_SITE_PARTIAL);
}

/* An atomic that acquires is ordered behind what it acquires from: it is compared when it has. */
static bool comes_back(const struct rt_access *a)
{
    const struct rt_image *image = a->image->runtime;
    return image->after_key[a->site] != RT_NO_KEY;
}

static void visit_before(struct rt_thread *self, struct plan *p, uint32_t index, enum rt_side side,
                         const struct rt_access *a)
{
    struct task *t = &p->tasks[index];
    enum rt_side other = other_side(t, side);
    p->executions[self->slot % STRIPES][index][side]++;
    note_seen(index, rt_context_note(&t->context, side, other, self, a));
    if (!is_in_order_stage(t, index, a))
        return;
    meet(self, t, index, side, other, a);
    if (!comes_back(a))
        compare(self, t, index, side, other, a);
    if (t->task.stage >= RH_STAGE_STEER)
        steer(self, t, index, side, other, a);
    if (rt_order_track(self, index, side, a))
        count_one(&result_of(index)->tracked);
}

static void visit_after(struct rt_thread *self, struct plan *p, uint32_t index, enum rt_side side,
                        const struct rt_access *a)
{
    struct task *t = &p->tasks[index];
    if (!is_in_order_stage(t, index, a))
        return;
    meet(self, t, index, side, other_side(t, side), a);
    compare(self, t, index, side, other_side(t, side), a);
}

static void visit_tasks(struct rt_thread *self, const struct rt_access *a,
                        void (*visit)(struct rt_thread *, struct plan *, uint32_t, enum rt_side,
                                      const struct rt_access *))
{
    struct plan *p = atomic_load_explicit(&plan, memory_order_acquire);
    if (!p || a->ignored || self->in_hook > 1 ||
        atomic_load_explicit(&rt_budget_alarm, memory_order_relaxed))
        return;
    const struct watch *w = watch_at(p, a->image, a->site);
    for (uint64_t tasks = w->first; tasks; tasks &= tasks - 1)
        visit(self, p, (uint32_t)__builtin_ctzll(tasks), RT_SIDE_FIRST, a);
    for (uint64_t tasks = w->second; tasks; tasks &= tasks - 1)
        visit(self, p, (uint32_t)__builtin_ctzll(tasks), RT_SIDE_SECOND, a);
}

static bool orders_threads(const struct rt_access *a)
{
    return a->kind != RH_ACCESS_READ && a->kind != RH_ACCESS_WRITE;
}

/* What an atomic gives away includes itself: whoever acquires from it is ordered behind it. */
static void racemob_access(struct rt_thread *self, const struct rt_access *a)
{
    if (a->flags & RH_SITE_AT_LEAST)
        self->open_access = (struct rt_open_access){a->image, a->site, a->address};
    visit_tasks(self, a, visit_before);
    if (orders_threads(a))
        rt_order_before(self, a);
}

static void racemob_after(struct rt_thread *self, const struct rt_access *a)
{
    rt_order_after(self, a);
    visit_tasks(self, a, visit_after);
}

static void count_learned(uint32_t task)
{
    count_one(&result_of(task)->learned);
}

/* --- keys --- */

static bool arm_task(const struct task *t, bool on)
{
    bool good = true;
    const struct rh_site_name *names[2] = {&t->task.first, &t->task.second};
    for (int i = 0; i < 2; i++) {
        struct rt_image *image = rt_image_at(names[i]->image);
        if (image && names[i]->site < image->site_count)
            good &= rt_keys_sites(image, &names[i]->site, 1, on);
    }
    return good;
}

static bool arm_tasks(const struct plan *p, bool on)
{
    bool good = true;
    for (uint32_t i = 0; i < p->count; i++)
        if (!on || !p->tasks[i].dropped)
            good &= arm_task(&p->tasks[i], on);
    return good;
}

/* All atomics and fences of an image; what cannot be switched on leaves order unseen. */
static void arm_orders_of(struct rt_image *image, bool on)
{
    const struct rh_image *tables = image->image;
    size_t size = image->site_count * sizeof(uint32_t);
    uint32_t *sites = tables && size ? rt_map(size) : NULL;
    if (!sites) {
        if (tables && size)
            rt_opaque(RH_OPAQUE_KEYS);
        return;
    }
    uint32_t count = 0;
    for (uint32_t s = 0; s < image->site_count; s++) {
        const struct rh_site_record *site = &tables->sites[s];
        if (site->access == RH_ACCESS_READ || site->access == RH_ACCESS_WRITE)
            continue;
        sites[count++] = s;
        if (on && site->size > 8)
            rt_order_widen();
    }
    if (count && !rt_keys_sites(image, sites, count, on) && on)
        rt_opaque(RH_OPAQUE_KEYS);
    rt_unmap(sites, size);
}

static void arm_orders(bool on)
{
    orders = on;
    for (uint32_t i = 0; i < rt_image_count(); i++) {
        struct rt_image *image = rt_image_at(i);
        if (image)
            arm_orders_of(image, on);
    }
    rt_order_allow(on);
}

static bool wants_order(const struct plan *p)
{
    for (uint32_t i = 0; i < p->count; i++)
        if (p->tasks[i].task.stage >= RH_STAGE_ORDER)
            return true;
    return false;
}

/* Order first: it is told of whoever is watched. */
static void switch_on(const struct plan *p)
{
    if (wants_order(p))
        arm_orders(true);
    if (!arm_tasks(p, true))
        rt_opaque(RH_OPAQUE_KEYS);
}

static void switch_off(const struct plan *p)
{
    rt_order_allow(false);
    rt_pause_release_all();
    arm_tasks(p, false);
    if (orders)
        arm_orders(false);
}

/* --- tasks --- */

static void add_watch(struct plan *p, const struct rh_site_name *name, uint64_t first,
                      uint64_t second)
{
    const struct rt_image *image = rt_image_at(name->image);
    if (!image || !image->image || name->site >= image->site_count)
        return;
    struct watch *w = watch_at(p, image->image, name->site);
    w->image = image->image;
    w->site = name->site;
    w->first |= first;
    w->second |= second;
}

static void watch_task(struct plan *p, uint32_t index)
{
    struct task *t = &p->tasks[index];
    uint64_t bit = 1ull << index;
    t->same =
        t->task.first.image == t->task.second.image && t->task.first.site == t->task.second.site;
    add_watch(p, &t->task.first, bit, 0);
    if (!t->same)
        add_watch(p, &t->task.second, 0, bit);
}

static void fill(struct plan *p, const struct rh_task *tasks, uint32_t count)
{
    volatile uint64_t *words = (volatile uint64_t *)p;
    for (size_t i = 0; i < sizeof *p / sizeof *words; i++)
        words[i] = 0;
    p->count = count < RH_MAX_TASKS ? count : RH_MAX_TASKS;
    for (uint32_t i = 0; i < p->count; i++) {
        p->tasks[i].task = tasks[i];
        watch_task(p, i);
    }
    for (uint32_t i = 0; i < RH_MAX_TASKS; i++)
        seen_executions[i][0] = seen_executions[i][1] = 0;
    rt_finding_forget();
}
_Static_assert(sizeof(struct plan) % sizeof(uint64_t) == 0, "cleared by words");

static bool racemob_tasks(const struct rh_task *tasks, uint32_t count)
{
    if (!the_plan && !(the_plan = rt_map(sizeof *the_plan)))
        return true;
    if (atomic_exchange(&plan, NULL))
        switch_off(the_plan);
    if (!rt_hooks_drain())
        return false;
    fill(the_plan, tasks, count);
    is_cool = false;
    atomic_store(&plan, the_plan);
    switch_on(the_plan);
    return true;
}

static void racemob_image(struct rt_image *image)
{
    struct plan *p = atomic_load(&plan);
    if (orders)
        arm_orders_of(image, true);
    for (uint32_t i = 0; p && i < p->count; i++) {
        const struct rh_task *task = &p->tasks[i].task;
        if (task->first.image == image->number || task->second.image == image->number) {
            watch_task(p, i);
            arm_task(&p->tasks[i], !is_cool && !p->tasks[i].dropped);
        }
    }
}

/* --- the budget --- */

static uint64_t executions_of(const struct plan *p, uint32_t task, uint32_t side)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < STRIPES; i++)
        sum += __atomic_load_n(&p->executions[i][task][side], __ATOMIC_RELAXED);
    return sum;
}

/* How often a task's sites ran since the last look. */
static uint64_t recent(const struct plan *p, uint32_t task)
{
    uint64_t sum = 0;
    for (uint32_t side = 0; side < 2; side++)
        sum += executions_of(p, task, side) - seen_executions[task][side];
    return sum;
}

/* A task that only asks for context, and that takes a good part of the budget, is not worth it. */
static void cool_down(struct plan *p)
{
    enum { GOOD_PART = 16 };
    uint64_t all = 1;
    for (uint32_t i = 0; i < p->count; i++)
        all += recent(p, i);
    switch_off(p);
    for (uint32_t i = 0; i < p->count; i++) {
        bool is_hot = recent(p, i) >= all / GOOD_PART;
        note_seen(i, is_hot ? RH_SEEN_HOT : RH_SEEN_UNTRACKED);
        if (is_hot && p->tasks[i].task.stage == RH_STAGE_CONTEXT)
            p->tasks[i].dropped = true;
    }
    is_cool = true;
}

static void publish_costs(void)
{
    struct rh_shared *shared = rt_shared();
    atomic_store(&shared->hook_ns,
                 rt_budget_spent(RT_METER_HOOKS) + rt_budget_spent(RT_METER_SYNCS));
    atomic_store(&shared->pause_ns, rt_budget_paused());
    atomic_store(&shared->opaque, rt_opaque_reasons());
}

static void racemob_tick(void)
{
    struct plan *p = atomic_load(&plan);
    rt_budget_tick();
    rt_order_collect();
    if (!p)
        return;
    bool alarm = atomic_load(&rt_budget_alarm);
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

/* --- the run --- */

static bool racemob_start(void)
{
    rt_order_learned = count_learned;
    return rt_shared() != NULL;
}

static void racemob_thread_begin(struct rt_thread *self)
{
    rt_order_thread_begin(self);
}

/* A block is given back by a call that is itself a site: only now is known how far it reaches. */
static void visit_freed(struct rt_thread *self, uintptr_t start, size_t size)
{
    struct rt_open_access open = self->open_access;
    if (!open.image || open.address != start)
        return;
    self->open_access.image = NULL;
    const struct rh_site_record *site = &open.image->sites[open.site];
    const struct rt_access a = {
        .image = open.image,
        .site = open.site,
        .kind = site->access,
        .flags = site->flags,
        .address = start,
        .size = size,
    };
    visit_tasks(self, &a, visit_after);
}

static void racemob_gone(struct rt_thread *self, uintptr_t start, size_t size)
{
    visit_freed(self, start, size);
    rt_order_gone(start, size);
}

static void racemob_after_fork(struct rt_thread *self)
{
    rt_pause_after_fork();
    rt_order_after_fork(self);
}

static void racemob_finish(void)
{
    struct plan *p = atomic_load(&plan);
    for (uint32_t i = 0; p && i < p->count; i++)
        for (uint32_t side = 0; side < 2; side++)
            atomic_store(&result_of(i)->executions[side], executions_of(p, i, side));
    publish_costs();
}

const struct rt_detector rt_detector_racemob = {
    .name = "racemob",
    .summary = "validates candidates: context, happens-before on demand, steering",
    .start = racemob_start,
    .access = racemob_access,
    .after = racemob_after,
    .sync = rt_order_sync,
    .thread_begin = racemob_thread_begin,
    .gone = racemob_gone,
    .after_fork = racemob_after_fork,
    .finish = racemob_finish,
    .tasks = racemob_tasks,
    .image = racemob_image,
    .tick = racemob_tick,
};
