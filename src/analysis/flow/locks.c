/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of locks that are surely held, and what calls, releases and edges do to them, for the flow
 * analysis.
 *
 * A set may be too small, never too large. What may go wrong with that stands at each rule.
 */
#include "analysis/flow/internal.h"

#include <string.h>

/* Room while a set is being made. */
enum { MOST_ENTRIES = 4 * FLOW_MOST_HELD };

struct draft {
    uint32_t count;
    struct flow_held held[MOST_ENTRIES];
};

const struct flow_lockset *flow_lockset(const struct rh_flow *f, uint32_t id)
{
    return &f->lock_sets.data[id];
}

/* --- making sets --- */

static void add_held(struct draft *d, struct flow_held h)
{
    if (d->count < MOST_ENTRIES)
        d->held[d->count++] = h;
}

static void join_groups(struct flow_held *held, uint32_t count, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; a != b && i < count; i++)
        if (held[i].group == b)
            held[i].group = a;
}

static bool goes_before(const struct flow_held *a, const struct flow_held *b)
{
    return a->name != b->name ? a->name < b->name : a->pending < b->pending;
}

/* Sorts and leaves of equal names one: held as weakly as the weakest of them says. */
static uint32_t normalise(struct rh_flow *f, struct flow_held *held, uint32_t count)
{
    uint32_t kept = 0, groups[MOST_ENTRIES];
    for (uint32_t i = 1; i < count; i++) {
        struct flow_held h = held[i];
        uint32_t k = i;
        for (; k > 0 && goes_before(&h, &held[k - 1]); k--)
            held[k] = held[k - 1];
        held[k] = h;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct flow_held *last = kept ? &held[kept - 1] : NULL;
        if (!last || goes_before(last, &held[i])) {
            held[kept++] = held[i];
            continue;
        }
        uint32_t other = held[i].group;
        last->mode = last->mode == RH_LOCK_READ ? RH_LOCK_READ : held[i].mode;
        last->cells = flow_cells_unite(f, last->cells, held[i].cells);
        join_groups(held, kept, last->group, other);
        join_groups(held + i, count - i, last->group, other);
    }
    kept = kept < FLOW_MOST_HELD ? kept : FLOW_MOST_HELD;
    for (uint32_t i = 0; i < kept; i++) {
        groups[i] = i;
        for (uint32_t k = 0; k < i && groups[i] == i; k++)
            if (held[k].group == held[i].group)
                groups[i] = k;
    }
    for (uint32_t i = 0; i < kept; i++)
        held[i].group = groups[i];
    return kept;
}

uint32_t flow_locks_intern(struct rh_flow *f, struct flow_held *held, uint32_t count)
{
    count = normalise(f, held, count);
    uint64_t hash = flow_hash(held, count * sizeof *held), first = FLOW_NONE;
    rh_map_get(&f->lock_set_of, hash, &first);
    for (uint32_t i = (uint32_t)first; i != FLOW_NONE; i = f->lock_sets.data[i].next) {
        const struct flow_lockset *s = &f->lock_sets.data[i];
        if (s->count == count && memcmp(s->held, held, count * sizeof *held) == 0)
            return i;
    }
    struct flow_lockset s = {.count = count, .next = (uint32_t)first};
    s.held = rh_arena_array(&f->arena, struct flow_held, count);
    memcpy(s.held, held, count * sizeof *held);
    rh_map_put(&f->lock_set_of, hash, f->lock_sets.len);
    rh_vec_push(&f->lock_sets, s);
    return (uint32_t)f->lock_sets.len - 1;
}

static uint32_t finish(struct rh_flow *f, struct draft *d)
{
    return flow_locks_intern(f, d->held, d->count);
}

static void load_draft(const struct rh_flow *f, uint32_t locks, struct draft *d)
{
    const struct flow_lockset *s = flow_lockset(f, locks);
    d->count = s->count;
    memcpy(d->held, s->held, s->count * sizeof *s->held);
}

