/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what threads of a class have for themselves: see perthread.h. */
#include "analysis/pairs/perthread.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "ir/graph/cfg.h"

/* An address as base + offset + index * stride, with at most one index. */
struct address {
    const struct rh_value *base;
    const struct rh_value *index; /* without casts; NULL if there is none */
    int64_t offset;
    int64_t stride;
};

/* What one call that starts threads gives them. */
struct grant {
    const struct rh_value *call;
    uint32_t creator;      /* instance of the call */
    uint32_t entry;        /* instance that the threads begin with */
    bool whole;            /* a block of its own; else the element at `part` */
    struct address part;   /* of the argument; offset is where the element begins */
    struct address handle; /* where the thread's handle is stored */
    struct rh_cfg *cfg;    /* of the creator's function */
    const struct rh_loop *loop;
};

struct rh_perthread {
    const struct rh_pointsto *pointsto;
    RH_VEC(struct grant) grants;
    struct rh_map by_entry; /* instance -> position in grants */
};

/* --- addresses --- */

static const struct rh_value *strip_casts(const struct rh_value *v)
{
    while (v->kind == RH_VALUE_INST && (v->op == RH_OP_SEXT || v->op == RH_OP_ZEXT))
        v = v->ops[0];
    return v;
}

static bool read_address(const struct rh_value *v, struct address *out)
{
    memset(out, 0, sizeof *out);
    for (; v->gep; v = v->ops[0]) {
        if (v->gep->unknown || v->gep->term_count > 1 || (v->gep->term_count && out->index))
            return false;
        out->offset += v->gep->offset;
        if (v->gep->term_count) {
            out->index = strip_casts(v->gep->terms[0].index);
            out->stride = v->gep->terms[0].scale;
        }
    }
    out->base = v;
    return out->stride >= 0;
}

/* A value that is another one each time round the loop: a counter with a constant step. */
static bool is_counter(const struct rh_loop *loop, const struct rh_value *v, int64_t *first,
                       int64_t *step)
{
    if (!v || v->kind != RH_VALUE_INST || v->op != RH_OP_PHI || v->block != loop->header)
        return false;
    *first = INT64_MIN;
    *step = 0;
    for (uint32_t i = 0; i < v->op_count; i++) {
        const struct rh_value *in = v->ops[i];
        if (!rh_cfg_loop_contains(loop, v->targets[i])) {
            if (in->kind != RH_VALUE_INT || *first != INT64_MIN)
                return false;
            *first = in->num;
            continue;
        }
        if (in->kind != RH_VALUE_INST || in->op != RH_OP_ADD || in->ops[0] != v ||
            in->ops[1]->kind != RH_VALUE_INT || (*step && *step != in->ops[1]->num))
            return false;
        *step = in->ops[1]->num;
    }
    return *first != INT64_MIN && *step;
}

static bool is_made_outside(const struct rh_loop *loop, const struct rh_value *v)
{
    return v->kind != RH_VALUE_INST || !rh_cfg_loop_contains(loop, v->block);
}

/* --- grants --- */

static const struct rh_effect *thread_effect(const struct rh_perthread *o,
                                             const struct rh_thread *t)
{
    struct rh_call_targets call = rh_pointsto_call(o->pointsto, t->instance, t->call);
    if (call.library_count != 1 || call.count || call.unknown)
        return NULL;
    for (uint32_t i = 0; i < call.libraries[0]->effect_count; i++)
        if (call.libraries[0]->effects[i].kind == RH_EFFECT_THREAD)
            return &call.libraries[0]->effects[i];
    return NULL;
}

/* The array must be another one, or the loop run once, each time threads are started: a local of
 * the function, or anything if the function is main. */
static bool is_array_of_this_run(const struct rh_value *base)
{
    bool is_local = base->kind == RH_VALUE_INST && base->op == RH_OP_ALLOCA;
    const struct rh_function *fn = base->kind == RH_VALUE_INST ? base->fn : NULL;
    return is_local || (fn && strcmp(fn->name, "main") == 0);
}

