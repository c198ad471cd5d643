/* SPDX-License-Identifier: Apache-2.0 */
/* Makes and interns the nodes and names of the flow analysis: equal ones have one number. */
#include "analysis/flow/internal.h"

/* Beyond these a value is a node of its own. */
enum { MOST_DEPTH = 5, MOST_LOADS = 4 };

static uint64_t hash_node(const struct flow_node *n)
{
    const struct rh_value *value =
        n->kind == NODE_GLOBAL || n->kind == NODE_ARG || n->kind == NODE_LOCAL ? n->value : NULL;
    uint64_t words[] = {n->kind, n->op, value ? value->id + (uint64_t)1 : 0,
                        n->a,    n->b,  (uint64_t)n->num};
    return flow_hash(words, sizeof words);
}

static bool same_node(const struct flow_node *x, const struct flow_node *y)
{
    bool by_value = x->kind == NODE_GLOBAL || x->kind == NODE_ARG || x->kind == NODE_LOCAL;
    return x->kind == y->kind && x->op == y->op && x->a == y->a && x->b == y->b &&
           x->num == y->num && (!by_value || x->value == y->value);
}

static uint32_t flow_intern_node(struct rh_flow *f, struct flow_node n)
{
    uint64_t hash = hash_node(&n), first = FLOW_NONE;
    rh_map_get(&f->node_of, hash, &first);
    for (uint32_t i = (uint32_t)first; i != FLOW_NONE; i = f->nodes.data[i].next)
        if (same_node(&f->nodes.data[i], &n))
            return i;
    n.next = (uint32_t)first;
    rh_map_put(&f->node_of, hash, f->nodes.len);
    rh_vec_push(&f->nodes, n);
    return (uint32_t)f->nodes.len - 1;
}

uint32_t flow_make_leaf(struct rh_flow *f, enum flow_node_kind kind, const struct rh_value *v)
{
    return flow_intern_node(f, (struct flow_node){.kind = kind,
                                                  .value = v,
                                                  .a = FLOW_NONE,
                                                  .b = FLOW_NONE,
                                                  .absolute = kind == NODE_GLOBAL,
                                                  .is_local = v->kind == RH_VALUE_INST});
}

uint32_t flow_make_const(struct rh_flow *f, const struct rh_value *v, int64_t num)
{
    return flow_intern_node(f, (struct flow_node){.kind = NODE_CONST,
                                                  .value = v,
                                                  .a = FLOW_NONE,
                                                  .b = FLOW_NONE,
                                                  .num = num,
                                                  .absolute = true});
}

uint32_t flow_make_op(struct rh_flow *f, const struct rh_value *v, enum rh_op op, int64_t num,
                      uint32_t a, uint32_t b)
{
    if (a == FLOW_NONE)
        return FLOW_NONE;
    const struct flow_node *x = &f->nodes.data[a];
    const struct flow_node *y = &f->nodes.data[b == FLOW_NONE ? a : b];
    uint32_t depth = (x->depth > y->depth ? x->depth : y->depth) + 1;
    if (depth > MOST_DEPTH)
        return FLOW_NONE;
    return flow_intern_node(f, (struct flow_node){.kind = NODE_OP,
                                                  .op = op,
                                                  .value = v,
                                                  .a = a,
                                                  .b = b,
                                                  .num = num,
                                                  .depth = depth,
                                                  .absolute = x->absolute && y->absolute,
                                                  .loads = x->loads || y->loads,
                                                  .is_local = x->is_local || y->is_local});
}

/* A block that the function itself has just got may still be filled in while nobody else knows it:
 * that does not make the memory unstable, but what was read before may be out of date. */
static bool is_new_block(const struct rh_flow *f, const struct flow_node *n)
{
    const struct rh_value *callee =
        n->kind == NODE_LOCAL && n->value->kind == RH_VALUE_INST ? n->value->callee : NULL;
    return callee && callee->kind == RH_VALUE_FUNCTION &&
           (!callee->fn->block_count || rh_fresh_returns(f->fresh, callee->fn));
}

uint32_t flow_make_load(struct rh_flow *f, const struct rh_value *v, int64_t bytes, uint32_t name)
{
    const struct flow_name *address = name == FLOW_NONE ? NULL : &f->names.data[name];
    if (!address || is_new_block(f, &f->nodes.data[address->node]))
        return FLOW_NONE;
    uint32_t depth = f->nodes.data[address->node].depth + 1;
    if (depth > MOST_LOADS)
        return FLOW_NONE;
    return flow_intern_node(f, (struct flow_node){.kind = NODE_LOAD,
                                                  .value = v,
                                                  .a = name,
                                                  .b = FLOW_NONE,
                                                  .num = bytes,
                                                  .depth = depth,
                                                  .absolute = address->absolute,
                                                  .loads = true,
                                                  .is_local = address->is_local});
}

