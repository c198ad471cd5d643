/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which joins surely wait for which threads, for the flow analysis.
 *
 * A join waits for a thread of one class if the handle it is given is read from memory that only
 * the starts of that class write (and zeros, which are no handles). That takes the class out if one
 * of it is alive. To take out many, joins are counted: every join of a valid handle waits for
 * another thread, so a loop that joins at least as often as a loop before it started has joined
 * all, whatever arrays the handles were in. How often a loop goes round is compared by how it
 * counts, so what it counts up to must be the same value both times.
 *
 * A second rule is about joins that are skipped: if threads are only started under a condition that
 * does not change, there are none where the condition is known not to hold.
 */
#include "analysis/flow/internal.h"

#include "base/mem.h"

enum { HANDLE_BYTES = 8, MOST_STEPS = 8 };

/* LLVM's numbers of predicates. */
enum { EQ = 32, NE, UGT, UGE, ULT, ULE, SGT, SGE, SLT, SLE };

/* --- what a handle was written by --- */

/* A handle, and what is found out about it. */
struct handle {
    uint32_t instance;
    uint32_t root;           /* node of the memory it is in */
    struct rh_idset threads; /* that it may be of */
    bool own;                /* all in memory that this run of the function has got */
};

static uint32_t root_of(struct rh_flow *f, uint32_t instance, const struct rh_value *pointer)
{
    uint32_t name = flow_name_of(f, instance, pointer);
    return f->names.data[name].node;
}

static bool add_starter(struct rh_flow *f, const struct flow_write *w, void *data)
{
    struct handle *h = data;
    uint64_t thread;
    if (w->kind == WRITE_ZERO)
        return true;
    if (w->kind != WRITE_HANDLE ||
        !rh_map_get(&f->thread_of, flow_pair(w->instance, w->inst->id), &thread))
        return false;
    rh_idset_add(&h->threads, (uint32_t)thread);
    h->own = h->own && w->instance == h->instance && root_of(f, w->instance, w->pointer) == h->root;
    return true;
}

static const struct rh_effect *find_join(const struct flow_event *ev)
{
    const struct rh_call_targets *call = &ev->call;
    if (call->library_count != 1 || call->count || call->unknown)
        return NULL;
    for (uint32_t i = 0; i < call->libraries[0]->effect_count; i++)
        if (call->libraries[0]->effects[i].kind == RH_EFFECT_JOIN)
            return &call->libraries[0]->effects[i];
    return NULL;
}

/* The place that the handle given to a join is read from. */
static struct rh_value *find_place(const struct flow_event *ev)
{
    const struct rh_effect *e = find_join(ev);
    if (!e || e->arg < 0 || (uint32_t)e->arg >= ev->inst->op_count || e->indirect > 1)
        return NULL;
    struct rh_value *place = ev->inst->ops[e->arg];
    if (e->indirect)
        return place;
    while (place->kind == RH_VALUE_INST &&
           (place->op == RH_OP_INTTOPTR || place->op == RH_OP_PTRTOINT ||
            (place->op == RH_OP_PHI && place->op_count == 1)))
        place = place->ops[0];
    return place->kind == RH_VALUE_INST && place->op == RH_OP_LOAD ? place->ops[0] : NULL;
}

/* Is it the address of memory that each run of the function gets anew? */
static bool is_new_memory(const struct rh_flow *f, struct rh_value *v)
{
    return v->kind == RH_VALUE_INST &&
           (v->op == RH_OP_ALLOCA || (v->op == RH_OP_CALL && rh_fresh_at(f->fresh, v->next, v)));
}

/* Finds the threads of which a join waits for one; none if it may be another. */
static void find_joined(struct rh_flow *f, uint32_t instance, struct flow_event *ev)
{
    struct handle h = {.instance = instance};
    struct rh_value *place = find_place(ev);
    if (!place)
        return;
    h.root = root_of(f, instance, place);
    h.own =
        f->nodes.data[h.root].kind == NODE_LOCAL && is_new_memory(f, rh_ir_base(place, NULL, NULL));
    const struct rh_idset *cells = rh_pointsto_of(f->pointsto, instance, place);
    if (flow_each_write(f, cells, HANDLE_BYTES, add_starter, &h)) {
        rh_idset_copy(&ev->joins, &h.threads);
        ev->own_handle = h.own;
    }
    rh_idset_release(&h.threads);
}

