/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Thread classes of the flow analysis: which there are, who starts whom, and the arithmetic of sets
 * of threads that may be alive.
 *
 * What a thread knows of others is what it, or those it started, started. Of two threads that
 * overlap in a run, look at the nearest thread that started both, directly or through others (or is
 * one of them): when it started the later branch, the earlier one was alive in its eyes. So it is
 * enough to note, at every start, that the started thread and all that may come of it overlap with
 * all that are alive for the starter; and for a thread and those that come of it, to ask what is
 * alive in its eyes.
 */
#include "analysis/flow/internal.h"

#include "base/mem.h"

static uint32_t add_thread(struct rh_flow *f, enum rh_thread_kind kind, struct rh_value *call,
                           uint32_t instance)
{
    uint32_t id = (uint32_t)f->threads.len;
    struct flow_thread t = {.public = {.id = id, .kind = kind, .call = call, .instance = instance}};
    rh_vec_push(&f->threads, t);
    return id;
}

/* --- entries --- */

static uint32_t instance_of(struct rh_flow *f, const struct rh_function *fn)
{
    uint32_t count;
    const uint32_t *instances = rh_pointsto_instances_of(f->pointsto, fn, &count);
    return count ? instances[0] : RH_NO_INSTANCE;
}

struct constructor {
    int64_t priority;
    uint32_t instance;
};

/* In the order in which they run: by priority, and as listed. */
static uint32_t list_constructors(struct rh_flow *f, struct constructor **out)
{
    struct rh_value *list = rh_ir_find_global(f->module, "llvm.global_ctors");
    const struct rh_value *init = list ? list->global->init : NULL;
    uint32_t count = 0, rows = init && init->kind == RH_VALUE_AGGREGATE ? init->op_count : 0;
    *out = rh_alloc_array(rows, sizeof **out);
    for (uint32_t i = 0; i < rows; i++) {
        const struct rh_value *row = init->ops[i];
        if (row->kind != RH_VALUE_AGGREGATE || row->op_count < 2 ||
            row->ops[1]->kind != RH_VALUE_FUNCTION)
            continue;
        struct constructor c = {row->ops[0]->num, instance_of(f, row->ops[1]->fn)};
        uint32_t k = count;
        if (c.instance == RH_NO_INSTANCE)
            continue;
        for (; k > 0 && (*out)[k - 1].priority > c.priority; k--)
            (*out)[k] = (*out)[k - 1];
        (*out)[k] = c;
        count++;
    }
    return count;
}

/* What the main thread runs: constructors, then main. */
static void find_first_run(struct rh_flow *f)
{
    struct constructor *constructors;
    uint32_t count = list_constructors(f, &constructors);
    const struct rh_function *fn = rh_ir_find_function(f->module, "main");
    uint32_t main_instance =
        fn && fn->block_count && !f->is_library ? instance_of(f, fn) : RH_NO_INSTANCE;
    f->first_run = rh_arena_array(&f->arena, uint32_t, count + (size_t)1);
    for (uint32_t i = 0; i < count; i++)
        f->first_run[f->first_run_count++] = constructors[i].instance;
    if (main_instance != RH_NO_INSTANCE)
        f->first_run[f->first_run_count++] = main_instance;
    else
        f->is_library = true;
    free(constructors);
    uint32_t thread = add_thread(f, RH_THREAD_MAIN, NULL, RH_NO_INSTANCE);
    for (uint32_t i = 0; i < f->first_run_count; i++)
        rh_idset_add(&f->threads.data[thread].public.entries, f->first_run[i]);
}

/* Threads that the program does not start itself. */
static void find_callers(struct rh_flow *f)
{
    struct rh_idset called = RH_IDSET_INIT;
    for (uint32_t i = 0; i < rh_ir_function_count(f->module); i++) {
        const struct rh_function *fn = rh_ir_function(f->module, i);
        bool is_called = fn->is_entry || (f->is_library && !fn->is_local);
        uint32_t instance = is_called ? instance_of(f, fn) : RH_NO_INSTANCE;
        if (fn->block_count && instance != RH_NO_INSTANCE)
            rh_idset_add(&called, instance);
    }
    for (uint32_t i = 0; f->is_library && i < f->outside_count; i++)
        rh_idset_add(&called, f->outside[i]);
    f->has_callers = f->is_library || !rh_idset_is_empty(&called);
    if (!f->has_callers) {
        rh_idset_release(&called);
        return;
    }
    uint32_t thread = add_thread(f, RH_THREAD_CALLER, NULL, RH_NO_INSTANCE);
    f->threads.data[thread].public.entries = called;
    rh_idset_add(&f->threads.data[0].children, thread);
}

