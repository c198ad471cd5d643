/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the flow analysis keeps of each instance: the calls that change the state or lead on, and
 * what follows from the call graph alone: who calls whom, what runs at most once, what a function
 * and all it calls may do at most.
 */
#include "analysis/flow/internal.h"

#include <string.h>

#include "base/mem.h"

/* Library functions that do not return because the whole process ends; all others that do not
 * return end the thread. */
static const char *const process_ends[] = {
    "abort",  "exit",  "_exit",         "_Exit",  "quick_exit",       "__assert_fail",
    "execv",  "execl", "longjmp",       "execve", "__stack_chk_fail", "_longjmp",
    "execvp", "errx",  "siglongjmp",    "err",    "__longjmp_chk",    "__assert_perror_fail",
    "verr",   "verrx", "std::terminate"};

static bool ends_process(const struct rh_library_row *row)
{
    for (size_t i = 0; i < sizeof process_ends / sizeof process_ends[0]; i++)
        if (strcmp(row->name, process_ends[i]) == 0)
            return true;
    return false;
}

struct rh_cfg *flow_cfg(struct rh_flow *f, const struct rh_function *fn)
{
    if (!f->cfgs[fn->id])
        f->cfgs[fn->id] = rh_cfg_build(fn->value->fn);
    return f->cfgs[fn->id];
}

bool flow_in_cycle(struct rh_flow *f, const struct rh_block *b)
{
    const struct rh_cfg *cfg = flow_cfg(f, b->fn);
    return rh_cfg_loop_of(cfg, b) || rh_cfg_irreducible(cfg);
}

/* --- events --- */

static bool touches_locks(enum rh_effect_kind kind)
{
    return kind == RH_EFFECT_LOCK || kind == RH_EFFECT_READ_LOCK || kind == RH_EFFECT_UNLOCK ||
           kind == RH_EFFECT_TRY_LOCK || kind == RH_EFFECT_TRY_READ_LOCK;
}

/* What the library functions among the targets do that matters here. */
static bool read_libraries(struct rh_flow *f, struct flow_body *body, struct flow_event *ev)
{
    bool matters = false;
    for (uint32_t i = 0; i < ev->call.library_count; i++) {
        const struct rh_library_row *row = ev->call.libraries[i];
        for (uint32_t k = 0; k < row->effect_count; k++) {
            enum rh_effect_kind kind = row->effects[k].kind;
            bool locks = touches_locks(kind);
            bool threads =
                kind == RH_EFFECT_JOIN || (kind == RH_EFFECT_EXITS && !ends_process(row));
            ev->runs_outside |= kind == RH_EFFECT_RUNS;
            ev->is_team |= kind == RH_EFFECT_TEAM;
            ev->ends_thread |= kind == RH_EFFECT_EXITS && !ends_process(row);
            body->has_locks |= locks;
            f->has_locks |= locks;
            body->has_threads |= threads;
            matters |= locks || threads || kind == RH_EFFECT_EXITS;
        }
    }
    return matters;
}

static const struct rh_value *strip_callee(const struct rh_value *v)
{
    while ((v->kind == RH_VALUE_ALIAS && !v->is_ifunc) ||
           (v->kind == RH_VALUE_EXPR && v->op == RH_OP_BITCAST))
        v = v->ops[0];
    return v;
}

static bool read_event(struct rh_flow *f, struct flow_body *body, struct rh_value *inst,
                       struct flow_event *ev)
{
    if (!inst->callee || inst->intrinsic || inst->callee->kind == RH_VALUE_ASM)
        return false;
    *ev = (struct flow_event){.inst = inst, .bundle = FLOW_NONE, .starts = FLOW_NONE};
    ev->call = rh_pointsto_call(f->pointsto, body->instance, inst);
    const struct rh_value *callee = strip_callee(inst->callee);
    bool is_known = callee->kind == RH_VALUE_FUNCTION && callee->fn->block_count;
    /* What a library function calls back gets other arguments. */
    ev->direct = is_known || (ev->call.library_count == 0 && !ev->call.unknown);
    ev->runs_outside = ev->call.unknown;
    bool matters = read_libraries(f, body, ev);
    uint32_t count;
    rh_pointsto_entries(f->pointsto, body->instance, inst, &count);
    body->has_threads |= count > 0 || (ev->call.unknown && f->outside_starts);
    return matters || count || ev->call.count || ev->runs_outside;
}

