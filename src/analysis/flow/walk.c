/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk of the flow analysis: contexts, and the states that calls and edges lead from one to
 * another.
 *
 * A context is walked when it is first asked for, so that its caller finds its result at once; only
 * in recursion, and where contexts were merged, is a result known late, and the callers are walked
 * again. States only lose locks and gain threads on the way, so this ends.
 */
#include "analysis/flow/internal.h"

#include <string.h>

#include "base/mem.h"

enum { MOST_NESTING = 300 /* of walks; each takes a few kilobytes of stack */ };

/* How many contexts an instance may have in one thread before they are merged: the fewer, the more
 * there are in all, so that the work stays in proportion to the program. */
static const struct {
    size_t fewer_than; /* times the number of instances, plus 10,000 */
    uint32_t most;
} context_limits[] = {{8, 24}, {16, 8}, {SIZE_MAX, 2}};

static const struct flow_state unreachable = {FLOW_NONE, 0};

static bool is_reachable(struct flow_state s)
{
    return s.alive != FLOW_NONE;
}

static bool same_state(struct flow_state a, struct flow_state b)
{
    return a.alive == b.alive && a.locks == b.locks;
}

static struct flow_state merge(struct rh_flow *f, struct flow_state a, struct flow_state b)
{
    if (!is_reachable(a))
        return b;
    if (!is_reachable(b))
        return a;
    return (struct flow_state){flow_set_unite(&f->alive_sets, a.alive, b.alive),
                               flow_locks_meet(f, a.locks, b.locks)};
}

static void walk_context(struct rh_flow *f, uint32_t id);

/* --- contexts --- */

static void enqueue(struct rh_flow *f, uint32_t id)
{
    struct flow_context *c = f->contexts.data[id];
    if (c->queued)
        return;
    c->queued = true;
    rh_vec_push(&f->queue, id);
}

static uint32_t add_context(struct rh_flow *f, const struct flow_context *what)
{
    struct flow_context *c = rh_arena_new(&f->walk_arena, struct flow_context);
    *c = *what;
    c->exit = c->inside = unreachable;
    rh_vec_push(&f->contexts, c);
    uint32_t id = (uint32_t)f->contexts.len - 1;
    if (c->instance != RH_NO_INSTANCE)
        rh_vec_push(&f->bodies[c->instance].contexts, id);
    return id;
}

static uint64_t key_of(const struct flow_context *c)
{
    uint64_t words[] = {flow_pair(c->instance, c->thread),
                        c->is_merged ? UINT64_MAX : flow_pair(c->entry.alive, c->entry.locks)};
    return flow_hash(words, sizeof words);
}

static bool same_key(const struct flow_context *a, const struct flow_context *b)
{
    return a->instance == b->instance && a->thread == b->thread && a->is_merged == b->is_merged &&
           (a->is_merged || same_state(a->entry, b->entry));
}

/* FLOW_NONE if there is none. Two keys of one hash are told apart by trying the next number. */
static uint32_t find_context(const struct rh_flow *f, const struct flow_context *what,
                             uint64_t *free_key)
{
    uint64_t id;
    for (uint64_t key = key_of(what);; key++) {
        *free_key = key;
        if (!rh_map_get(&f->context_of, key, &id))
            return FLOW_NONE;
        if (same_key(f->contexts.data[id], what))
            return (uint32_t)id;
    }
}

static bool is_crowded(const struct rh_flow *f, const struct flow_context *what)
{
    enum { ALWAYS = 10000 };
    const struct flow_body *body = &f->bodies[what->instance];
    uint32_t count = 0, row = 0;
    while (context_limits[row].fewer_than != SIZE_MAX &&
           f->contexts.len >= ALWAYS + context_limits[row].fewer_than * f->body_count)
        row++;
    rh_vec_each (const uint32_t, id, &body->contexts)
        count += f->contexts.data[*id]->thread == what->thread;
    return count >= context_limits[row].most;
}

