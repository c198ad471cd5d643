/* SPDX-License-Identifier: Apache-2.0 */
/* The flow analysis as a whole, and the questions it answers: see flow.h. */
#include "analysis/flow/flow.h"

#include "analysis/flow/internal.h"
#include "base/mem.h"
#include "ir/names/expr.h"

struct flow_ways {
    uint32_t count;
    struct rh_occurrence *all;
};

struct public_locks {
    uint32_t count;
    struct rh_lock *all;
};

static void reset_walk(struct rh_flow *f)
{
    rh_vec_each (struct flow_context *, c, &f->contexts)
        rh_vec_free(&(*c)->callers);
    rh_vec_free(&f->contexts);
    rh_vec_free(&f->queue);
    f->queue_at = 0;
    rh_map_release(&f->context_of);
    rh_map_release(&f->called_by);
    rh_map_release(&f->noted);
    rh_map_release(&f->joined_by);
    rh_map_release(&f->occurrences);
    rh_arena_release(&f->walk_arena);
    for (uint32_t i = 0; i < f->body_count + f->bundle_count; i++)
        rh_vec_clear(&f->bodies[i].contexts);
}

/* Locks and joins are named better once it is known what is stable, and that only once it is known
 * what runs alone. */
static void walk_twice(struct rh_flow *f)
{
    flow_joins_find(f);
    flow_walk(f);
    flow_find_unstable(f);
    flow_names_reset(f);
    reset_walk(f);
    flow_threads_reset(f);
    flow_joins_find(f);
    flow_walk(f);
}

static void list_alive_threads(struct rh_flow *f)
{
    for (uint32_t i = 0; i < f->alive_sets.all.len; i++) {
        struct rh_idset threads = RH_IDSET_INIT;
        uint32_t bit;
        for (uint64_t at = 0; rh_idset_next(flow_set(&f->alive_sets, i), &at, &bit);)
            if (bit % ALIVE_BITS == ALIVE)
                rh_idset_add(&threads, bit / ALIVE_BITS);
        rh_vec_push(&f->alive_threads, threads);
    }
}

struct rh_flow *rh_flow_run(struct rh_module *m, const struct rh_pointsto *p,
                            const struct rh_flow_options *o)
{
    struct rh_flow *f = rh_calloc(1, sizeof *f);
    struct flow_held none[1];
    f->module = m;
    f->pointsto = p;
    f->is_library = o->is_library;
    f->outside_starts = o->outside_starts;
    f->outside_thread = FLOW_NONE;
    f->deadline = o->deadline;
    f->fresh = rh_fresh_find(m);
    flow_sets_init(&f->alive_sets);
    flow_sets_init(&f->cell_sets);
    flow_locks_intern(f, none, 0);
    flow_bodies_build(f);
    flow_threads_find(f);
    flow_writes_collect(f);
    walk_twice(f);
    list_alive_threads(f);
    return f;
}

static void release_interned(struct rh_flow *f)
{
    flow_sets_release(&f->alive_sets);
    flow_sets_release(&f->cell_sets);
    rh_vec_free(&f->nodes);
    rh_vec_free(&f->names);
    rh_vec_free(&f->lock_sets);
    rh_map_release(&f->node_of);
    rh_map_release(&f->name_of);
    rh_map_release(&f->lock_set_of);
    rh_map_release(&f->meets);
    rh_map_release(&f->cells_meet);
    rh_map_release(&f->public_locks);
    flow_names_reset(f);
    rh_vec_each (struct rh_idset, threads, &f->alive_threads)
        rh_idset_release(threads);
    rh_vec_free(&f->alive_threads);
}

void rh_flow_free(struct rh_flow *f)
{
    if (!f)
        return;
    reset_walk(f);
    flow_stable_release(f);
    flow_writes_release(f);
    rh_map_release(&f->stored);
    rh_map_release(&f->kept);
    rh_map_release(&f->sides);
    flow_threads_release(f);
    flow_bodies_release(f);
    release_interned(f);
    rh_fresh_free(f->fresh);
    rh_expr_free(f->expr);
    rh_arena_release(&f->arena);
    free(f);
}

/* --- questions --- */

uint32_t rh_flow_thread_count(const struct rh_flow *f)
{
    return (uint32_t)f->threads.len;
}

const struct rh_thread *rh_flow_thread(const struct rh_flow *f, uint32_t id)
{
    return &f->threads.data[id].public;
}