static void read_body(struct rh_flow *f, struct flow_body *body)
{
    struct rh_function *fn = body->fn;
    RH_VEC(struct flow_event) events = RH_VEC_INIT;
    body->first_event = rh_arena_array(&f->arena, uint32_t, fn->block_count + (size_t)1);
    for (uint32_t b = 0; b < fn->block_count; b++) {
        struct flow_event ev;
        body->first_event[b] = (uint32_t)events.len;
        for (struct rh_value *inst = fn->blocks[b]->first; inst; inst = inst->next)
            if (read_event(f, body, inst, &ev))
                rh_vec_push(&events, ev);
    }
    body->first_event[fn->block_count] = body->event_count = (uint32_t)events.len;
    body->events = rh_arena_array(&f->arena, struct flow_event, events.len);
    if (events.len)
        memcpy(body->events, events.data, events.len * sizeof *events.data);
    rh_vec_free(&events);
}

uint32_t flow_segment(const struct flow_body *body, const struct rh_value *inst, bool *is_event)
{
    uint32_t block = inst->block->id, first = body->first_event[block];
    uint32_t low = first, high = body->first_event[block + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (body->events[middle].inst->id < inst->id)
            low = middle + 1;
        else
            high = middle;
    }
    *is_event = low < body->first_event[block + 1] && body->events[low].inst == inst;
    return block + low;
}

/* --- who calls whom --- */

static void add_caller(struct rh_flow *f, uint32_t callee, uint32_t caller,
                       const struct flow_event *ev, bool starts)
{
    rh_vec_push(&f->bodies[callee].callers, (struct flow_caller){caller, ev, starts});
}

uint32_t flow_callees(const struct rh_flow *f, const struct flow_event *ev,
                      uint32_t out[FLOW_MOST_TARGETS + 1])
{
    uint32_t count = 0;
    for (uint32_t i = 0; ev->bundle == FLOW_NONE && i < ev->call.count; i++)
        out[count++] = ev->call.targets[i];
    if (ev->bundle != FLOW_NONE)
        out[count++] = ev->bundle;
    if (ev->runs_outside && f->outside_bundle != FLOW_NONE)
        out[count++] = f->outside_bundle;
    return count;
}

void flow_follow_calls(const struct rh_flow *f, struct rh_bitset *seen)
{
    RH_VEC(uint32_t) work = RH_VEC_INIT;
    size_t bit;
    for (size_t at = 0; rh_bitset_next(seen, &at, &bit);)
        rh_vec_push(&work, (uint32_t)bit);
    while (work.len) {
        const struct flow_body *body = &f->bodies[rh_vec_pop(&work)];
        for (uint32_t i = 0; i < body->target_count; i++)
            if (rh_bitset_set(seen, body->targets[i]))
                rh_vec_push(&work, body->targets[i]);
        for (uint32_t i = 0; i < body->event_count; i++) {
            uint32_t callees[FLOW_MOST_TARGETS + 1];
            uint32_t count = flow_callees(f, &body->events[i], callees);
            for (uint32_t k = 0; k < count; k++)
                if (rh_bitset_set(seen, callees[k]))
                    rh_vec_push(&work, callees[k]);
        }
    }
    rh_vec_free(&work);
}