/* --- values that stay the same while a function runs --- */

struct write_search {
    struct rh_idset instances;
    uint32_t own;                       /* instance */
    RH_VEC(const struct rh_value *) at; /* in the function itself */
};

static bool note_write(struct rh_flow *f, const struct flow_write *w, void *data)
{
    struct write_search *s = data;
    (void)f;
    rh_idset_add(&s->instances, w->instance);
    if (w->instance == s->own)
        rh_vec_push(&s->at, w->inst);
    return true;
}

/* May the call lead to one of the instances? */
static bool leads_to(struct rh_flow *f, const struct flow_event *ev, const struct rh_idset *goals)
{
    uint32_t callees[FLOW_MOST_TARGETS + 1], count = flow_callees(f, ev, callees);
    struct rh_bitset seen = RH_BITSET_INIT;
    bool found = false;
    uint32_t goal;
    for (uint32_t i = 0; i < count; i++)
        rh_bitset_set(&seen, callees[i]);
    flow_follow_calls(f, &seen);
    for (uint64_t at = 0; !found && rh_idset_next(goals, &at, &goal);)
        found = rh_bitset_test(&seen, goal);
    rh_bitset_release(&seen);
    return found;
}

static bool reaches(const struct rh_value *from, const struct rh_value *to)
{
    struct rh_bitset seen = RH_BITSET_INIT;
    RH_VEC(const struct rh_block *) work = RH_VEC_INIT;
    bool found = from->block == to->block && from->id < to->id;
    rh_vec_push(&work, from->block);
    while (work.len && !found) {
        const struct rh_block *b = rh_vec_pop(&work);
        for (uint32_t i = 0; i < b->succ_count; i++) {
            found |= b->succs[i] == to->block;
            if (rh_bitset_set(&seen, b->succs[i]->id))
                rh_vec_push(&work, b->succs[i]);
        }
    }
    rh_vec_free(&work);
    rh_bitset_release(&seen);
    return found;
}

static bool find_stays_loaded(struct rh_flow *f, const struct flow_body *body,
                              const struct rh_value *load)
{
    struct write_search s = {.own = body->instance};
    const struct rh_idset *cells = rh_pointsto_of(f->pointsto, body->instance, load->ops[0]);
    bool stays = flow_each_write(f, cells, load->access->size, note_write, &s);
    for (uint32_t i = 0; stays && !rh_idset_is_empty(&s.instances) && i < body->event_count; i++)
        if (leads_to(f, &body->events[i], &s.instances))
            rh_vec_push(&s.at, body->events[i].inst);
    for (size_t i = 0; stays && i < s.at.len; i++)
        stays = !reaches(load, s.at.data[i]);
    rh_vec_free(&s.at);
    rh_idset_release(&s.instances);
    return stays;
}

/* Once loaded, does memory keep the value until the function returns? Other threads do not write it
 * (it is stable); the function and what it calls might. */
static bool stays_loaded(struct rh_flow *f, const struct flow_body *body,
                         const struct rh_value *load)
{
    uint64_t known, key = flow_pair(body->instance, load->id);
    if (!rh_map_get(&f->kept, key, &known)) {
        known = find_stays_loaded(f, body, load);
        rh_map_put(&f->kept, key, known);
    }
    return known;
}

/* Does the value, seen as its canonical node, stay what it is while the function runs? Instructions
 * other than loads must not run again, unless `dominated` says that it makes no difference. */