/* What both have. Names that are of one taking on either way count as of one taking. */
static uint32_t meet(struct rh_flow *f, uint32_t a, uint32_t b)
{
    const struct flow_lockset *x = flow_lockset(f, a), *y = flow_lockset(f, b);
    struct draft d;
    d.count = 0;
    uint32_t others[FLOW_MOST_HELD];
    for (uint32_t i = 0, k = 0; i < x->count; i++) {
        while (k < y->count && goes_before(&y->held[k], &x->held[i]))
            k++;
        if (k == y->count || goes_before(&x->held[i], &y->held[k]))
            continue;
        struct flow_held h = x->held[i];
        h.mode = h.mode == RH_LOCK_READ ? RH_LOCK_READ : y->held[k].mode;
        h.cells = flow_cells_unite(f, h.cells, y->held[k].cells);
        others[d.count] = y->held[k].group;
        add_held(&d, h);
    }
    for (uint32_t i = 0; i < d.count; i++)
        for (uint32_t k = 0; k < i; k++)
            if (others[i] == others[k])
                join_groups(d.held, d.count, d.held[k].group, d.held[i].group);
    return finish(f, &d);
}

uint32_t flow_locks_meet(struct rh_flow *f, uint32_t a, uint32_t b)
{
    uint64_t known;
    if (a == b)
        return a;
    if (a == 0 || b == 0)
        return 0;
    uint64_t key = a < b ? flow_pair(a, b) : flow_pair(b, a);
    if (rh_map_get(&f->meets, key, &known))
        return (uint32_t)known;
    uint32_t out = meet(f, a, b);
    rh_map_put(&f->meets, key, out);
    return out;
}

/* --- taking and releasing --- */

/* What lies so far behind the pointer, called by where it is; FLOW_NONE if that is not one place of
 * one block. */
static uint32_t name_place(struct rh_flow *f, uint32_t instance, const struct rh_value *pointer,
                           int64_t offset)
{
    const struct rh_idset *cells = rh_pointsto_of(f->pointsto, instance, pointer);
    uint64_t at = 0;
    uint32_t cell;
    if (rh_idset_count(cells) != 1 || !rh_idset_next(cells, &at, &cell))
        return FLOW_NONE;
    const struct rh_cell *c = rh_pointsto_cell(f->pointsto, cell);
    if (c->stride || !flow_is_single(f, c->object))
        return FLOW_NONE;
    return flow_name_of_object(f, c->object, c->offset + offset);
}

/* How the lock at a pointer is called: as the code reaches it, and by where it is. */
static uint32_t name_lock(struct rh_flow *f, uint32_t instance, const struct rh_value *pointer,
                          uint32_t out[2])
{
    out[0] = flow_name_of(f, instance, pointer);
    out[1] = name_place(f, instance, pointer, 0);
    return out[1] == FLOW_NONE || out[0] == out[1] ? 1 : 2;
}

uint32_t flow_locks_take(struct rh_flow *f, uint32_t locks, uint32_t instance,
                         const struct rh_value *call, struct rh_value *pointer,
                         enum rh_lock_mode mode, bool is_try)
{
    uint32_t names[2], count = name_lock(f, instance, pointer, names);
    struct draft d;
    load_draft(f, locks, &d);
    for (uint32_t i = 0; i < count; i++) {
        struct flow_name *name = &f->names.data[names[i]];
        if (!name->call) {
            name->call = call;
            name->pointer = pointer;
        }
        add_held(&d, (struct flow_held){.name = names[i],
                                        .cells = flow_cells_of(f, instance, pointer),
                                        .group = MOST_ENTRIES,
                                        .pending = is_try ? call->id + 1 : 0,
                                        .mode = mode});
    }
    return finish(f, &d);
}

static uint32_t without_groups(struct rh_flow *f, uint32_t locks, const bool gone[FLOW_MOST_HELD])
{
    const struct flow_lockset *s = flow_lockset(f, locks);
    struct draft d;
    d.count = 0;
    for (uint32_t i = 0; i < s->count; i++)
        if (!gone[s->held[i].group])
            add_held(&d, s->held[i]);
    return finish(f, &d);
}

uint32_t flow_locks_without(struct rh_flow *f, uint32_t locks, const struct flow_release *r)
{
    bool gone[FLOW_MOST_HELD] = {false};
    const struct flow_lockset *s = flow_lockset(f, locks);
    if (!s->count || (r->cells == 0 && !r->outside))
        return locks;
    for (uint32_t i = 0; i < s->count; i++)
        gone[s->held[i].group] |= flow_is_released(f, s->held[i].cells, r);
    return without_groups(f, locks, gone);
}