static bool grant_element(struct grant *g, const struct rh_value *argument)
{
    int64_t first, step;
    bool in_main = strcmp(g->call->fn->name, "main") == 0;
    g->loop = rh_cfg_loop_of(g->cfg, g->call->block);
    return g->loop && !g->loop->parent && read_address(argument, &g->part) && g->part.stride > 0 &&
           is_counter(g->loop, g->part.index, &first, &step) &&
           is_made_outside(g->loop, g->part.base) &&
           (is_array_of_this_run(g->part.base) ||
            (in_main && g->part.base->kind == RH_VALUE_GLOBAL));
}

static void add_grant(struct rh_perthread *o, const struct rh_fresh *fresh,
                      const struct rh_thread *t)
{
    const struct rh_effect *e = thread_effect(o, t);
    uint32_t entry;
    uint64_t at = 0;
    if (!e || !e->param_count || e->params[0].arg < 0 || e->params[0].inside ||
        (uint32_t)e->params[0].arg >= t->call->op_count ||
        !rh_idset_next(&t->entries, &at, &entry) || rh_idset_count(&t->entries) != 1 ||
        rh_pointsto_instance(o->pointsto, entry)->call != t->call ||
        !rh_pointsto_instance(o->pointsto, entry)->fn->arg_count)
        return;
    struct grant g = {.call = t->call, .creator = t->instance, .entry = entry};
    struct rh_value *argument = t->call->ops[e->params[0].arg];
    g.cfg = rh_cfg_build(t->call->fn);
    g.whole = rh_fresh_at(fresh, t->call, argument) &&
              rh_ir_base(argument, NULL, NULL)->kind == RH_VALUE_INST;
    if (!g.whole && !grant_element(&g, argument)) {
        rh_cfg_free(g.cfg);
        return;
    }
    if (e->from.arg < 0 || (uint32_t)e->from.arg >= t->call->op_count ||
        !read_address(t->call->ops[e->from.arg], &g.handle))
        g.handle.base = NULL;
    rh_map_put(&o->by_entry, entry, o->grants.len);
    rh_vec_push(&o->grants, g);
}

struct rh_perthread *rh_perthread_find(const struct rh_pointsto *p, const struct rh_flow *flow,
                                       const struct rh_fresh *fresh)
{
    struct rh_perthread *o = rh_calloc(1, sizeof *o);
    o->pointsto = p;
    for (uint32_t i = 0; i < rh_flow_thread_count(flow); i++) {
        const struct rh_thread *t = rh_flow_thread(flow, i);
        if (t->kind == RH_THREAD_CREATED)
            add_grant(o, fresh, t);
    }
    return o;
}

void rh_perthread_free(struct rh_perthread *o)
{
    if (!o)
        return;
    rh_vec_each (struct grant, g, &o->grants)
        rh_cfg_free(g->cfg);
    rh_vec_free(&o->grants);
    rh_map_release(&o->by_entry);
    free(o);
}

/* --- questions --- */

static bool has_known_size(const struct rh_access *a)
{
    return !(a->flags & (RH_SITE_SIZED | RH_SITE_AT_LEAST)) && a->size;
}

/* Does the access, at `offset` from the element's begin, stay in the element? */
static bool stays_in_part(const struct grant *g, const struct rh_access *a, int64_t offset)
{
    return has_known_size(a) && offset >= 0 && offset + (int64_t)a->size <= g->part.stride;
}

/* The grant whose part the access, in the thread's first function, certainly stays in. */
static const struct grant *own_part(const struct rh_perthread *o, uint32_t instance,
                                    const struct rh_access *a)
{
    uint64_t at;
    if (!rh_map_get(&o->by_entry, instance, &at))
        return NULL;
    const struct grant *g = &o->grants.data[at];
    const struct rh_value *argument = a->inst->fn->args[0];
    struct address address;
    if (g->whole)
        return rh_ir_base(a->pointer, NULL, NULL) == argument ? g : NULL;
    bool own = read_address(a->pointer, &address) && address.base == argument && !address.index &&
               stays_in_part(g, a, address.offset);
    return own ? g : NULL;
}