static void link_callers(struct rh_flow *f, struct flow_body *body)
{
    for (uint32_t i = 0; i < body->target_count; i++)
        add_caller(f, body->targets[i], body->instance, NULL, false);
    for (uint32_t i = 0; i < body->event_count; i++) {
        const struct flow_event *ev = &body->events[i];
        uint32_t callees[FLOW_MOST_TARGETS + 1], count = flow_callees(f, ev, callees);
        for (uint32_t k = 0; k < count; k++)
            add_caller(f, callees[k], body->instance, ev, false);
        const uint32_t *entries =
            rh_pointsto_entries(f->pointsto, body->instance, ev->inst, &count);
        for (uint32_t k = 0; k < count; k++)
            add_caller(f, entries[k], body->instance, ev, true);
    }
}

/* --- bundles --- */

struct bundles {
    struct rh_flow *f;
    RH_VEC(struct flow_body) all;
    struct rh_map of; /* hash -> number */
};

static uint32_t add_bundle(struct bundles *b, const uint32_t *targets, uint32_t count, bool repeats)
{
    uint64_t key = flow_hash(targets, count * sizeof *targets) + repeats, known;
    for (; rh_map_get(&b->of, key, &known); key++) {
        const struct flow_body *body = &b->all.data[known];
        if (body->target_count == count && body->repeats == repeats &&
            memcmp(body->targets, targets, count * sizeof *targets) == 0)
            return b->f->body_count + (uint32_t)known;
    }
    struct flow_body body = {.instance = b->f->body_count + (uint32_t)b->all.len,
                             .targets = targets,
                             .target_count = count,
                             .repeats = repeats,
                             .summary = FLOW_NONE};
    rh_map_put(&b->of, key, b->all.len);
    rh_vec_push(&b->all, body);
    return body.instance;
}

/* --- what runs when the process exits --- */

/* Hands over a function that exit calls, in the one thread that ends the process. */
static bool registers_exit(const struct rh_value *call)
{
    static const char *const names[] = {"atexit", "at_quick_exit", "on_exit", "__cxa_atexit",
                                        "__cxa_at_quick_exit"};
    const struct rh_value *callee = call->callee ? strip_callee(call->callee) : NULL;
    for (size_t i = 0;
         callee && callee->kind == RH_VALUE_FUNCTION && i < sizeof names / sizeof names[0]; i++)
        if (!callee->fn->block_count && strcmp(callee->fn->name, names[i]) == 0)
            return true;
    return false;
}

/* Whether the outside knows the function as a handler of exit alone. */
static bool is_exit_handler(const struct rh_function *fn)
{
    bool found = false;
    for (uint32_t i = 0; i < fn->value->user_count; i++) {
        const struct rh_value *user = fn->value->users[i];
        bool calls = user->kind == RH_VALUE_INST && user->callee == fn->value;
        bool registers = user->kind == RH_VALUE_INST && registers_exit(user);
        if (!calls && !registers)
            return false;
        found |= registers;
    }
    return found;
}

/* The end of a thread runs what was left for later (destructors of its variables), but no handlers
 * of exit. */
static uint32_t add_ends_bundle(struct bundles *b)
{
    struct rh_flow *f = b->f;
    uint32_t *targets = rh_arena_array(&f->arena, uint32_t, f->outside_count + (size_t)1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < f->outside_count; i++) {
        const struct rh_function *fn = rh_pointsto_instance(f->pointsto, f->outside[i])->fn;
        if (!is_exit_handler(fn))
            targets[count++] = f->outside[i];
    }
    return count ? add_bundle(b, targets, count, true) : FLOW_NONE;
}

/* What a library function or the outside calls it may call again and again. */
static void make_bundles(struct rh_flow *f)
{
    struct bundles b = {.f = f};
    for (uint32_t i = 0; i < f->body_count; i++)
        for (uint32_t k = 0; k < f->bodies[i].event_count; k++) {
            struct flow_event *ev = &f->bodies[i].events[k];
            if (ev->call.count > FLOW_MOST_TARGETS)
                ev->bundle = add_bundle(&b, ev->call.targets, ev->call.count, !ev->direct);
        }
    f->outside_bundle =
        f->outside_count ? add_bundle(&b, f->outside, f->outside_count, true) : FLOW_NONE;
    f->ends_bundle = add_ends_bundle(&b);
    f->bundle_count = (uint32_t)b.all.len;
    f->bodies =
        rh_realloc_array(f->bodies, f->body_count + (size_t)f->bundle_count, sizeof *f->bodies);
    if (b.all.len)
        memcpy(f->bodies + f->body_count, b.all.data, b.all.len * sizeof *b.all.data);
    rh_vec_free(&b.all);
    rh_map_release(&b.of);
}

