/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Canonical values and names of addresses for the flow analysis: of values that must be equal, in
 * one run of a function, the same node or name is found.
 *
 * Why that holds: a node is an instruction's result, or made of other nodes without memory, or read
 * from memory that does not change. Where an instruction's result may be used, what it was computed
 * from still has the same values: a way from a new computation of an operand to the use that does
 * not pass the instruction would be a way from the entry that does not pass it either.
 */
#include "analysis/flow/internal.h"

/* Beyond this a value is a node of its own. */
enum { MOST_STEPS = 32 };

/* --- the names of values --- */

static uint32_t find_name(struct rh_flow *f, uint32_t instance, const struct rh_value *v,
                          uint32_t steps);
static uint32_t find_node(struct rh_flow *f, uint32_t instance, const struct rh_value *v,
                          uint32_t steps);

static bool is_plain_load(const struct rh_value *v)
{
    return v->kind == RH_VALUE_INST && v->op == RH_OP_LOAD && !v->is_volatile &&
           v->order == RH_MO_PLAIN && v->access->size > 0;
}

static uint32_t find_load(struct rh_flow *f, uint32_t instance, const struct rh_value *v,
                          uint32_t steps)
{
    if (!is_plain_load(v) || !f->unstable || !flow_is_stable(f, instance, v))
        return FLOW_NONE;
    return flow_make_load(f, v, (int64_t)v->access->size, find_name(f, instance, v->ops[0], steps));
}

static uint32_t find_gep(struct rh_flow *f, uint32_t instance, const struct rh_value *v,
                         uint32_t steps)
{
    const struct rh_gep *gep = v->gep;
    if (gep->unknown || v->type->kind != RH_TYPE_PTR)
        return FLOW_NONE;
    uint32_t base = find_name(f, instance, v->ops[0], steps);
    struct flow_name n = f->names.data[base];
    n.offset = (int64_t)((uint64_t)n.offset + (uint64_t)gep->offset);
    for (uint32_t i = 0; i < gep->term_count; i++) {
        const struct rh_value *index = gep->terms[i].index;
        uint32_t node = find_node(f, instance, index, steps);
        if (index->type->kind == RH_TYPE_INT && index->type->bits < 64)
            node = flow_make_op(f, index, RH_OP_SEXT, 64, node, FLOW_NONE);
        if (node == FLOW_NONE || !flow_add_term(f, &n, node, gep->terms[i].scale))
            return FLOW_NONE;
    }
    return flow_intern_name(f, n);
}

static bool passes_pointer_on(const struct rh_value *v)
{
    static const char *const names[] = {"llvm.launder.invariant.group",
                                        "llvm.strip.invariant.group", "llvm.ssa.copy"};
    for (size_t i = 0; v->intrinsic && i < sizeof names / sizeof names[0]; i++)
        if (strcmp(v->intrinsic, names[i]) == 0)
            return true;
    return false;
}

/* What a value is the same as, without offset; NULL if nothing. */
static const struct rh_value *strip_one(const struct rh_value *v)
{
    if (v->kind == RH_VALUE_ALIAS)
        return v->is_ifunc ? NULL : v->ops[0];
    if (v->kind != RH_VALUE_INST && v->kind != RH_VALUE_EXPR)
        return NULL;
    if (v->op == RH_OP_BITCAST || passes_pointer_on(v))
        return v->ops[0]->type->kind == v->type->kind ? v->ops[0] : NULL;
    return v->op == RH_OP_PHI && v->op_count == 1 ? v->ops[0] : NULL;
}

/* A thread-local variable is not the same in all threads, but it is within one. */
static const struct rh_value *thread_local_of(const struct rh_value *v)
{
    if (v->kind == RH_VALUE_INST && v->intrinsic &&
        strcmp(v->intrinsic, "llvm.threadlocal.address") == 0)
        v = v->ops[0];
    return v->kind == RH_VALUE_GLOBAL && v->global->is_thread_local ? v : NULL;
}

static uint32_t find_root(struct rh_flow *f, uint32_t instance, const struct rh_value *v,
                          uint32_t steps)
{
    uint32_t node = FLOW_NONE;
    const struct rh_value *own = thread_local_of(v);
    if (own)
        return flow_make_leaf(f, NODE_LOCAL, own);
    if (v->kind == RH_VALUE_GLOBAL || v->kind == RH_VALUE_FUNCTION)
        return flow_make_leaf(f, NODE_GLOBAL, v);
    if (v->kind == RH_VALUE_ARG)
        return flow_make_leaf(f, NODE_ARG, v);
    if (v->kind == RH_VALUE_INST && steps)
        node = find_load(f, instance, v, steps - 1);
    return node == FLOW_NONE ? flow_make_leaf(f, NODE_LOCAL, v) : node;
}