/* Threads that code without bitcode starts begin with what it was given to call. */
static void find_outside_thread(struct rh_flow *f)
{
    if (!f->outside_starts || !f->outside_count)
        return;
    f->outside_thread = add_thread(f, RH_THREAD_OUTSIDE, NULL, RH_NO_INSTANCE);
    for (uint32_t i = 0; i < f->outside_count; i++)
        rh_idset_add(&f->threads.data[f->outside_thread].public.entries, f->outside[i]);
}

/* --- who starts whom --- */

static bool registers_handler(const struct flow_event *ev)
{
    for (uint32_t i = 0; i < ev->call.library_count; i++)
        for (uint32_t k = 0; k < ev->call.libraries[i]->effect_count; k++)
            if (ev->call.libraries[i]->effects[k].kind == RH_EFFECT_HANDLER)
                return true;
    return false;
}

static enum rh_thread_kind kind_of_started(const struct flow_event *ev)
{
    if (ev->is_team)
        return RH_THREAD_TEAM;
    return registers_handler(ev) ? RH_THREAD_HANDLER : RH_THREAD_CREATED;
}

static void read_start(struct rh_flow *f, uint32_t thread, uint32_t instance, struct flow_event *ev)
{
    uint32_t count;
    const uint32_t *entries = rh_pointsto_entries(f->pointsto, instance, ev->inst, &count);
    if (ev->call.unknown && f->outside_thread != FLOW_NONE)
        rh_idset_add(&f->threads.data[thread].children, f->outside_thread);
    if (!count)
        return;
    if (ev->starts == FLOW_NONE) {
        ev->starts = add_thread(f, kind_of_started(ev), ev->inst, instance);
        rh_map_put(&f->thread_of, flow_pair(instance, ev->inst->id), ev->starts);
        for (uint32_t i = 0; i < count; i++)
            rh_idset_add(&f->threads.data[ev->starts].public.entries, entries[i]);
    }
    rh_idset_add(&f->threads.data[thread].children, ev->starts);
}

uint32_t flow_bundle_at_end(const struct rh_flow *f, const struct rh_thread *thread)
{
    if (thread->kind == RH_THREAD_HANDLER)
        return FLOW_NONE; /* its return ends no thread */
    return thread->id == 0 ? f->outside_bundle : f->ends_bundle;
}

/* Follows the calls of one thread; the threads it starts are added behind it. What was left to a
 * library for later may run when the thread ends. */
static void follow(struct rh_flow *f, uint32_t thread)
{
    struct rh_bitset seen = RH_BITSET_INIT;
    uint32_t id;
    size_t bit;
    for (uint64_t at = 0; rh_idset_next(&f->threads.data[thread].public.entries, &at, &id);)
        rh_bitset_set(&seen, id);
    uint32_t bundle = flow_bundle_at_end(f, &f->threads.data[thread].public);
    if (rh_bitset_count(&seen) && bundle != FLOW_NONE)
        rh_bitset_set(&seen, bundle);
    flow_follow_calls(f, &seen);
    for (size_t at = 0; rh_bitset_next(&seen, &at, &bit);)
        for (uint32_t i = 0; i < f->bodies[bit].event_count; i++)
            read_start(f, thread, (uint32_t)bit, &f->bodies[bit].events[i]);
    rh_bitset_release(&seen);
}

/* Adds all threads that can be reached by starts from `from`, without passing `avoided`. */
static void reach(const struct rh_flow *f, uint32_t from, uint32_t avoided, struct rh_idset *out)
{
    RH_VEC(uint32_t) work = RH_VEC_INIT;
    uint32_t id;
    rh_vec_push(&work, from);
    while (work.len) {
        const struct flow_thread *t = &f->threads.data[rh_vec_pop(&work)];
        for (uint64_t at = 0; rh_idset_next(&t->children, &at, &id);)
            if (id != avoided && rh_idset_add(out, id))
                rh_vec_push(&work, id);
    }
    rh_vec_free(&work);
}

/* A thread dominates those that nobody can start but it and its descendants. */
static void find_dominated(struct rh_flow *f, struct flow_thread *t)
{
    struct rh_idset others = RH_IDSET_INIT;
    uint32_t id;
    if (t->public.id == 0)
        return;
    reach(f, 0, t->public.id, &others);
    for (uint64_t at = 0; rh_idset_next(&t->descendants, &at, &id);)
        if (id != t->public.id && !rh_idset_has(&others, id))
            rh_idset_add(&t->dominated, id);
    rh_idset_release(&others);
}