uint32_t flow_locks_release(struct rh_flow *f, uint32_t locks, uint32_t instance,
                            struct rh_value *pointer, struct flow_release *release)
{
    uint32_t names[2], count = name_lock(f, instance, pointer, names);
    const struct flow_lockset *s = flow_lockset(f, locks);
    bool gone[FLOW_MOST_HELD] = {false}, known = false;
    for (uint32_t i = 0; i < s->count; i++)
        for (uint32_t k = 0; k < count; k++)
            if (s->held[i].name == names[k]) {
                gone[s->held[i].group] = true;
                known |= !s->held[i].pending;
            }
    locks = without_groups(f, locks, gone);
    /* It is the lock that was taken under this name, and no other taking is undone. */
    if (known)
        return locks;
    struct flow_release here = {
        .cells = flow_cells_of(f, instance, pointer),
        .outside = flow_touches_outside(f, rh_pointsto_of(f->pointsto, instance, pointer)),
    };
    flow_release_unite(f, release, &here);
    return flow_locks_without(f, locks, &here);
}

uint32_t flow_locks_without_loads(struct rh_flow *f, uint32_t locks)
{
    const struct flow_lockset *s = flow_lockset(f, locks);
    struct draft d;
    d.count = 0;
    for (uint32_t i = 0; i < s->count; i++)
        if (!f->names.data[s->held[i].name].loads)
            add_held(&d, s->held[i]);
    return d.count == s->count ? locks : finish(f, &d);
}

uint32_t flow_locks_decide(struct rh_flow *f, uint32_t locks, const struct rh_value *call,
                           bool success)
{
    const struct flow_lockset *s = flow_lockset(f, locks);
    struct draft d;
    d.count = 0;
    bool changed = false;
    for (uint32_t i = 0; i < s->count; i++) {
        struct flow_held h = s->held[i];
        if (h.pending == call->id + 1) {
            changed = true;
            h.pending = 0;
            if (!success)
                continue;
        }
        add_held(&d, h);
    }
    return changed ? finish(f, &d) : locks;
}

/* --- edges --- */

static void collect_phis(struct rh_flow *f, uint32_t instance, const struct rh_block *from,
                         const struct rh_block *to, struct flow_renames *r)
{
    for (const struct rh_value *phi = to->first; phi && phi->op == RH_OP_PHI; phi = phi->next) {
        bool is_pointer = phi->type->kind == RH_TYPE_PTR;
        if (phi->op_count < 2 || (!is_pointer && phi->type->kind != RH_TYPE_INT))
            continue;
        for (uint32_t i = 0; i < phi->op_count; i++) {
            if (phi->targets[i] != from)
                continue;
            const struct rh_value *in = phi->ops[i];
            uint32_t name = is_pointer ? flow_name_of(f, instance, in)
                                       : flow_name_of_node(f, flow_node_of(f, instance, in));
            rh_vec_push(&r->all, (struct flow_rename){name, flow_node_of(f, instance, phi)});
            break;
        }
    }
}

static bool is_tried_in(const struct rh_block *b, uint32_t pending)
{
    return pending && pending - 1 >= b->first->id && pending - 1 <= b->last->id;
}

/* Does nothing held hang on an instruction, and does no phi give it another name? */
static bool passes_unchanged(const struct rh_flow *f, const struct flow_lockset *s,
                             const struct rh_block *to)
{
    bool unchanged = to->first->op != RH_OP_PHI;
    for (uint32_t i = 0; unchanged && i < s->count; i++)
        unchanged = !s->held[i].pending && !f->names.data[s->held[i].name].is_local;
    return unchanged;
}

/* What was computed in the block is computed anew, so names that hang on it go, unless a phi takes
 * the value over. */