static void run_or_queue(struct rh_flow *f, uint32_t id)
{
    if (f->depth >= MOST_NESTING || f->contexts.data[id]->walking)
        enqueue(f, id);
    else
        walk_context(f, id);
}

/* The context for this state; walked, as far as nesting allows. */
static uint32_t get_context(struct rh_flow *f, uint32_t instance, uint32_t thread,
                            struct flow_state entry)
{
    struct flow_context what = {.instance = instance, .thread = thread, .entry = entry};
    uint64_t key;
    uint32_t id = find_context(f, &what, &key);
    if (id != FLOW_NONE)
        return id;
    if (is_crowded(f, &what)) {
        what.is_merged = true;
        id = find_context(f, &what, &key);
    }
    bool is_new = id == FLOW_NONE;
    if (is_new) {
        id = add_context(f, &what);
        rh_map_put(&f->context_of, key, id);
    }
    struct flow_context *c = f->contexts.data[id];
    struct flow_state all = merge(f, c->entry, entry);
    if (is_new || !same_state(all, c->entry)) {
        c->entry = all;
        run_or_queue(f, id);
    }
    return id;
}

static void note_call(struct rh_flow *f, uint32_t caller, uint32_t callee)
{
    if (rh_map_put(&f->called_by, flow_pair(caller, callee), 0))
        rh_vec_push(&f->contexts.data[callee]->callers, caller);
}

/* --- calls --- */

struct step {
    struct rh_flow *f;
    uint32_t id; /* context */
    struct flow_context *c;
    struct flow_body *body;
};

/* The state behind a call of one instance. */
static struct flow_state call_instance(struct step *w, const struct flow_event *ev,
                                       uint32_t instance, bool direct, struct flow_state s)
{
    struct rh_flow *f = w->f;
    const struct flow_body *callee = &f->bodies[instance];
    struct flow_event seen = *ev;
    seen.direct = direct;
    struct flow_state entry = {s.alive,
                               flow_locks_enter(f, s.locks, w->c->instance, &seen, callee->fn)};
    uint32_t id = get_context(f, instance, w->c->thread, entry);
    const struct flow_context *c = f->contexts.data[id];
    note_call(f, w->id, id);
    flow_release_unite(f, &w->c->release, &c->release);
    w->c->starts_first |= c->starts_first;
    if (!is_reachable(c->exit))
        return unreachable;
    return (struct flow_state){
        callee->has_threads ? c->exit.alive : s.alive,
        callee->has_locks || callee->has_threads
            ? flow_locks_leave(f, s.locks, w->c->instance, &seen, c)
            : s.locks,
    };
}

/* Functions that may be called any number of times, in any order, or not at all. */
static struct flow_state call_back(struct step *w, const struct flow_event *ev,
                                   const uint32_t *targets, uint32_t count, struct flow_state s)
{
    for (bool changed = is_reachable(s); changed;) {
        struct flow_state all = s;
        for (uint32_t i = 0; i < count; i++)
            all = merge(w->f, all, call_instance(w, ev, targets[i], false, s));
        changed = !same_state(all, s);
        s = all;
    }
    return s;
}

static struct flow_state call_outside(struct step *w, const struct flow_event *ev,
                                      struct flow_state s)
{
    if (w->f->outside_bundle == FLOW_NONE || !is_reachable(s))
        return s;
    return call_instance(w, ev, w->f->outside_bundle, false, s);
}

static struct flow_state start_thread(struct step *w, uint32_t thread, struct flow_state s)
{
    struct rh_flow *f = w->f;
    struct flow_thread *t = &f->threads.data[thread];
    flow_note_start(f, thread, s.alive);
    if (!t->is_walked) {
        struct flow_context first = {.instance = RH_NO_INSTANCE, .thread = thread};
        t->is_walked = true;
        enqueue(f, add_context(f, &first));
    }
    /* What was read before the first thread may have been changed up to now. */
    if (s.alive == 0 && w->c->thread == 0) {
        w->c->starts_first = true;
        s.locks = flow_locks_without_loads(f, s.locks);
    }
    s.alive = flow_alive_start(f, s.alive, thread);
    return s;
}