void flow_threads_find(struct rh_flow *f)
{
    find_first_run(f);
    find_callers(f);
    find_outside_thread(f);
    for (uint32_t i = 0; i < f->threads.len; i++)
        follow(f, i);
    for (uint32_t i = 0; i < f->threads.len; i++)
        reach(f, i, FLOW_NONE, &f->threads.data[i].descendants);
    for (uint32_t i = 0; i < f->threads.len; i++)
        find_dominated(f, &f->threads.data[i]);
    rh_vec_each (struct flow_thread, t, &f->threads)
        t->is_single = t->public.kind == RH_THREAD_MAIN ||
                       (t->public.kind == RH_THREAD_CREATED &&
                        flow_runs_at_most_once(f, t->public.instance, t->public.call));
}

void flow_threads_reset(struct rh_flow *f)
{
    rh_vec_each (struct flow_thread, t, &f->threads) {
        rh_bitset_release(&t->overlaps);
        t->exit_alive = 0;
        t->is_walked = false;
        rh_vec_clear(&t->joiners);
    }
}

void flow_threads_release(struct rh_flow *f)
{
    rh_vec_each (struct flow_thread, t, &f->threads) {
        rh_idset_release(&t->public.entries);
        rh_idset_release(&t->children);
        rh_idset_release(&t->descendants);
        rh_idset_release(&t->dominated);
        rh_bitset_release(&t->overlaps);
        rh_vec_free(&t->joiners);
    }
    rh_vec_free(&f->threads);
    rh_map_release(&f->thread_of);
}

/* --- sets of threads that are alive --- */

static void add_bit(struct rh_idset *set, uint32_t thread, enum flow_alive_bit bit)
{
    rh_idset_add(set, thread * ALIVE_BITS + bit);
}

bool flow_alive_has(const struct rh_flow *f, uint32_t alive, uint32_t thread,
                    enum flow_alive_bit bit)
{
    return rh_idset_has(flow_set(&f->alive_sets, alive), thread * ALIVE_BITS + bit);
}

uint32_t flow_alive_start(struct rh_flow *f, uint32_t alive, uint32_t thread)
{
    struct rh_idset set = RH_IDSET_INIT;
    uint32_t id;
    rh_idset_copy(&set, flow_set(&f->alive_sets, alive));
    if (rh_idset_has(&set, thread * ALIVE_BITS + ALIVE))
        add_bit(&set, thread, MANY);
    add_bit(&set, thread, ALIVE);
    const struct flow_thread *t = &f->threads.data[thread];
    for (uint64_t at = 0; rh_idset_next(&t->descendants, &at, &id);)
        for (enum flow_alive_bit bit = ALIVE; bit <= OLD; bit++)
            add_bit(&set, id, bit);
    uint32_t out = flow_set_intern(&f->alive_sets, &set);
    rh_idset_release(&set);
    return out;
}

static bool stays_after_join(const struct rh_flow *f, uint32_t thread, uint32_t id)
{
    const struct flow_thread *t = &f->threads.data[thread];
    if (id == thread)
        return false;
    return f->can_cancel || !rh_idset_has(&t->dominated, id) ||
           flow_alive_has(f, t->exit_alive, id, ALIVE);
}

/* All of the class have ended, and with them whom they have waited for. */
static uint32_t take_out(struct rh_flow *f, uint32_t alive, uint32_t thread)
{
    struct rh_idset set = RH_IDSET_INIT;
    const struct rh_idset *all = flow_set(&f->alive_sets, alive);
    uint32_t id;
    for (uint64_t at = 0; rh_idset_next(all, &at, &id);)
        if (stays_after_join(f, thread, id / ALIVE_BITS))
            rh_idset_add(&set, id);
    uint32_t out = flow_set_intern(&f->alive_sets, &set);
    rh_idset_release(&set);
    return out;
}

/* How many of the classes are alive; `last` is one of them. */
static uint32_t count_alive(const struct rh_flow *f, uint32_t alive, const struct rh_idset *threads,
                            uint32_t *last, bool *any_many)
{
    uint32_t id, count = 0;
    for (uint64_t at = 0; rh_idset_next(threads, &at, &id);) {
        if (!flow_alive_has(f, alive, id, ALIVE))
            continue;
        *last = id;
        *any_many |= flow_alive_has(f, alive, id, MANY);
        count++;
    }
    return count;
}

uint32_t flow_alive_end(struct rh_flow *f, uint32_t alive, uint32_t thread)
{
    return take_out(f, alive, thread);
}

uint32_t flow_alive_join(struct rh_flow *f, uint32_t alive, const struct rh_idset *threads)
{
    uint32_t thread;
    bool any_many = false;
    if (count_alive(f, alive, threads, &thread, &any_many) != 1 || any_many)
        return alive;
    return take_out(f, alive, thread);
}