static bool is_fixed(struct rh_flow *f, const struct flow_body *body, const struct rh_value *v,
                     bool dominated, uint32_t steps)
{
    if (v->kind != RH_VALUE_INST)
        return true;
    uint32_t id = flow_node_of(f, body->instance, v);
    const struct flow_node *node = &f->nodes.data[id];
    if (node->kind == NODE_LOCAL)
        return dominated || !flow_in_cycle(f, node->value->block);
    if (v->op == RH_OP_LOAD)
        return node->kind == NODE_LOAD && !node->is_local && stays_loaded(f, body, v);
    for (uint32_t i = 0; i < v->op_count; i++)
        if (steps == 0 || !is_fixed(f, body, v->ops[i], dominated, steps - 1))
            return false;
    return true;
}

struct only_store {
    const struct rh_value *store;
    uint32_t count;
    uint32_t instance;
};

static bool note_store(struct rh_flow *f, const struct flow_write *w, void *data)
{
    struct only_store *s = data;
    (void)f;
    s->store = w->inst;
    s->instance = w->instance;
    return ++s->count == 1;
}

static struct rh_value *find_stored(struct rh_flow *f, const struct flow_body *body,
                                    const struct rh_value *load)
{
    struct only_store s = {0};
    const struct rh_idset *cells = rh_pointsto_of(f->pointsto, body->instance, load->ops[0]);
    uint64_t at = 0;
    uint32_t cell;
    if (rh_idset_count(cells) != 1 || !rh_idset_next(cells, &at, &cell) ||
        rh_pointsto_cell(f->pointsto, cell)->stride ||
        !flow_is_single(f, rh_pointsto_cell(f->pointsto, cell)->object) ||
        !flow_each_write(f, cells, load->access->size, note_store, &s) || s.count != 1 ||
        s.instance != body->instance || s.store->op != RH_OP_STORE ||
        s.store->access != load->access)
        return NULL;
    bool same_place = flow_name_of(f, body->instance, s.store->ops[1]) ==
                      flow_name_of(f, body->instance, load->ops[0]);
    return same_place && flow_runs_once(f, body->instance) && !flow_in_cycle(f, s.store->block) &&
                   rh_cfg_inst_dominates(flow_cfg(f, body->fn), s.store, load)
               ? s.store->ops[0]
               : NULL;
}

/* What a load gives if all there is to load was stored once, before, by the same function. */
static const struct rh_value *stored_value(struct rh_flow *f, const struct flow_body *body,
                                           const struct rh_value *load)
{
    uint64_t known, key = flow_pair(body->instance, load->id);
    if (!rh_map_get(&f->stored, key, &known)) {
        known = rh_map_key(find_stored(f, body, load));
        rh_map_put(&f->stored, key, known);
    }
    return (const struct rh_value *)(uintptr_t)known;
}

/* Strips what makes no difference to the value. */
static const struct rh_value *settle(struct rh_flow *f, const struct flow_body *body,
                                     const struct rh_value *v)
{
    for (uint32_t i = 0; i < MOST_STEPS && v->kind == RH_VALUE_INST; i++) {
        const struct rh_value *next = NULL;
        if (v->op == RH_OP_PHI && v->op_count == 1)
            next = v->ops[0];
        else if (v->op == RH_OP_LOAD && v->type->kind == RH_TYPE_INT && !v->is_volatile)
            next = stored_value(f, body, v);
        if (!next)
            break;
        v = next;
    }
    return v;
}

/* Are the two, both fixed, the same? */
static bool are_equal(struct rh_flow *f, const struct flow_body *body, const struct rh_value *a,
                      const struct rh_value *b, uint32_t steps)
{
    if (a == b || flow_node_of(f, body->instance, a) == flow_node_of(f, body->instance, b))
        return true;
    a = settle(f, body, a);
    b = settle(f, body, b);
    if (a == b || flow_node_of(f, body->instance, a) == flow_node_of(f, body->instance, b))
        return true;
    bool alike = a->kind == RH_VALUE_INST && b->kind == RH_VALUE_INST && a->op == b->op &&
                 a->type == b->type && a->predicate == b->predicate && a->op_count == b->op_count &&
                 steps > 0 && flow_is_pure(a->op);
    for (uint32_t i = 0; alike && i < a->op_count; i++)
        alike = a->ops[i]->type == b->ops[i]->type &&
                are_equal(f, body, a->ops[i], b->ops[i], steps - 1);
    return alike;
}