/* A function that calls one with locks or threads has them too. */
static void spread_flags(struct rh_flow *f)
{
    RH_VEC(uint32_t) work = RH_VEC_INIT;
    for (uint32_t i = 0; i < f->body_count + f->bundle_count; i++)
        if (f->bodies[i].has_locks || f->bodies[i].has_threads)
            rh_vec_push(&work, i);
    while (work.len) {
        const struct flow_body *body = &f->bodies[rh_vec_pop(&work)];
        rh_vec_each (struct flow_caller, c, &body->callers) {
            struct flow_body *caller = &f->bodies[c->instance];
            bool locks = caller->has_locks || body->has_locks;
            bool threads = caller->has_threads || body->has_threads;
            if (c->starts || (locks == caller->has_locks && threads == caller->has_threads))
                continue;
            caller->has_locks = locks;
            caller->has_threads = threads;
            rh_vec_push(&work, c->instance);
        }
    }
    rh_vec_free(&work);
}

/* --- the outside --- */

static void add_outside_instance(struct rh_flow *f, const struct rh_function *fn)
{
    uint32_t count;
    const uint32_t *instances = rh_pointsto_instances_of(f->pointsto, fn, &count);
    if (count)
        f->outside[f->outside_count++] = instances[0];
}

/* Destructors of the module run at exit, like what was left to the library for later. */
static void find_outside(struct rh_flow *f)
{
    uint32_t count;
    const uint32_t *called = rh_pointsto_called_from_outside(f->pointsto, &count);
    struct rh_value *list = rh_ir_find_global(f->module, "llvm.global_dtors");
    const struct rh_value *init = list ? list->global->init : NULL;
    uint32_t extra = init && init->kind == RH_VALUE_AGGREGATE ? init->op_count : 0;
    f->outside = rh_arena_array(&f->arena, uint32_t, count + (size_t)extra);
    for (uint32_t i = 0; i < count; i++)
        f->outside[f->outside_count++] = called[i];
    for (uint32_t i = 0; i < extra; i++) {
        const struct rh_value *row = init->ops[i];
        if (row->kind == RH_VALUE_AGGREGATE && row->op_count > 1 &&
            row->ops[1]->kind == RH_VALUE_FUNCTION)
            add_outside_instance(f, row->ops[1]->fn);
    }
}

/* What the outside can reach: what it was given, and variables that it can name. */
static void find_outside_objects(struct rh_flow *f)
{
    const struct rh_idset *known = rh_pointsto_outside(f->pointsto);
    uint32_t cell;
    for (uint64_t at = 0; rh_idset_next(known, &at, &cell);)
        rh_bitset_set(&f->outside_objects, rh_pointsto_cell(f->pointsto, cell)->object);
    for (uint32_t i = 0; i < rh_pointsto_object_count(f->pointsto); i++) {
        const struct rh_object *o = rh_pointsto_object(f->pointsto, i);
        const struct rh_global *g = o->kind == RH_OBJECT_GLOBAL ? o->value->global : NULL;
        if (g && (g->is_declaration || (f->is_library && !g->is_local)))
            rh_bitset_set(&f->outside_objects, i);
    }
}

