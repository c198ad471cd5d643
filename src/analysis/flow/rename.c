/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of the flow analysis seen from elsewhere: behind the edge to a block, where other values
 * stand for the same, and at the caller of a function.
 */
#include "analysis/flow/internal.h"

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
        if (node == FLOW_NONE || !flow_add_term(f, out, node, n->terms[i].scale))
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
    return rename_terms(f, &rest, r, true, &out) ? flow_intern_name(f, out) : FLOW_NONE;
}

static uint32_t rename_keeping(struct rh_flow *f, uint32_t name, const struct flow_renames *r,
                               bool prefer_new)
{
    struct flow_name n = f->names.data[name];
    struct flow_name out = {.node = rename_node(f, n.node, r, prefer_new), .offset = n.offset};
    if (out.node == FLOW_NONE || !rename_terms(f, &n, r, prefer_new, &out))
        return FLOW_NONE;
    return flow_intern_name(f, out);
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
        if (flow_node_of_name(f, r->all.data[i].from) == node)
            return r->all.data[i].to;
    return FLOW_NONE;
}

static uint32_t rename_parts(struct rh_flow *f, uint32_t node, const struct flow_renames *r,
                             bool prefer_new)
{
    struct flow_node n = f->nodes.data[node];
    if (n.kind == NODE_LOAD)
        return flow_make_load(f, n.value, n.num, rename_inner(f, n.a, r, prefer_new));
    if (n.kind != NODE_OP)
        return FLOW_NONE;
    uint32_t a = rename_node(f, n.a, r, prefer_new), b = n.b;
    if (b != FLOW_NONE && (b = rename_node(f, b, r, prefer_new)) == FLOW_NONE)
        return FLOW_NONE;
    return flow_make_op(f, n.value, n.op, n.num, a, b);
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
        return flow_make_load(f, n.value, n.num, name_at(f, n.a, c));
    case NODE_OP:
        a = node_at(f, n.a, c);
        if (n.b != FLOW_NONE && (b = node_at(f, n.b, c)) == FLOW_NONE)
            return FLOW_NONE;
        return flow_make_op(f, n.value, n.op, n.num, a, b);
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
        if (node == FLOW_NONE || !flow_add_term(f, &rest, node, n.terms[i].scale))
            return FLOW_NONE;
    }
    return flow_add_name(f, &out, &rest) ? flow_intern_name(f, out) : FLOW_NONE;
}

uint32_t flow_name_at_caller(struct rh_flow *f, uint32_t name, uint32_t caller,
                             const struct flow_event *ev, const struct rh_function *callee)
{
    struct call_site site = {caller, ev, callee};
    return name_at(f, name, &site);
}