static int compare_ways(const void *a, const void *b)
{
    const struct rh_occurrence *x = a, *y = b;
    if (x->locks != y->locks)
        return x->locks < y->locks ? -1 : 1;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->alive > y->alive) - (x->alive < y->alive);
}

struct way_list RH_VEC_BODY(struct rh_occurrence);

static void add_way(struct way_list *all, uint32_t thread, struct flow_state s)
{
    if (s.alive != FLOW_NONE)
        rh_vec_push(all, (struct rh_occurrence){thread, s.alive, s.locks});
}

static void sort_ways(struct way_list *all)
{
    size_t kept = 0;
    if (all->len)
        qsort(all->data, all->len, sizeof *all->data, compare_ways);
    for (size_t i = 0; i < all->len; i++)
        if (!kept || compare_ways(&all->data[kept - 1], &all->data[i]) != 0)
            all->data[kept++] = all->data[i];
    all->len = kept;
}

/* A call that changes the state runs before and after the change. */
static void find_ways(struct rh_flow *f, const struct flow_body *body, uint32_t segment,
                      bool is_event, struct flow_ways *out)
{
    struct way_list all = RH_VEC_INIT;
    rh_vec_each (const uint32_t, id, &body->contexts) {
        const struct flow_context *context = f->contexts.data[*id];
        if (!context->states) {
            add_way(&all, context->thread, context->inside);
            continue;
        }
        add_way(&all, context->thread, context->states[segment]);
        if (is_event)
            add_way(&all, context->thread, context->states[segment + 1]);
    }
    sort_ways(&all);
    out->count = (uint32_t)all.len;
    out->all = rh_arena_array(&f->walk_arena, struct rh_occurrence, all.len);
    if (all.len)
        memcpy(out->all, all.data, all.len * sizeof *all.data);
    rh_vec_free(&all);
}

const struct rh_occurrence *rh_flow_occurrences(const struct rh_flow *f, uint32_t instance,
                                                const struct rh_value *inst, uint32_t *count)
{
    /* Answers are remembered. */
    struct rh_flow *own = (struct rh_flow *)(uintptr_t)f;
    const struct flow_body *body = &f->bodies[instance];
    bool is_event;
    uint32_t segment = flow_segment(body, inst, &is_event);
    uint64_t key = flow_pair(instance, segment * 2 + is_event);
    struct flow_ways *ways = rh_map_get_ptr(&f->occurrences, key);
    if (!ways) {
        ways = rh_arena_new(&own->walk_arena, struct flow_ways);
        find_ways(own, body, segment, is_event, ways);
        rh_map_put_ptr(&own->occurrences, key, ways);
    }
    *count = ways->count;
    return ways->all;
}

static struct rh_lock show_lock(const struct rh_flow *f, const struct flow_held *h)
{
    const struct flow_name *name = &f->names.data[h->name];
    struct rh_lock lock = {
        .root = f->nodes.data[name->node].value,
        .offset = name->offset,
        .term_count = name->term_count,
        .mode = h->mode == RH_LOCK_READ ? RH_LOCK_READ : RH_LOCK_WRITE,
    };
    for (uint32_t i = 0; i < name->term_count; i++) {
        lock.terms[i].index = f->nodes.data[name->terms[i].node].value;
        lock.terms[i].scale = name->terms[i].scale;
    }
    return lock;
}

const struct rh_lock *rh_flow_locks(const struct rh_flow *f, uint32_t set, uint32_t *count)
{
    struct rh_flow *own = (struct rh_flow *)(uintptr_t)f;
    const struct flow_lockset *s = flow_lockset(f, set);
    struct public_locks *locks = rh_map_get_ptr(&f->public_locks, set);
    if (!locks) {
        locks = rh_arena_new(&own->arena, struct public_locks);
        locks->all = rh_arena_array(&own->arena, struct rh_lock, s->count);
        for (uint32_t i = 0; i < s->count; i++)
            if (!s->held[i].pending)
                locks->all[locks->count++] = show_lock(f, &s->held[i]);
        rh_map_put_ptr(&own->public_locks, set, locks);
    }
    *count = locks->count;
    return locks->all;
}

bool rh_flow_parallel(const struct rh_flow *f, const struct rh_occurrence *a,
                      const struct rh_occurrence *b)
{
    return rh_bitset_test(&f->threads.data[a->thread].overlaps, b->thread) ||
           (a->thread != b->thread && (flow_alive_has(f, a->alive, b->thread, ALIVE) ||
                                       flow_alive_has(f, b->alive, a->thread, ALIVE)));
}