/* The creator fills in the element of the thread it starts later in the same round. */
static bool is_before_start(const struct grant *g, const struct rh_access *a,
                            const struct address *address)
{
    return address->index == g->part.index && rh_cfg_loop_of(g->cfg, a->inst->block) == g->loop &&
           rh_cfg_inst_dominates(g->cfg, a->inst, g->call);
}

static bool joins_round(const struct grant *g, const struct rh_value *call, const struct rh_loop *l,
                        const struct rh_value *counter)
{
    struct address handle;
    const struct rh_library_row *row =
        call->callee && call->callee->kind == RH_VALUE_FUNCTION && !call->callee->fn->block_count
            ? rh_library_find(call->callee->fn->name)
            : NULL;
    for (uint32_t i = 0; row && i < row->effect_count; i++) {
        const struct rh_effect *e = &row->effects[i];
        if (e->kind != RH_EFFECT_JOIN || e->indirect || (uint32_t)e->arg >= call->op_count)
            continue;
        const struct rh_value *load = call->ops[e->arg];
        return load->kind == RH_VALUE_INST && load->op == RH_OP_LOAD &&
               rh_cfg_loop_contains(l, load->block) && read_address(load->ops[0], &handle) &&
               handle.base == g->handle.base && handle.offset == g->handle.offset &&
               handle.stride == g->handle.stride && handle.index == counter;
    }
    return false;
}

/* The creator looks at the element of the thread it has joined earlier in the same round. */
static bool is_after_join(const struct grant *g, const struct rh_access *a,
                          const struct address *address)
{
    const struct rh_loop *l = rh_cfg_loop_of(g->cfg, a->inst->block);
    int64_t first, step, other_first, other_step;
    if (!l || l == g->loop || !g->handle.base || g->handle.index != g->part.index ||
        !is_counter(l, address->index, &first, &step) ||
        !is_counter(g->loop, g->part.index, &other_first, &other_step) || first != other_first ||
        step != other_step)
        return false;
    for (uint32_t b = 0; b < l->block_count; b++)
        for (const struct rh_value *v = l->blocks[b]->first; v; v = v->next)
            if (v->callee && joins_round(g, v, l, address->index) &&
                rh_cfg_loop_of(g->cfg, v->block) == l && rh_cfg_inst_dominates(g->cfg, v, a->inst))
                return true;
    return false;
}

/* Is it the creator, at a part that no thread has then? */
static bool is_creators(const struct grant *g, uint32_t instance, const struct rh_access *a)
{
    struct address address;
    if (g->whole || instance != g->creator || a->inst->fn != g->call->fn ||
        !read_address(a->pointer, &address) || address.base != g->part.base ||
        address.stride != g->part.stride || !address.index ||
        !stays_in_part(g, a, address.offset - g->part.offset))
        return false;
    return is_before_start(g, a, &address) || is_after_join(g, a, &address);
}

bool rh_perthread_knows(const struct rh_perthread *o, const struct rh_access *a)
{
    rh_vec_each (struct grant, g, &o->grants)
        if (g->call->fn == a->inst->fn ||
            rh_pointsto_instance(o->pointsto, g->entry)->fn == a->inst->fn)
            return true;
    return false;
}

bool rh_perthread_apart(const struct rh_perthread *o, uint32_t a_instance,
                        const struct rh_access *a, uint32_t b_instance, const struct rh_access *b)
{
    const struct grant *x = own_part(o, a_instance, a), *y = own_part(o, b_instance, b);
    if (x && x == y)
        return true;
    return (x && is_creators(x, b_instance, b)) || (y && is_creators(y, a_instance, a));
}