static void end_thread(struct step *w, uint32_t alive)
{
    struct flow_thread *t = &w->f->threads.data[w->c->thread];
    uint32_t all = flow_set_unite(&w->f->alive_sets, t->exit_alive, alive);
    if (all == t->exit_alive)
        return;
    t->exit_alive = all;
    rh_vec_each (uint32_t, id, &t->joiners)
        enqueue(w->f, *id);
}

/* How a thread ends matters to those who wait for it. */
static void note_joiner(struct step *w, const struct rh_idset *threads)
{
    uint32_t thread;
    for (uint64_t at = 0; rh_idset_next(threads, &at, &thread);)
        if (rh_map_put(&w->f->joined_by, flow_pair(thread, w->id), 0))
            rh_vec_push(&w->f->threads.data[thread].joiners, w->id);
}

/* --- library functions --- */

static struct flow_state apply_lock(struct step *w, const struct flow_event *ev,
                                    const struct rh_effect *e, struct flow_state s)
{
    bool fits = e->arg >= 0 && (uint32_t)e->arg < ev->inst->op_count && !e->indirect && !e->rest;
    struct rh_value *pointer = fits ? ev->inst->ops[e->arg] : NULL;
    enum rh_lock_mode mode = e->kind == RH_EFFECT_READ_LOCK || e->kind == RH_EFFECT_TRY_READ_LOCK
                                 ? RH_LOCK_READ
                                 : RH_LOCK_WRITE;
    bool is_try = e->kind == RH_EFFECT_TRY_LOCK || e->kind == RH_EFFECT_TRY_READ_LOCK;
    if (e->kind != RH_EFFECT_UNLOCK) {
        if (fits)
            s.locks =
                flow_locks_take(w->f, s.locks, w->c->instance, ev->inst, pointer, mode, is_try);
    } else if (fits) {
        s.locks = flow_locks_release(w->f, s.locks, w->c->instance, pointer, &w->c->release);
    } else {
        struct flow_release all = {.cells = FLOW_ANY};
        flow_release_unite(w->f, &w->c->release, &all);
        s.locks = 0;
    }
    return s;
}

static struct flow_state apply_library(struct step *w, const struct flow_event *ev,
                                       const struct rh_library_row *row, struct flow_state s)
{
    for (uint32_t i = 0; i < row->effect_count && is_reachable(s); i++) {
        const struct rh_effect *e = &row->effects[i];
        switch (e->kind) {
        case RH_EFFECT_LOCK:
        case RH_EFFECT_READ_LOCK:
        case RH_EFFECT_UNLOCK:
        case RH_EFFECT_TRY_LOCK:
        case RH_EFFECT_TRY_READ_LOCK:
            s = apply_lock(w, ev, e, s);
            break;
        case RH_EFFECT_EXITS:
            if (ev->ends_thread)
                end_thread(w, s.alive);
            s = unreachable;
            break;
        default:
            break;
        }
    }
    return s;
}

/* A call through a pointer may start a team or something else: then nothing is known of the end. */
static struct flow_state end_team(struct step *w, const struct flow_event *ev, struct flow_state s)
{
    struct rh_idset team = RH_IDSET_INIT;
    if (ev->call.library_count != 1 || ev->call.count || ev->call.unknown)
        return s;
    rh_idset_add(&team, ev->starts);
    note_joiner(w, &team);
    s.alive = flow_alive_end(w->f, s.alive, ev->starts);
    rh_idset_release(&team);
    return s;
}