/* With a handle in shared memory, it may be a thread that another one started. */
bool flow_joins_known(const struct rh_flow *f, uint32_t by, const struct rh_idset *threads,
                      bool own_handle)
{
    const struct flow_thread *t = &f->threads.data[by];
    bool all = own_handle || t->is_single;
    uint32_t id;
    for (uint64_t at = 0; all && !own_handle && by != 0 && rh_idset_next(threads, &at, &id);)
        all = rh_idset_has(&t->dominated, id);
    return all && !rh_idset_is_empty(threads);
}

static uint32_t mark_old(struct rh_flow *f, uint32_t alive, uint32_t thread)
{
    struct rh_idset set = RH_IDSET_INIT;
    rh_idset_copy(&set, flow_set(&f->alive_sets, alive));
    add_bit(&set, thread, OLD);
    uint32_t out = flow_set_intern(&f->alive_sets, &set);
    rh_idset_release(&set);
    return out;
}

/* Every join waits for another thread. So if only one class is alive, as many joins as starts in
 * the present round leave none; and if each class has one, as many joins as classes. */
static uint32_t join_counted(struct rh_flow *f, uint32_t alive, const struct flow_edge *edge)
{
    uint32_t id = 0;
    bool any_many = false;
    uint32_t count = count_alive(f, alive, &edge->joins, &id, &any_many);
    if (count == 1 && rh_idset_has(&edge->threads, id) && !flow_alive_has(f, alive, id, OLD))
        return take_out(f, alive, id);
    if (any_many || edge->rounds < count)
        return alive;
    for (uint64_t at = 0; rh_idset_next(&edge->joins, &at, &id);)
        if (flow_alive_has(f, alive, id, ALIVE))
            alive = take_out(f, alive, id);
    return alive;
}

uint32_t flow_alive_pass_edge(struct rh_flow *f, uint32_t alive, const struct flow_edge *edge)
{
    uint32_t id;
    if (edge->kind == EDGE_JOINED)
        return join_counted(f, alive, edge);
    for (uint64_t at = 0; rh_idset_next(&edge->threads, &at, &id);) {
        if (!flow_alive_has(f, alive, id, ALIVE))
            continue;
        if (edge->kind == EDGE_ROUND)
            alive = mark_old(f, alive, id);
        else if (!flow_alive_has(f, alive, id, OLD))
            alive = take_out(f, alive, id);
    }
    return alive;
}

/* --- overlaps --- */

static void note_overlap(struct rh_flow *f, uint32_t a, uint32_t b)
{
    rh_bitset_set(&f->threads.data[a].overlaps, b);
    rh_bitset_set(&f->threads.data[b].overlaps, a);
}

void flow_note_start(struct rh_flow *f, uint32_t thread, uint32_t alive)
{
    const struct rh_idset *descendants = &f->threads.data[thread].descendants;
    const struct rh_idset *set = flow_set(&f->alive_sets, alive);
    uint32_t bit, id;
    if (!rh_map_put(&f->noted, flow_pair(thread, alive), 0))
        return;
    for (uint64_t at = 0; rh_idset_next(set, &at, &bit);) {
        if (bit % ALIVE_BITS != ALIVE)
            continue;
        note_overlap(f, thread, bit / ALIVE_BITS);
        for (uint64_t other = 0; rh_idset_next(descendants, &other, &id);)
            note_overlap(f, id, bit / ALIVE_BITS);
    }
}

/* Callers of a library, threads that the outside starts, and what either starts, are there any
 * number of times. */
static void overlap_callers(struct rh_flow *f, const struct flow_thread *t)
{
    struct rh_idset all = RH_IDSET_INIT;
    uint32_t a, b;
    rh_idset_copy(&all, &t->descendants);
    rh_idset_add(&all, t->public.id);
    for (uint64_t at = 0; rh_idset_next(&all, &at, &a);)
        for (uint64_t other = 0; rh_idset_next(&all, &other, &b);)
            note_overlap(f, a, b);
    rh_idset_release(&all);
}

void flow_finish_overlaps(struct rh_flow *f)
{
    bool any_created = false;
    rh_vec_each (struct flow_thread, t, &f->threads) {
        any_created |= t->public.kind != RH_THREAD_MAIN && t->public.kind != RH_THREAD_HANDLER;
        if (t->public.kind == RH_THREAD_CALLER || t->public.kind == RH_THREAD_OUTSIDE)
            overlap_callers(f, t);
    }
    /* A signal may come to several threads at once; and one of a class that starts others of its
     * class, by itself or by those it starts, runs beside them. */
    rh_vec_each (struct flow_thread, t, &f->threads) {
        if ((t->public.kind == RH_THREAD_HANDLER && any_created) ||
            rh_idset_has(&t->descendants, t->public.id))
            note_overlap(f, t->public.id, t->public.id);
        t->public.many = rh_bitset_test(&t->overlaps, t->public.id);
    }
}