uint32_t flow_locks_pass_edge(struct rh_flow *f, uint32_t locks, uint32_t instance,
                              const struct rh_block *from, const struct rh_block *to)
{
    const struct flow_lockset *s = flow_lockset(f, locks);
    struct flow_renames r = {.keep = to};
    struct draft d;
    d.count = 0;
    if (!s->count || passes_unchanged(f, s, to))
        return locks;
    collect_phis(f, instance, from, to, &r);
    s = flow_lockset(f, locks);
    for (uint32_t i = 0; i < s->count; i++) {
        struct flow_held h = s->held[i];
        uint32_t names[FLOW_MOST_NAMES], count = flow_rename(f, h.name, &r, names);
        for (uint32_t k = 0; k < count && !is_tried_in(to, h.pending); k++) {
            struct flow_name *name = &f->names.data[names[k]];
            if (!name->call) {
                name->call = f->names.data[h.name].call;
                name->pointer = f->names.data[h.name].pointer;
            }
            h.name = names[k];
            add_held(&d, h);
            h.name = s->held[i].name;
        }
    }
    rh_vec_free(&r.all);
    return finish(f, &d);
}

/* --- calls --- */

uint32_t flow_locks_at_return(struct rh_flow *f, uint32_t locks)
{
    const struct flow_lockset *s = flow_lockset(f, locks);
    struct draft d;
    d.count = 0;
    for (uint32_t i = 0; i < s->count; i++)
        if (!f->names.data[s->held[i].name].is_local && !s->held[i].pending)
            add_held(&d, s->held[i]);
    return finish(f, &d);
}

static void collect_arguments(struct rh_flow *f, uint32_t caller, const struct flow_event *ev,
                              const struct rh_function *callee, struct flow_renames *r)
{
    const struct rh_value *call = ev->inst;
    for (uint32_t i = 0; ev->direct && i < callee->arg_count && i < call->op_count; i++) {
        const struct rh_value *param = callee->args[i], *arg = call->ops[i];
        bool is_pointer = param->type->kind == RH_TYPE_PTR;
        if (param->is_by_value || param->type != arg->type ||
            (!is_pointer && param->type->kind != RH_TYPE_INT))
            continue;
        uint32_t name = is_pointer ? flow_name_of(f, caller, arg)
                                   : flow_name_of_node(f, flow_node_of(f, caller, arg));
        uint32_t to = flow_node_of(f, RH_NO_INSTANCE, param);
        rh_vec_push(&r->all, (struct flow_rename){name, to});
    }
}

/* Adds the names that an entry of the caller's has in the callee. */
static void add_entered(struct rh_flow *f, const struct flow_held *h, const struct flow_renames *r,
                        struct draft *d)
{
    uint32_t names[FLOW_MOST_NAMES], count = h->pending ? 0 : flow_rename(f, h->name, r, names);
    for (uint32_t k = 0; k < count; k++) {
        struct flow_held entered = *h;
        struct flow_name *name = &f->names.data[names[k]];
        if (!name->call) {
            name->call = f->names.data[h->name].call;
            name->pointer = f->names.data[h->name].pointer;
        }
        entered.name = names[k];
        add_held(d, entered);
    }
}

uint32_t flow_locks_enter(struct rh_flow *f, uint32_t locks, uint32_t caller,
                          const struct flow_event *ev, const struct rh_function *callee)
{
    struct flow_renames r = {0};
    struct draft d;
    d.count = 0;
    if (!flow_lockset(f, locks)->count)
        return 0;
    collect_arguments(f, caller, ev, callee, &r);
    const struct flow_lockset *s = flow_lockset(f, locks);
    for (uint32_t i = 0; i < s->count; i++)
        add_entered(f, &s->held[i], &r, &d);
    rh_vec_free(&r.all);
    return finish(f, &d);
}

static const struct flow_held *find_held(const struct flow_lockset *s, uint32_t name)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (s->held[i].name == name && !s->held[i].pending)
            return &s->held[i];
    return NULL;
}

/* How one entry of the caller's came through the call. */
enum fate { FATE_UNSEEN, FATE_KEPT, FATE_LOST };

struct leaving {
    const struct flow_context *callee;
    const struct flow_lockset *entry, *exit;
    struct flow_renames renames;
    enum fate fates[FLOW_MOST_HELD]; /* by group of the caller */
    uint32_t modes[FLOW_MOST_HELD];
    uint32_t groups[FLOW_MOST_HELD]; /* by group of the exit: that of the caller, or FLOW_NONE */
};