/* --- loops that count --- */

struct counting {
    const struct rh_loop *loop;
    uint32_t start, bound; /* nodes */
    const struct rh_value *start_value, *bound_value;
    int64_t step;
    int predicate; /* it goes round while counter PREDICATE bound */
    bool on_next;  /* the counter was already moved on */
    bool at_latch;
    const struct rh_block *exit_from, *exit_to;
};

static int invert(int predicate)
{
    static const int inverse[] = {NE, EQ, ULE, ULT, UGE, UGT, SLE, SLT, SGE, SGT};
    return inverse[predicate - EQ];
}

static int swap(int predicate)
{
    static const int swapped[] = {EQ, NE, ULT, ULE, UGT, UGE, SLT, SLE, SGT, SGE};
    return swapped[predicate - EQ];
}

/* The branch that ends the loop by counting: at its end, or before its body. */
static bool find_exit(const struct rh_loop *loop, struct counting *c)
{
    const struct rh_block *ends[] = {loop->latches[0], loop->header};
    for (int i = 0; i < 2; i++) {
        const struct rh_block *b = ends[i];
        if (b->last->op != RH_OP_BR || b->succ_count != 2 || b->last->op_count != 1)
            continue;
        bool first_in = rh_cfg_loop_contains(loop, b->succs[0]);
        bool second_in = rh_cfg_loop_contains(loop, b->succs[1]);
        if (first_in == second_in)
            continue;
        c->exit_from = b;
        c->exit_to = b->succs[first_in ? 1 : 0];
        c->at_latch = i == 0;
        return true;
    }
    return false;
}

static const struct rh_value *strip_widening(const struct rh_value *v)
{
    while (v->kind == RH_VALUE_INST &&
           (v->op == RH_OP_ZEXT || v->op == RH_OP_SEXT || (v->op == RH_OP_PHI && v->op_count == 1)))
        v = v->ops[0];
    return v;
}

/* Is `v` the counter of the loop, or the counter moved on? */
static bool read_counter(const struct rh_value *v, struct counting *c)
{
    for (const struct rh_value *phi = c->loop->header->first; phi && phi->op == RH_OP_PHI;
         phi = phi->next) {
        if (phi->op_count != 2 || phi->type->kind != RH_TYPE_INT)
            continue;
        uint32_t in = phi->targets[0] == c->loop->latches[0] ? 0 : 1;
        const struct rh_value *next = phi->ops[in];
        if (phi->targets[in] != c->loop->latches[0] || next->kind != RH_VALUE_INST ||
            next->op != RH_OP_ADD || next->ops[0] != phi || next->ops[1]->kind != RH_VALUE_INT ||
            (v != phi && v != next))
            continue;
        c->start_value = phi->ops[1 - in];
        c->step = next->ops[1]->num;
        c->on_next = v == next;
        return true;
    }
    return false;
}

static bool is_outside_loop(const struct rh_flow *f, const struct counting *c, uint32_t node)
{
    for (uint32_t i = 0; i < c->loop->block_count; i++)
        if (flow_node_depends(f, node, c->loop->blocks[i]))
            return false;
    return true;
}

/* How a loop around a call counts, if it makes the call once in every round. */
static bool read_counting(struct rh_flow *f, uint32_t instance, const struct rh_value *call,
                          struct counting *c)
{
    const struct rh_cfg *cfg = flow_cfg(f, call->fn);
    *c = (struct counting){.loop = rh_cfg_loop_of(cfg, call->block)};
    if (!c->loop || c->loop->latch_count != 1 || !find_exit(c->loop, c) ||
        !rh_cfg_dominates(cfg, call->block, c->loop->latches[0]) ||
        (!c->at_latch && call->block == c->loop->header))
        return false;
    const struct rh_value *test = c->exit_from->last->ops[0];
    if (test->kind != RH_VALUE_INST || test->op != RH_OP_ICMP || test->predicate < EQ ||
        test->predicate > SLE)
        return false;
    bool is_left = read_counter(test->ops[0], c);
    if (!is_left && !read_counter(test->ops[1], c))
        return false;
    c->predicate = c->exit_to == c->exit_from->succs[0] ? invert(test->predicate) : test->predicate;
    c->predicate = is_left ? c->predicate : swap(c->predicate);
    c->bound_value = strip_widening(test->ops[is_left ? 1 : 0]);
    c->start_value = strip_widening(c->start_value);
    c->start = flow_node_of(f, instance, c->start_value);
    c->bound = flow_node_of(f, instance, c->bound_value);
    return is_outside_loop(f, c, c->bound) && is_outside_loop(f, c, c->start);
}

