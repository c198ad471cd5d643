/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which functions return memory they have just allocated, and are therefore analysed once per call.
 *
 * A function is a wrapper when what it returns comes, on some way, straight from an allocating
 * library function, from another wrapper, or from a call through a pointer (tables of allocation
 * functions). Recursive and large functions are not: their copies would cost more than they part.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/pointsto/internal.h"
#include "base/mem.h"
#include "ir/graph/graph.h"

enum { MOST_INSTRUCTIONS = 300, MOST_STEPS = 64 };

static bool allocates(const struct rh_function *fn)
{
    const struct rh_library_row *row = rh_library_find(fn->name);
    for (uint32_t i = 0; row && i < row->effect_count; i++)
        if (row->effects[i].kind == RH_EFFECT_ALLOC && row->effects[i].arg == RH_NO_ARG)
            return true;
    return false;
}

static bool call_allocates(const struct rh_pointsto *p, const struct rh_value *call)
{
    if (call->intrinsic || !call->callee || call->callee->kind == RH_VALUE_ASM)
        return false;
    if (call->callee->kind != RH_VALUE_FUNCTION)
        return call->callee->kind == RH_VALUE_INST;
    const struct rh_function *fn = call->callee->fn;
    return fn->block_count ? p->wrapper[fn->id] : allocates(fn);
}

/* Follows a value back through what keeps it the same block of memory. */
static bool is_fresh(const struct rh_pointsto *p, const struct rh_value *v, int *steps)
{
    if (v->kind != RH_VALUE_INST || --*steps < 0)
        return false;
    switch (v->op) {
    case RH_OP_CALL:
    case RH_OP_INVOKE:
        return call_allocates(p, v);
    case RH_OP_GEP:
    case RH_OP_BITCAST:
    case RH_OP_FREEZE:
        return is_fresh(p, v->ops[0], steps);
    case RH_OP_PHI:
    case RH_OP_SELECT:
        for (uint32_t i = v->op == RH_OP_SELECT; i < v->op_count; i++)
            if (is_fresh(p, v->ops[i], steps))
                return true;
        return false;
    default:
        return false;
    }
}

static bool returns_fresh(const struct rh_pointsto *p, const struct rh_function *fn)
{
    if (fn->type->ret->kind != RH_TYPE_PTR)
        return false;
    for (uint32_t b = 0; b < fn->block_count; b++) {
        const struct rh_value *last = fn->blocks[b]->last;
        int steps = MOST_STEPS;
        if (last->op == RH_OP_RET && last->op_count && is_fresh(p, last->ops[0], &steps))
            return true;
    }
    return false;
}

static bool calls_itself(const struct rh_graph *g, const struct rh_function *fn)
{
    uint32_t count;
    const uint32_t *out = rh_graph_out(g, fn, &count);
    for (uint32_t i = 0; i < count; i++)
        if (rh_graph_edge(g, out[i])->callee == fn)
            return true;
    return false;
}

void pt_find_wrappers(struct rh_pointsto *p)
{
    uint32_t count = rh_ir_function_count(p->module);
    struct rh_graph *g = rh_graph_build(p->module);
    uint32_t *component = rh_alloc_array(count, sizeof *component);
    struct rh_function **order = rh_alloc_array(count, sizeof *order);
    rh_graph_components(g, component, order);
    for (uint32_t i = 0; i < count; i++) {
        struct rh_function *fn = order[i];
        p->may_clone += fn->inst_count / 4;
        bool cyclic = (i && component[order[i - 1]->id] == component[fn->id]) ||
                      (i + 1 < count && component[order[i + 1]->id] == component[fn->id]) ||
                      calls_itself(g, fn);
        p->wrapper[fn->id] = fn->block_count && !cyclic && fn->inst_count <= MOST_INSTRUCTIONS &&
                             returns_fresh(p, fn);
    }
    free(order);
    free(component);
    rh_graph_free(g);
}