static struct flow_state apply_libraries(struct step *w, const struct flow_event *ev,
                                         struct flow_state s)
{
    struct flow_state out = unreachable;
    struct rh_flow *f = w->f;
    if (ev->starts != FLOW_NONE)
        s = start_thread(w, ev->starts, s);
    if (ev->starts != FLOW_NONE && ev->is_team)
        s = end_team(w, ev, start_thread(w, ev->starts, s));
    for (uint32_t i = 0; i < ev->call.library_count; i++)
        out = merge(f, out, apply_library(w, ev, ev->call.libraries[i], s));
    if (is_reachable(out) && flow_joins_known(f, w->c->thread, &ev->joins, ev->own_handle)) {
        note_joiner(w, &ev->joins);
        out.alive = flow_alive_join(f, out.alive, &ev->joins);
    }
    return out;
}

static struct flow_state apply_unknown(struct step *w, struct flow_state s)
{
    struct flow_release outside = {.outside = true};
    if (w->f->outside_thread != FLOW_NONE)
        s = start_thread(w, w->f->outside_thread, s);
    flow_release_unite(w->f, &w->c->release, &outside);
    s.locks = flow_locks_without(w->f, s.locks, &outside);
    return s;
}

static struct flow_state call_targets(struct step *w, const struct flow_event *ev,
                                      struct flow_state s)
{
    struct flow_state out = unreachable;
    if (ev->bundle != FLOW_NONE)
        return call_instance(w, ev, ev->bundle, false, s);
    if (!ev->direct)
        return call_back(w, ev, ev->call.targets, ev->call.count, s);
    for (uint32_t i = 0; i < ev->call.count; i++)
        out = merge(w->f, out, call_instance(w, ev, ev->call.targets[i], true, s));
    return out;
}

static struct flow_state apply_event(struct step *w, const struct flow_event *ev,
                                     struct flow_state s)
{
    const struct rh_call_targets *call = &ev->call;
    struct flow_state out = unreachable;
    if (!call->count && !call->library_count && !call->unknown)
        return s; /* through a pointer to nothing we know: it is not made */
    s = call_targets(w, ev, s);
    if (is_reachable(s) && call->unknown)
        s = apply_unknown(w, s);
    if (ev->runs_outside)
        s = call_outside(w, ev, s);
    if (ev->direct || !is_reachable(s))
        return s;
    if (call->library_count)
        out = apply_libraries(w, ev, s);
    return call->unknown ? merge(w->f, out, s) : out;
}

/* --- one context --- */

/* How an exception leaves a call: with whatever it may have started and not yet released. */
static struct flow_state unwind(struct step *w, const struct flow_event *ev, struct flow_state s)
{
    struct rh_flow *f = w->f;
    uint32_t callees[FLOW_MOST_TARGETS + 1], count = flow_callees(f, ev, callees);
    if (ev->call.unknown)
        s = apply_unknown(w, s);
    for (uint32_t i = 0; i < count; i++) {
        struct flow_summary sum = *flow_summary_of(f, callees[i]);
        if (sum.starts && w->c->thread == 0)
            s.locks = flow_locks_without_loads(f, s.locks);
        s.alive = flow_set_unite(&f->alive_sets, s.alive, sum.starts);
        s.locks = flow_locks_without(f, s.locks, &sum.release);
        flow_release_unite(f, &w->c->release, &sum.release);
    }
    for (uint32_t i = 0; i < ev->call.library_count; i++)
        s = merge(f, s, apply_library(w, ev, ev->call.libraries[i], s));
    return s;
}

static struct flow_state pass_alive_edges(struct step *w, const struct rh_block *from,
                                          const struct rh_block *to, struct flow_state s)
{
    rh_vec_each (struct flow_edge, e, &w->body->edges) {
        if (e->to != to || (e->from && e->from != from) ||
            (!e->from && (e->loop ? !from || rh_cfg_loop_contains(e->loop, from) : from != NULL)))
            continue;
        if (e->kind == EDGE_JOINED &&
            !flow_joins_known(w->f, w->c->thread, &e->joins, e->own_handle))
            continue;
        note_joiner(w, e->kind == EDGE_JOINED ? &e->joins : &e->threads);
        s.alive = flow_alive_pass_edge(w->f, s.alive, e);
    }
    return s;
}