/* How often the call runs, if that is a number. */
static bool count_rounds(const struct rh_flow *f, const struct counting *c, int64_t *rounds)
{
    const struct flow_node *start = &f->nodes.data[c->start], *bound = &f->nodes.data[c->bound];
    if (start->kind != NODE_CONST || bound->kind != NODE_CONST || c->step != 1 || start->num < 0 ||
        bound->num < 0 || (c->predicate != NE && c->predicate != SLT && c->predicate != ULT))
        return false;
    int64_t least = c->at_latch;
    *rounds = bound->num - start->num + (c->at_latch && !c->on_next);
    if (*rounds < least && c->predicate == NE)
        return false;
    if (*rounds < least)
        *rounds = least;
    return true;
}

static bool counts_alike(struct rh_flow *f, const struct flow_body *body, const struct counting *a,
                         const struct counting *b)
{
    const struct rh_cfg *cfg = flow_cfg(f, body->fn);
    bool dominated = rh_cfg_dominates(cfg, a->loop->header, b->loop->header);
    return a->step == b->step && a->predicate == b->predicate && a->on_next == b->on_next &&
           a->at_latch == b->at_latch && is_fixed(f, body, a->start_value, dominated, MOST_STEPS) &&
           is_fixed(f, body, b->start_value, dominated, MOST_STEPS) &&
           is_fixed(f, body, a->bound_value, dominated, MOST_STEPS) &&
           is_fixed(f, body, b->bound_value, dominated, MOST_STEPS) &&
           are_equal(f, body, a->start_value, b->start_value, MOST_STEPS) &&
           are_equal(f, body, a->bound_value, b->bound_value, MOST_STEPS);
}

/* --- edges --- */

static struct flow_edge *add_edge(struct flow_body *body, enum flow_edge_kind kind,
                                  const struct rh_block *from, const struct rh_block *to,
                                  const struct rh_loop *loop)
{
    struct flow_edge e = {.from = from, .to = to, .loop = loop, .kind = kind};
    rh_vec_push(&body->edges, e);
    return &rh_vec_last(&body->edges);
}

static const struct flow_event *start_of(const struct rh_flow *f, uint32_t thread)
{
    const struct rh_thread *t = &f->threads.data[thread].public;
    const struct flow_body *body = &f->bodies[t->instance];
    bool is_event;
    uint32_t segment = flow_segment(body, t->call, &is_event);
    return &body->events[segment - t->call->block->id];
}

/* Does the loop, when it is left by counting, join as often as one round starts the thread? */
static bool joins_all(struct rh_flow *f, const struct flow_body *body,
                      const struct counting *joining, uint32_t thread)
{
    const struct rh_thread *t = &f->threads.data[thread].public;
    struct counting starting;
    int64_t joined, started;
    if (!read_counting(f, t->instance, start_of(f, thread)->inst, &starting))
        return false;
    if (count_rounds(f, joining, &joined) && count_rounds(f, &starting, &started))
        return joined >= started;
    return t->instance == body->instance && counts_alike(f, body, &starting, joining);
}

static void read_join(struct rh_flow *f, struct flow_body *body, struct flow_event *ev)
{
    struct counting joining;
    int64_t rounds;
    uint32_t id;
    find_joined(f, body->instance, ev);
    if (rh_idset_is_empty(&ev->joins) || !read_counting(f, body->instance, ev->inst, &joining))
        return;
    struct flow_edge *e = add_edge(body, EDGE_JOINED, joining.exit_from, joining.exit_to, NULL);
    e->rounds = count_rounds(f, &joining, &rounds) ? rounds : 0;
    e->own_handle = ev->own_handle;
    rh_idset_copy(&e->joins, &ev->joins);
    for (uint64_t at = 0; rh_idset_next(&ev->joins, &at, &id);)
        if (joins_all(f, body, &joining, id))
            rh_idset_add(&e->threads, id);
}