static bool is_outside_lock(struct rh_flow *f, const struct flow_body *body,
                            const struct flow_event *ev)
{
    for (uint32_t i = 0; i < ev->call.library_count; i++) {
        const struct rh_library_row *row = ev->call.libraries[i];
        for (uint32_t k = 0; k < row->effect_count; k++) {
            int arg = row->effects[k].arg;
            if (!touches_locks(row->effects[k].kind) || arg < 0 ||
                (uint32_t)arg >= ev->inst->op_count)
                continue;
            uint32_t cells = flow_cells_of(f, body->instance, ev->inst->ops[arg]);
            if (cells == FLOW_ANY || flow_touches_outside(f, flow_set(&f->cell_sets, cells)))
                return true;
        }
    }
    return false;
}

/* Unknown functions may release locks that they know; mostly they know none. */
static void find_outside_locks(struct rh_flow *f)
{
    for (uint32_t i = 0; i < f->body_count && !f->outside_has_locks; i++)
        for (uint32_t k = 0; k < f->bodies[i].event_count && !f->outside_has_locks; k++)
            f->outside_has_locks = is_outside_lock(f, &f->bodies[i], &f->bodies[i].events[k]);
    for (uint32_t i = 0; i < f->body_count && f->outside_has_locks; i++)
        for (uint32_t k = 0; k < f->bodies[i].event_count; k++)
            f->bodies[i].has_locks |= f->bodies[i].events[k].call.unknown;
}

void flow_bodies_build(struct rh_flow *f)
{
    f->body_count = rh_pointsto_instance_count(f->pointsto);
    f->bodies = rh_calloc(f->body_count, sizeof *f->bodies);
    f->cfgs = rh_calloc(rh_ir_function_count(f->module), sizeof *f->cfgs);
    const struct rh_function *cancel = rh_ir_find_function(f->module, "pthread_cancel");
    f->can_cancel = cancel && cancel->value->user_count;
    find_outside(f);
    find_outside_objects(f);
    for (uint32_t i = 0; i < f->body_count; i++) {
        struct flow_body *body = &f->bodies[i];
        body->instance = i;
        body->fn = rh_pointsto_instance(f->pointsto, i)->fn;
        body->summary = FLOW_NONE;
        body->runs_once = -1;
        read_body(f, body);
    }
    find_outside_locks(f);
    make_bundles(f);
    for (uint32_t i = 0; i < f->body_count + f->bundle_count; i++)
        link_callers(f, &f->bodies[i]);
    spread_flags(f);
}

void flow_bodies_release(struct rh_flow *f)
{
    for (uint32_t i = 0; i < f->body_count + f->bundle_count; i++) {
        rh_vec_free(&f->bodies[i].callers);
        rh_vec_free(&f->bodies[i].contexts);
        for (uint32_t k = 0; k < f->bodies[i].event_count; k++)
            rh_idset_release(&f->bodies[i].events[k].joins);
        flow_joins_forget(&f->bodies[i]);
        rh_vec_free(&f->bodies[i].edges);
    }
    for (uint32_t i = 0; f->cfgs && i < rh_ir_function_count(f->module); i++)
        rh_cfg_free(f->cfgs[i]);
    free(f->bodies);
    free(f->cfgs);
    rh_bitset_release(&f->outside_objects);
    rh_vec_free(&f->summaries);
}

/* --- what runs once --- */

static bool is_listed(const uint32_t *list, uint32_t count, uint32_t id)
{
    for (uint32_t i = 0; i < count; i++)
        if (list[i] == id)
            return true;
    return false;
}

/* Called from one place that runs once, or run first and called from nowhere. */
static bool find_once(struct rh_flow *f, const struct flow_body *body)
{
    if (is_listed(f->outside, f->outside_count, body->instance))
        return false;
    if (is_listed(f->first_run, f->first_run_count, body->instance))
        return body->callers.len == 0;
    if (body->callers.len != 1)
        return false;
    const struct flow_caller *c = &body->callers.data[0];
    uint64_t thread;
    if (!c->event)
        return false;
    if (c->starts &&
        (!rh_map_get(&f->thread_of, flow_pair(c->instance, c->event->inst->id), &thread) ||
         f->threads.data[thread].public.kind != RH_THREAD_CREATED))
        return false;
    return (c->starts || c->event->direct) &&
           flow_runs_at_most_once(f, c->instance, c->event->inst);
}