/* A lock the callee knew of is held if it says so. */
static void judge_entered(struct rh_flow *f, const struct flow_held *h, struct leaving *l)
{
    struct draft d;
    d.count = 0;
    add_entered(f, h, &l->renames, &d);
    for (uint32_t i = 0; i < d.count; i++) {
        if (!find_held(l->entry, d.held[i].name))
            continue;
        const struct flow_held *out = find_held(l->exit, d.held[i].name);
        if (out) {
            l->fates[h->group] = FATE_KEPT;
            l->modes[h->group] = out->mode;
            l->groups[out->group] = h->group;
        } else if (l->fates[h->group] == FATE_UNSEEN) {
            l->fates[h->group] = FATE_LOST;
        }
    }
}

static void add_kept(struct rh_flow *f, const struct flow_lockset *s, struct leaving *l,
                     struct draft *d)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (l->fates[s->held[i].group] == FATE_UNSEEN &&
            flow_is_released(f, s->held[i].cells, &l->callee->release))
            l->fates[s->held[i].group] = FATE_LOST;
    for (uint32_t i = 0; i < s->count; i++) {
        struct flow_held h = s->held[i];
        enum fate fate = l->fates[h.group];
        if (fate == FATE_LOST || (l->callee->starts_first && f->names.data[h.name].loads))
            continue;
        if (fate == FATE_KEPT)
            h.mode = l->modes[h.group];
        add_held(d, h);
    }
}

/* The lock that a callee took through one of its parameters, by where it is: in the callee that may
 * be many places, and one for the caller. */
static uint32_t name_given_place(struct rh_flow *f, uint32_t name, uint32_t caller,
                                 const struct flow_event *ev, const struct rh_function *callee)
{
    const struct flow_name *n = &f->names.data[name];
    const struct flow_node *root = &f->nodes.data[n->node];
    const struct rh_value *arg =
        root->kind == NODE_ARG && !n->term_count ? flow_given(ev, callee, root->value) : NULL;
    return arg ? name_place(f, caller, arg, n->offset) : FLOW_NONE;
}

/* Locks that the callee leaves held, in the caller's terms. */
static void add_left(struct rh_flow *f, uint32_t caller, const struct flow_event *ev,
                     const struct leaving *l, struct draft *d)
{
    const struct rh_function *fn = f->bodies[l->callee->instance].fn;
    for (uint32_t i = 0; i < l->exit->count; i++) {
        const struct flow_held *left = &l->exit->held[i];
        uint32_t names[] = {flow_name_at_caller(f, left->name, caller, ev, fn),
                            name_given_place(f, left->name, caller, ev, fn)};
        for (uint32_t k = 0; k < 2 && !left->pending; k++) {
            struct flow_held h = *left;
            if (names[k] == FLOW_NONE || (k && names[1] == names[0]))
                continue;
            if (!f->names.data[names[k]].call) {
                f->names.data[names[k]].call = f->names.data[h.name].call;
                f->names.data[names[k]].pointer = f->names.data[h.name].pointer;
            }
            h.name = names[k];
            h.group = l->groups[h.group] != FLOW_NONE ? l->groups[h.group] : MOST_ENTRIES + h.group;
            add_held(d, h);
        }
    }
}

uint32_t flow_locks_leave(struct rh_flow *f, uint32_t locks, uint32_t caller,
                          const struct flow_event *ev, const struct flow_context *callee)
{
    if (locks == 0 && callee->exit.locks == 0)
        return 0;
    struct leaving l = {.callee = callee};
    struct draft d;
    d.count = 0;
    memset(l.groups, 0xff, sizeof l.groups);
    const struct rh_function *fn = f->bodies[callee->instance].fn;
    collect_arguments(f, caller, ev, fn, &l.renames);
    struct flow_lockset s = *flow_lockset(f, locks), entry = *flow_lockset(f, callee->entry.locks),
                        exit = *flow_lockset(f, callee->exit.locks);
    l.entry = &entry;
    l.exit = &exit;
    for (uint32_t i = 0; i < s.count; i++)
        judge_entered(f, &s.held[i], &l);
    add_kept(f, &s, &l, &d);
    add_left(f, caller, ev, &l, &d);
    rh_vec_free(&l.renames.all);
    return finish(f, &d);
}