/* `before` is the state before the block's last instruction, `after` behind it. */
static struct flow_state pass_edge(struct step *w, const struct rh_block *from,
                                   const struct rh_block *to, struct flow_state before,
                                   struct flow_state after)
{
    const struct rh_value *last = from->last;
    struct flow_state s = after;
    uint32_t end = w->body->first_event[from->id + 1];
    if (last->op == RH_OP_INVOKE && from->succ_count == 2 && to == from->succs[1] &&
        end > w->body->first_event[from->id] && w->body->events[end - 1].inst == last)
        s = is_reachable(before) ? unwind(w, &w->body->events[end - 1], before) : before;
    if (!is_reachable(s))
        return s;
    s.locks = flow_decide_tries(w->f, s.locks, from, to);
    s.locks = flow_locks_pass_edge(w->f, s.locks, w->c->instance, from, to);
    return pass_alive_edges(w, from, to, s);
}

/* Walks one block; marks the blocks behind it whose state it changes. */
static void walk_block(struct step *w, const struct rh_block *b, bool *dirty)
{
    uint32_t first = w->body->first_event[b->id], last = w->body->first_event[b->id + 1];
    struct flow_state *states = w->c->states + first + b->id;
    struct flow_state s = states[0], before = s;
    for (uint32_t i = first; i < last; i++) {
        before = s;
        if (is_reachable(s))
            s = apply_event(w, &w->body->events[i], s);
        s = merge(w->f, states[i - first + 1], s);
        states[i - first + 1] = s;
    }
    if (b->last->op == RH_OP_RET && is_reachable(s)) {
        s.locks = flow_locks_at_return(w->f, s.locks);
        w->c->exit = merge(w->f, w->c->exit, s);
    }
    for (uint32_t i = 0; i < b->succ_count; i++) {
        const struct rh_block *to = b->succs[i];
        struct flow_state *in = &w->c->states[w->body->first_event[to->id] + to->id];
        struct flow_state all = merge(w->f, *in, pass_edge(w, b, to, before, s));
        if (same_state(all, *in))
            continue;
        *in = all;
        dirty[to->id] = true;
    }
}

static void walk_blocks(struct step *w)
{
    struct rh_function *fn = w->body->fn;
    const struct rh_cfg *cfg = flow_cfg(w->f, fn);
    bool *dirty = rh_calloc(fn->block_count, sizeof *dirty), any = true;
    struct flow_state entry = pass_alive_edges(w, NULL, fn->blocks[0], w->c->entry);
    if (!w->c->states) {
        uint32_t count = w->body->event_count + fn->block_count;
        w->c->states = rh_arena_array(&w->f->walk_arena, struct flow_state, count);
        for (uint32_t i = 0; i < count; i++)
            w->c->states[i] = unreachable;
    }
    w->c->states[0] = merge(w->f, w->c->states[0], entry);
    /* What is walked again can come out differently only behind calls and at joins. */
    dirty[0] = true;
    for (uint32_t i = 0; i < fn->block_count; i++)
        dirty[i] |= w->body->edges.len || w->body->first_event[i] < w->body->first_event[i + 1];
    while (any) {
        any = false;
        for (uint32_t i = 0; i < cfg->rpo_count; i++) {
            const struct rh_block *b = cfg->rpo[i];
            if (!dirty[b->id] || !is_reachable(w->c->states[w->body->first_event[b->id] + b->id]))
                continue;
            dirty[b->id] = false;
            any = true;
            walk_block(w, b, dirty);
        }
    }
    free(dirty);
}

/* The same state throughout: where nothing changes it; and where a second return of setjmp may lead
 * back with any later state, with what is true at all times. */