/* Is `to` entered for the first time only from `from`? */
static bool is_entered_from(const struct rh_cfg *cfg, const struct rh_block *to,
                            const struct rh_block *from)
{
    for (uint32_t i = 0; i < to->pred_count; i++)
        if (to->preds[i] != from && !rh_cfg_dominates(cfg, to, to->preds[i]))
            return false;
    return true;
}

/* On the other side of each branch over the same condition, none has been started. */
static void add_absences(struct rh_flow *f, struct flow_body *body, uint32_t thread,
                         const struct rh_value *condition, bool truth)
{
    if (!is_fixed(f, body, condition, false, MOST_STEPS))
        return;
    for (uint32_t i = 0; i < body->fn->block_count; i++) {
        const struct rh_block *b = body->fn->blocks[i];
        if (b->last->op != RH_OP_BR || b->succ_count != 2 ||
            !are_equal(f, body, condition, b->last->ops[0], MOST_STEPS) ||
            !is_fixed(f, body, b->last->ops[0], false, MOST_STEPS))
            continue;
        struct flow_edge *e = add_edge(body, EDGE_ABSENT, b, b->succs[truth ? 1 : 0], NULL);
        rh_idset_add(&e->threads, thread);
    }
}

static void read_conditions(struct rh_flow *f, struct flow_body *body, const struct flow_event *ev)
{
    const struct rh_cfg *cfg = flow_cfg(f, body->fn);
    for (const struct rh_block *d = rh_cfg_idom(cfg, ev->inst->block); d; d = rh_cfg_idom(cfg, d)) {
        if (d->last->op != RH_OP_BR || d->succ_count != 2)
            continue;
        for (uint32_t i = 0; i < 2; i++)
            if (rh_cfg_dominates(cfg, d->succs[i], ev->inst->block) &&
                is_entered_from(cfg, d->succs[i], d))
                add_absences(f, body, ev->starts, d->last->ops[0], i == 0);
    }
}

/* Where a round of starting begins: at the function's entry and at that of the loop. */
static void read_start(struct rh_flow *f, struct flow_body *body, const struct flow_event *ev)
{
    const struct rh_cfg *cfg = flow_cfg(f, body->fn);
    const struct rh_loop *loop = rh_cfg_loop_of(cfg, ev->inst->block);
    struct flow_edge *e = add_edge(body, EDGE_ROUND, NULL, body->fn->blocks[0], NULL);
    rh_idset_add(&e->threads, ev->starts);
    if (loop) {
        e = add_edge(body, EDGE_ROUND, NULL, loop->header, loop);
        rh_idset_add(&e->threads, ev->starts);
    }
    if (f->threads.data[ev->starts].public.kind == RH_THREAD_CREATED)
        read_conditions(f, body, ev);
}

void flow_joins_forget(struct flow_body *body)
{
    rh_vec_each (struct flow_edge, e, &body->edges) {
        rh_idset_release(&e->threads);
        rh_idset_release(&e->joins);
    }
    rh_vec_clear(&body->edges);
}

void flow_joins_find(struct rh_flow *f)
{
    for (uint32_t i = 0; i < f->body_count; i++) {
        struct flow_body *body = &f->bodies[i];
        flow_joins_forget(body);
        for (uint32_t k = 0; k < body->event_count; k++) {
            struct flow_event *ev = &body->events[k];
            rh_idset_clear(&ev->joins);
            if (!rh_cfg_reachable(flow_cfg(f, body->fn), ev->inst->block))
                continue;
            if (ev->starts != FLOW_NONE)
                read_start(f, body, ev);
            if (find_join(ev))
                read_join(f, body, ev);
        }
    }
}