static uint32_t find_name(struct rh_flow *f, uint32_t instance, const struct rh_value *v,
                          uint32_t steps)
{
    uint64_t known;
    uint32_t name = FLOW_NONE;
    if (rh_map_get(&f->canonical, flow_pair(instance, v->id), &known))
        return (uint32_t)known;
    const struct rh_value *same = steps ? strip_one(v) : NULL;
    if (same)
        name = find_name(f, instance, same, steps - 1);
    else if (v->gep && steps)
        name = find_gep(f, instance, v, steps - 1);
    if (name == FLOW_NONE)
        name = flow_name_of_node(f, find_root(f, instance, v, steps));
    rh_map_put(&f->canonical, flow_pair(instance, v->id), name);
    return name;
}

uint32_t flow_name_of(struct rh_flow *f, uint32_t instance, const struct rh_value *pointer)
{
    return find_name(f, instance, pointer, MOST_STEPS);
}

bool flow_is_pure(enum rh_op op)
{
    return (op >= RH_OP_ADD && op <= RH_OP_XOR) || op == RH_OP_ICMP || op == RH_OP_TRUNC ||
           op == RH_OP_ZEXT || op == RH_OP_SEXT;
}

static uint32_t find_pure(struct rh_flow *f, uint32_t instance, const struct rh_value *v,
                          uint32_t steps)
{
    uint32_t a = find_node(f, instance, v->ops[0], steps), b = FLOW_NONE;
    if (v->op_count > 1) {
        b = find_node(f, instance, v->ops[1], steps);
        if (b == FLOW_NONE)
            return FLOW_NONE;
    }
    int64_t num = v->op == RH_OP_ICMP ? v->predicate : (int64_t)v->type->bits;
    return flow_make_op(f, v, v->op, num, a, b);
}

/* Of pointers, only those that are a node as they are. */
static uint32_t find_node(struct rh_flow *f, uint32_t instance, const struct rh_value *v,
                          uint32_t steps)
{
    uint64_t known;
    uint32_t node = FLOW_NONE;
    if (v->type->kind == RH_TYPE_PTR) {
        node = flow_node_of_name(f, find_name(f, instance, v, steps));
        return node == FLOW_NONE ? flow_make_leaf(f, NODE_LOCAL, v) : node;
    }
    if (v->kind == RH_VALUE_INT)
        return flow_make_const(f, v, v->num);
    if (rh_map_get(&f->scalar, flow_pair(instance, v->id), &known))
        return (uint32_t)known;
    const struct rh_value *same = steps ? strip_one(v) : NULL;
    if (same)
        node = find_node(f, instance, same, steps - 1);
    else if (v->kind == RH_VALUE_INST && v->type->kind == RH_TYPE_INT && flow_is_pure(v->op) &&
             steps)
        node = find_pure(f, instance, v, steps - 1);
    if (node == FLOW_NONE)
        node = find_root(f, instance, v, steps);
    rh_map_put(&f->scalar, flow_pair(instance, v->id), node);
    return node;
}

uint32_t flow_node_of(struct rh_flow *f, uint32_t instance, const struct rh_value *value)
{
    return find_node(f, instance, value, MOST_STEPS);
}

const struct rh_value *flow_root_value(struct rh_flow *f, uint32_t instance,
                                       const struct rh_value *pointer)
{
    const struct rh_value *v = pointer, *next;
    for (uint32_t i = 0; i < MOST_STEPS; i++) {
        if (flow_node_of_name(f, flow_name_of(f, instance, v)) != FLOW_NONE)
            return v;
        next = v->gep ? v->ops[0] : strip_one(v);
        if (!next)
            break;
        v = next;
    }
    return v;
}

void flow_names_reset(struct rh_flow *f)
{
    rh_map_release(&f->canonical);
    rh_map_release(&f->scalar);
}

/* --- what a name hangs on --- */

bool flow_node_depends(const struct rh_flow *f, uint32_t node, const struct rh_block *b)
{
    const struct flow_node *n = &f->nodes.data[node];
    if (!n->is_local)
        return false;
    switch (n->kind) {
    case NODE_LOCAL:
        return n->value->block == b;
    case NODE_LOAD:
        return flow_name_depends(f, n->a, b);
    case NODE_OP:
        return flow_node_depends(f, n->a, b) ||
               (n->b != FLOW_NONE && flow_node_depends(f, n->b, b));
    default:
        return false;
    }
}

bool flow_name_depends(const struct rh_flow *f, uint32_t name, const struct rh_block *b)
{
    const struct flow_name *n = &f->names.data[name];
    bool depends = n->is_local && flow_node_depends(f, n->node, b);
    for (uint32_t i = 0; n->is_local && i < n->term_count; i++)
        depends |= flow_node_depends(f, n->terms[i].node, b);
    return depends;
}