static void walk_evenly(struct step *w)
{
    struct rh_flow *f = w->f;
    struct flow_state s = w->c->entry;
    if (w->body->fn->returns_twice) {
        struct flow_summary sum = *flow_summary_of(f, w->body->instance);
        s.alive = flow_set_unite(&f->alive_sets, s.alive, sum.starts);
        s.locks = flow_locks_without(f, s.locks, &sum.release);
        if (sum.starts) {
            s.locks = flow_locks_without_loads(f, s.locks);
            w->c->starts_first = true;
        }
        flow_release_unite(f, &w->c->release, &sum.release);
    }
    w->c->inside = merge(f, w->c->inside, s);
    for (uint32_t i = 0; i < w->body->event_count; i++)
        apply_event(w, &w->body->events[i], w->c->inside);
    w->c->exit = w->c->inside;
}

/* The beginning of a thread. The main thread runs its entries one after the other; any other one of
 * them. At the end, what was left for later is run. */
static void walk_beginning(struct step *w)
{
    struct rh_flow *f = w->f;
    const struct rh_thread *t = &f->threads.data[w->c->thread].public;
    const struct flow_event none = {.bundle = FLOW_NONE, .starts = FLOW_NONE};
    struct flow_state s = {0, 0}, out = unreachable;
    uint32_t id;
    /* A library's callers come when it is loaded; those of a program may come at any time. */
    if (t->id == 0 && f->has_callers && !f->is_library)
        s = start_thread(w, 1, s);
    for (uint32_t i = 0; t->id == 0 && i < f->first_run_count; i++)
        if (is_reachable(s))
            out = s = call_instance(w, &none, f->first_run[i], false, s);
    for (uint64_t at = 0; t->id != 0 && rh_idset_next(&t->entries, &at, &id);)
        out = merge(f, out, call_instance(w, &none, id, false, s));
    if (t->id == 0 && f->first_run_count == 0)
        out = s;
    uint32_t bundle = flow_bundle_at_end(f, t);
    if (is_reachable(out) && bundle != FLOW_NONE)
        out = call_instance(w, &none, bundle, false, out);
    if (t->id == 0 && f->is_library && is_reachable(out))
        out = start_thread(w, 1, out);
    if (is_reachable(out))
        end_thread(w, out.alive);
    w->c->exit = merge(f, w->c->exit, out);
}

static void walk_bundle(struct step *w)
{
    const struct flow_event none = {.bundle = FLOW_NONE, .starts = FLOW_NONE};
    const struct flow_body *body = w->body;
    struct flow_state out = unreachable;
    if (body->repeats)
        out = call_back(w, &none, body->targets, body->target_count, w->c->entry);
    for (uint32_t i = 0; !body->repeats && i < body->target_count; i++)
        out = merge(w->f, out, call_instance(w, &none, body->targets[i], false, w->c->entry));
    w->c->exit = merge(w->f, w->c->exit, out);
}

static void walk_context(struct rh_flow *f, uint32_t id)
{
    struct flow_context *c = f->contexts.data[id];
    struct step w = {.f = f, .id = id, .c = c};
    if (rh_deadline_passed(f->deadline))
        return;
    struct flow_context before = *c;
    c->walking = true;
    f->depth++;
    if (c->instance == RH_NO_INSTANCE) {
        walk_beginning(&w);
    } else {
        w.body = &f->bodies[c->instance];
        if (!w.body->fn)
            walk_bundle(&w);
        else if (w.body->fn->returns_twice || (!w.body->has_locks && !w.body->has_threads))
            walk_evenly(&w);
        else
            walk_blocks(&w);
    }
    f->depth--;
    c->walking = false;
    if (same_state(before.exit, c->exit) && before.release.cells == c->release.cells &&
        before.release.outside == c->release.outside && before.starts_first == c->starts_first)
        return;
    rh_vec_each (uint32_t, caller, &c->callers)
        enqueue(f, *caller);
}

void flow_walk(struct rh_flow *f)
{
    struct flow_context first = {.instance = RH_NO_INSTANCE, .thread = 0};
    enqueue(f, add_context(f, &first));
    while (f->queue_at < f->queue.len && !rh_deadline_passed(f->deadline)) {
        uint32_t id = f->queue.data[f->queue_at++];
        f->contexts.data[id]->queued = false;
        walk_context(f, id);
    }
    flow_finish_overlaps(f);
}
