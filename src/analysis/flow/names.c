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

#include <string.h>

/* Beyond these a value is a node of its own. */
enum { MOST_DEPTH = 5, MOST_LOADS = 4, MOST_STEPS = 32 };

/* --- interning --- */

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

static uint32_t intern_node(struct rh_flow *f, struct flow_node n)
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

static uint32_t make_leaf(struct rh_flow *f, enum flow_node_kind kind, const struct rh_value *v)
{
    return intern_node(f, (struct flow_node){.kind = kind,
                                             .value = v,
                                             .a = FLOW_NONE,
                                             .b = FLOW_NONE,
                                             .absolute = kind == NODE_GLOBAL,
                                             .is_local = v->kind == RH_VALUE_INST});
}

static uint32_t make_const(struct rh_flow *f, const struct rh_value *v, int64_t num)
{
    return intern_node(f, (struct flow_node){.kind = NODE_CONST,
                                             .value = v,
                                             .a = FLOW_NONE,
                                             .b = FLOW_NONE,
                                             .num = num,
                                             .absolute = true});
}

/* FLOW_NONE if it would grow too deep. */
static uint32_t make_op(struct rh_flow *f, const struct rh_value *v, enum rh_op op, int64_t num,
                        uint32_t a, uint32_t b)
{
    if (a == FLOW_NONE)
        return FLOW_NONE;
    const struct flow_node *x = &f->nodes.data[a];
    const struct flow_node *y = &f->nodes.data[b == FLOW_NONE ? a : b];
    uint32_t depth = (x->depth > y->depth ? x->depth : y->depth) + 1;
    if (depth > MOST_DEPTH)
        return FLOW_NONE;
    return intern_node(f, (struct flow_node){.kind = NODE_OP,
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

static uint32_t make_load(struct rh_flow *f, const struct rh_value *v, int64_t bytes, uint32_t name)
{
    const struct flow_name *address = name == FLOW_NONE ? NULL : &f->names.data[name];
    if (!address || is_new_block(f, &f->nodes.data[address->node]))
        return FLOW_NONE;
    uint32_t depth = f->nodes.data[address->node].depth + 1;
    if (depth > MOST_LOADS)
        return FLOW_NONE;
    return intern_node(f, (struct flow_node){.kind = NODE_LOAD,
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

static uint32_t intern_name(struct rh_flow *f, struct flow_name n)
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
    return intern_name(f, (struct flow_name){.node = node});
}

uint32_t flow_name_of_object(struct rh_flow *f, uint32_t object, int64_t offset)
{
    const struct rh_object *o = rh_pointsto_object(f->pointsto, object);
    uint32_t node = o->kind == RH_OBJECT_GLOBAL
                        ? make_leaf(f, NODE_GLOBAL, o->value)
                        : intern_node(f, (struct flow_node){.kind = NODE_OBJECT,
                                                            .value = o->value,
                                                            .a = FLOW_NONE,
                                                            .b = FLOW_NONE,
                                                            .num = object,
                                                            .absolute = true});
    return intern_name(f, (struct flow_name){.node = node, .offset = offset});
}

/* The node itself if the name is nothing but a node. */
static uint32_t node_of_name(const struct rh_flow *f, uint32_t name)
{
    const struct flow_name *n = &f->names.data[name];
    return n->offset == 0 && n->term_count == 0 ? n->node : FLOW_NONE;
}

/* Adds index * scale; false if the name has no room. Numbers wrap as addresses do. */
static bool add_term(const struct rh_flow *f, struct flow_name *n, uint32_t node, int64_t scale)
{
    const struct flow_node *index = &f->nodes.data[node];
    uint32_t i = 0;
    if (index->kind == NODE_CONST) {
        n->offset = (int64_t)((uint64_t)n->offset + (uint64_t)index->num * (uint64_t)scale);
        return true;
    }
    if (index->kind == NODE_OP && index->op == RH_OP_ADD && index->num == 64)
        return add_term(f, n, index->a, scale) && add_term(f, n, index->b, scale);
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

static bool add_name(const struct rh_flow *f, struct flow_name *to, const struct flow_name *n)
{
    to->offset = (int64_t)((uint64_t)to->offset + (uint64_t)n->offset);
    for (uint32_t i = 0; i < n->term_count; i++)
        if (!add_term(f, to, n->terms[i].node, n->terms[i].scale))
            return false;
    return true;
}

/* --- the names of values --- */

static uint32_t find_name(struct rh_flow *f, uint32_t instance, const struct rh_value *v,
                          uint32_t steps);
static uint32_t find_node(struct rh_flow *f, uint32_t instance, const struct rh_value *v,
                          uint32_t steps);

static bool is_plain_load(const struct rh_value *v)
{
    return v->kind == RH_VALUE_INST && v->op == RH_OP_LOAD && !v->is_volatile &&
           v->order == RH_ORDER_NONE && v->access->size > 0;
}

static uint32_t find_load(struct rh_flow *f, uint32_t instance, const struct rh_value *v,
                          uint32_t steps)
{
    if (!is_plain_load(v) || !f->unstable || !flow_is_stable(f, instance, v))
        return FLOW_NONE;
    return make_load(f, v, (int64_t)v->access->size, find_name(f, instance, v->ops[0], steps));
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
            node = make_op(f, index, RH_OP_SEXT, 64, node, FLOW_NONE);
        if (node == FLOW_NONE || !add_term(f, &n, node, gep->terms[i].scale))
            return FLOW_NONE;
    }
    return intern_name(f, n);
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
        return make_leaf(f, NODE_LOCAL, own);
    if (v->kind == RH_VALUE_GLOBAL || v->kind == RH_VALUE_FUNCTION)
        return make_leaf(f, NODE_GLOBAL, v);
    if (v->kind == RH_VALUE_ARG)
        return make_leaf(f, NODE_ARG, v);
    if (v->kind == RH_VALUE_INST && steps)
        node = find_load(f, instance, v, steps - 1);
    return node == FLOW_NONE ? make_leaf(f, NODE_LOCAL, v) : node;
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
    return make_op(f, v, v->op, num, a, b);
}

/* Of pointers, only those that are a node as they are. */
static uint32_t find_node(struct rh_flow *f, uint32_t instance, const struct rh_value *v,
                          uint32_t steps)
{
    uint64_t known;
    uint32_t node = FLOW_NONE;
    if (v->type->kind == RH_TYPE_PTR) {
        node = node_of_name(f, find_name(f, instance, v, steps));
        return node == FLOW_NONE ? make_leaf(f, NODE_LOCAL, v) : node;
    }
    if (v->kind == RH_VALUE_INT)
        return make_const(f, v, v->num);
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
        if (node_of_name(f, flow_name_of(f, instance, v)) != FLOW_NONE)
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

/* --- renaming --- */

static uint32_t rename_node(struct rh_flow *f, uint32_t node, const struct flow_renames *r,
                            bool prefer_new);

/* `from` is the name's root with some of its terms: what remains. */
static bool subtract(const struct flow_name *n, const struct flow_name *from, struct flow_name *out)
{
    if (n->node != from->node)
        return false;
    *out = (struct flow_name){.offset = (int64_t)((uint64_t)n->offset - (uint64_t)from->offset)};
    uint32_t matched = 0;
    for (uint32_t i = 0; i < n->term_count; i++) {
        if (matched < from->term_count && n->terms[i].node == from->terms[matched].node &&
            n->terms[i].scale == from->terms[matched].scale)
            matched++;
        else
            out->terms[out->term_count++] = n->terms[i];
    }
    return matched == from->term_count;
}

static bool rename_terms(struct rh_flow *f, const struct flow_name *n, const struct flow_renames *r,
                         bool prefer_new, struct flow_name *out)
{
    for (uint32_t i = 0; i < n->term_count; i++) {
        uint32_t node = rename_node(f, n->terms[i].node, r, prefer_new);
        if (node == FLOW_NONE || !add_term(f, out, node, n->terms[i].scale))
            return false;
    }
    return true;
}

/* The name with its root replaced by rename number `by`. */
static uint32_t rename_by(struct rh_flow *f, uint32_t name, const struct flow_renames *r, size_t by)
{
    struct flow_name n = f->names.data[name], rest;
    if (!subtract(&n, &f->names.data[r->all.data[by].from], &rest))
        return FLOW_NONE;
    struct flow_name out = {.node = r->all.data[by].to, .offset = rest.offset};
    return rename_terms(f, &rest, r, true, &out) ? intern_name(f, out) : FLOW_NONE;
}

static uint32_t rename_keeping(struct rh_flow *f, uint32_t name, const struct flow_renames *r,
                               bool prefer_new)
{
    struct flow_name n = f->names.data[name];
    struct flow_name out = {.node = rename_node(f, n.node, r, prefer_new), .offset = n.offset};
    if (out.node == FLOW_NONE || !rename_terms(f, &n, r, prefer_new, &out))
        return FLOW_NONE;
    return intern_name(f, out);
}

static uint32_t rename_inner(struct rh_flow *f, uint32_t name, const struct flow_renames *r,
                             bool prefer_new)
{
    uint32_t out = FLOW_NONE;
    for (size_t i = 0; prefer_new && i < r->all.len && out == FLOW_NONE; i++)
        out = rename_by(f, name, r, i);
    if (out == FLOW_NONE)
        out = rename_keeping(f, name, r, prefer_new);
    for (size_t i = 0; !prefer_new && i < r->all.len && out == FLOW_NONE; i++)
        out = rename_by(f, name, r, i);
    return out;
}

static uint32_t rename_whole(const struct rh_flow *f, uint32_t node, const struct flow_renames *r)
{
    for (size_t i = 0; i < r->all.len; i++)
        if (node_of_name(f, r->all.data[i].from) == node)
            return r->all.data[i].to;
    return FLOW_NONE;
}

static uint32_t rename_parts(struct rh_flow *f, uint32_t node, const struct flow_renames *r,
                             bool prefer_new)
{
    struct flow_node n = f->nodes.data[node];
    if (n.kind == NODE_LOAD)
        return make_load(f, n.value, n.num, rename_inner(f, n.a, r, prefer_new));
    if (n.kind != NODE_OP)
        return FLOW_NONE;
    uint32_t a = rename_node(f, n.a, r, prefer_new), b = n.b;
    if (b != FLOW_NONE && (b = rename_node(f, b, r, prefer_new)) == FLOW_NONE)
        return FLOW_NONE;
    return make_op(f, n.value, n.op, n.num, a, b);
}

static uint32_t rename_node(struct rh_flow *f, uint32_t node, const struct flow_renames *r,
                            bool prefer_new)
{
    bool stays = f->nodes.data[node].absolute || (r->keep && !flow_node_depends(f, node, r->keep));
    if (stays && !prefer_new)
        return node;
    uint32_t out = rename_whole(f, node, r);
    if (out != FLOW_NONE || stays)
        return out != FLOW_NONE ? out : node;
    return rename_parts(f, node, r, prefer_new);
}

static void add_once(uint32_t *out, uint32_t *count, uint32_t name)
{
    for (uint32_t i = 0; i < *count; i++)
        if (out[i] == name)
            return;
    if (name != FLOW_NONE && *count < FLOW_MOST_NAMES)
        out[(*count)++] = name;
}

uint32_t flow_rename(struct rh_flow *f, uint32_t name, const struct flow_renames *r,
                     uint32_t out[FLOW_MOST_NAMES])
{
    uint32_t count = 0;
    add_once(out, &count, rename_keeping(f, name, r, false));
    for (size_t i = 0; i < r->all.len; i++)
        add_once(out, &count, rename_by(f, name, r, i));
    add_once(out, &count, rename_keeping(f, name, r, true));
    return count;
}

/* --- from callee to caller --- */

struct call_site {
    uint32_t caller;
    const struct flow_event *ev;
    const struct rh_function *callee;
};

const struct rh_value *flow_given(const struct flow_event *ev, const struct rh_function *callee,
                                  const struct rh_value *param)
{
    for (uint32_t i = 0; ev->direct && i < callee->arg_count; i++)
        if (callee->args[i] == param && i < ev->inst->op_count && !param->is_by_value &&
            ev->inst->ops[i]->type == param->type)
            return ev->inst->ops[i];
    return NULL;
}

static uint32_t name_at(struct rh_flow *f, uint32_t name, const struct call_site *c);

static uint32_t node_at(struct rh_flow *f, uint32_t node, const struct call_site *c)
{
    struct flow_node n = f->nodes.data[node];
    const struct rh_value *arg;
    uint32_t a, b = FLOW_NONE;
    if (n.absolute)
        return node;
    switch (n.kind) {
    case NODE_ARG:
        arg = flow_given(c->ev, c->callee, n.value);
        return arg ? flow_node_of(f, c->caller, arg) : FLOW_NONE;
    case NODE_LOAD:
        return make_load(f, n.value, n.num, name_at(f, n.a, c));
    case NODE_OP:
        a = node_at(f, n.a, c);
        if (n.b != FLOW_NONE && (b = node_at(f, n.b, c)) == FLOW_NONE)
            return FLOW_NONE;
        return make_op(f, n.value, n.op, n.num, a, b);
    default:
        return FLOW_NONE;
    }
}

static uint32_t name_at(struct rh_flow *f, uint32_t name, const struct call_site *c)
{
    struct flow_name n = f->names.data[name], out = {0};
    const struct flow_node *root = &f->nodes.data[n.node];
    if (n.absolute)
        return name;
    if (root->kind == NODE_ARG) {
        const struct rh_value *arg = flow_given(c->ev, c->callee, root->value);
        if (!arg)
            return FLOW_NONE;
        uint32_t base = flow_name_of(f, c->caller, arg);
        out = f->names.data[base];
    } else {
        out.node = node_at(f, n.node, c);
        if (out.node == FLOW_NONE)
            return FLOW_NONE;
    }
    struct flow_name rest = {.offset = n.offset};
    for (uint32_t i = 0; i < n.term_count; i++) {
        uint32_t node = node_at(f, n.terms[i].node, c);
        if (node == FLOW_NONE || !add_term(f, &rest, node, n.terms[i].scale))
            return FLOW_NONE;
    }
    return add_name(f, &out, &rest) ? intern_name(f, out) : FLOW_NONE;
}

uint32_t flow_name_at_caller(struct rh_flow *f, uint32_t name, uint32_t caller,
                             const struct flow_event *ev, const struct rh_function *callee)
{
    struct call_site site = {caller, ev, callee};
    return name_at(f, name, &site);
}