static bool same_name(const struct flow_name *x, const struct flow_name *y)
{
    if (x->node != y->node || x->offset != y->offset || x->term_count != y->term_count)
        return false;
    for (uint32_t i = 0; i < x->term_count; i++)
        if (x->terms[i].node != y->terms[i].node || x->terms[i].scale != y->terms[i].scale)
            return false;
    return true;
}

uint32_t flow_intern_name(struct rh_flow *f, struct flow_name n)
{
    const struct flow_node *root = &f->nodes.data[n.node];
    uint64_t words[6] = {n.node, (uint64_t)n.offset}, first = FLOW_NONE;
    n.absolute = root->absolute;
    n.loads = root->loads;
    n.is_local = root->is_local;
    for (uint32_t i = 0; i < n.term_count; i++) {
        const struct flow_node *index = &f->nodes.data[n.terms[i].node];
        n.absolute &= index->absolute;
        n.loads |= index->loads;
        n.is_local |= index->is_local;
        words[2 + 2 * i] = n.terms[i].node + (uint64_t)1;
        words[3 + 2 * i] = (uint64_t)n.terms[i].scale;
    }
    uint64_t hash = flow_hash(words, sizeof words);
    rh_map_get(&f->name_of, hash, &first);
    for (uint32_t i = (uint32_t)first; i != FLOW_NONE; i = f->names.data[i].next)
        if (same_name(&f->names.data[i], &n))
            return i;
    n.next = (uint32_t)first;
    n.call = NULL;
    n.pointer = NULL;
    rh_map_put(&f->name_of, hash, f->names.len);
    rh_vec_push(&f->names, n);
    return (uint32_t)f->names.len - 1;
}

uint32_t flow_name_of_node(struct rh_flow *f, uint32_t node)
{
    return flow_intern_name(f, (struct flow_name){.node = node});
}

uint32_t flow_name_of_object(struct rh_flow *f, uint32_t object, int64_t offset)
{
    const struct rh_object *o = rh_pointsto_object(f->pointsto, object);
    uint32_t node = o->kind == RH_OBJECT_GLOBAL
                        ? flow_make_leaf(f, NODE_GLOBAL, o->value)
                        : flow_intern_node(f, (struct flow_node){.kind = NODE_OBJECT,
                                                                 .value = o->value,
                                                                 .a = FLOW_NONE,
                                                                 .b = FLOW_NONE,
                                                                 .num = object,
                                                                 .absolute = true});
    return flow_intern_name(f, (struct flow_name){.node = node, .offset = offset});
}

uint32_t flow_node_of_name(const struct rh_flow *f, uint32_t name)
{
    const struct flow_name *n = &f->names.data[name];
    return n->offset == 0 && n->term_count == 0 ? n->node : FLOW_NONE;
}

bool flow_add_term(const struct rh_flow *f, struct flow_name *n, uint32_t node, int64_t scale)
{
    const struct flow_node *index = &f->nodes.data[node];
    uint32_t i = 0;
    if (index->kind == NODE_CONST) {
        n->offset = (int64_t)((uint64_t)n->offset + (uint64_t)index->num * (uint64_t)scale);
        return true;
    }
    if (index->kind == NODE_OP && index->op == RH_OP_ADD && index->num == 64)
        return flow_add_term(f, n, index->a, scale) && flow_add_term(f, n, index->b, scale);
    while (i < n->term_count && n->terms[i].node < node)
        i++;
    if (i < n->term_count && n->terms[i].node == node) {
        n->terms[i].scale = (int64_t)((uint64_t)n->terms[i].scale + (uint64_t)scale);
        return n->terms[i].scale != 0;
    }
    if (n->term_count == 2)
        return false;
    if (i < n->term_count)
        n->terms[i + 1] = n->terms[i];
    n->terms[i] = (struct flow_term){node, scale};
    n->term_count++;
    return true;
}

bool flow_add_name(const struct rh_flow *f, struct flow_name *to, const struct flow_name *n)
{
    to->offset = (int64_t)((uint64_t)to->offset + (uint64_t)n->offset);
    for (uint32_t i = 0; i < n->term_count; i++)
        if (!flow_add_term(f, to, n->terms[i].node, n->terms[i].scale))
            return false;
    return true;
}