bool flow_runs_at_most_once(struct rh_flow *f, uint32_t instance, const struct rh_value *inst)
{
    return !inst->fn->returns_twice && !flow_in_cycle(f, inst->block) &&
           flow_runs_once(f, instance);
}

bool flow_runs_once(struct rh_flow *f, uint32_t instance)
{
    struct flow_body *body = &f->bodies[instance];
    if (body->runs_once == 2)
        body->runs_once = 0; /* calls itself */
    if (body->runs_once < 0) {
        body->runs_once = 2;
        bool once = find_once(f, body);
        body->runs_once = body->runs_once == 2 && once;
    }
    return body->runs_once;
}

bool flow_is_single(struct rh_flow *f, uint32_t object)
{
    const struct rh_object *o = rh_pointsto_object(f->pointsto, object);
    if (o->kind == RH_OBJECT_GLOBAL)
        return true;
    if ((o->kind != RH_OBJECT_STACK && o->kind != RH_OBJECT_HEAP) ||
        o->value->kind != RH_VALUE_INST || o->instance == RH_NO_INSTANCE)
        return false;
    return flow_runs_at_most_once(f, o->instance, o->value);
}

/* --- what a function may do at most --- */

static void sum_library(struct rh_flow *f, const struct flow_body *body,
                        const struct flow_event *ev, struct flow_release *out)
{
    for (uint32_t i = 0; i < ev->call.library_count; i++) {
        const struct rh_library_row *row = ev->call.libraries[i];
        for (uint32_t k = 0; k < row->effect_count; k++) {
            const struct rh_effect *e = &row->effects[k];
            if (e->kind != RH_EFFECT_UNLOCK)
                continue;
            bool fits = e->arg >= 0 && (uint32_t)e->arg < ev->inst->op_count && !e->indirect;
            uint32_t cells =
                fits ? flow_cells_of(f, body->instance, ev->inst->ops[e->arg]) : FLOW_ANY;
            struct flow_release here = {.cells = cells};
            if (cells != FLOW_ANY)
                here.outside = flow_touches_outside(f, flow_set(&f->cell_sets, cells));
            flow_release_unite(f, out, &here);
        }
    }
}

/* More than once, as far as can be known. */
static void add_starts(struct rh_flow *f, uint32_t thread, struct flow_summary *sum)
{
    for (int i = 0; i < 2 && thread != FLOW_NONE; i++)
        sum->starts = flow_alive_start(f, sum->starts, thread);
}

static void sum_event(struct rh_flow *f, const struct flow_body *body, const struct flow_event *ev,
                      struct flow_summary *sum)
{
    sum_library(f, body, ev, &sum->release);
    sum->release.outside |= ev->call.unknown;
    add_starts(f, ev->starts, sum);
    if (ev->call.unknown)
        add_starts(f, f->outside_thread, sum);
}

const struct flow_summary *flow_summary_of(struct rh_flow *f, uint32_t instance)
{
    if (f->bodies[instance].summary != FLOW_NONE)
        return &f->summaries.data[f->bodies[instance].summary];
    struct flow_summary sum = {0};
    struct rh_bitset seen = RH_BITSET_INIT;
    size_t bit;
    rh_bitset_set(&seen, instance);
    flow_follow_calls(f, &seen);
    for (size_t at = 0; rh_bitset_next(&seen, &at, &bit);)
        for (uint32_t i = 0; i < f->bodies[bit].event_count; i++)
            sum_event(f, &f->bodies[bit], &f->bodies[bit].events[i], &sum);
    rh_bitset_release(&seen);
    f->bodies[instance].summary = (uint32_t)f->summaries.len;
    rh_vec_push(&f->summaries, sum);
    return &rh_vec_last(&f->summaries);
}
