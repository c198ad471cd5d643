/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call and thread graph: edges out of every call instruction, in the order of the code.
 */
#include "ir/graph/graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/bitset.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "ir/graph/scc.h"

#define NO_ARG UINT32_MAX

/* Functions that start and join threads. What std::thread starts is a virtual call on the object it
 * is given, so that edge's target is the object and points-to must look inside. */
static const struct thread_row {
    const char *name;
    enum rh_edge_kind kind;
    uint32_t entry, handle; /* positions of arguments */
} thread_functions[] = {
    {"pthread_create", RH_EDGE_CREATE, 2, 0},
    {"thrd_create", RH_EDGE_CREATE, 1, 0},
    {"_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE",
     RH_EDGE_CREATE, 1, 0},
    {"pthread_join", RH_EDGE_JOIN, NO_ARG, 0},
    {"thrd_join", RH_EDGE_JOIN, NO_ARG, 0},
    {"_ZNSt6thread4joinEv", RH_EDGE_JOIN, NO_ARG, 0},
};

struct edge_list RH_VEC_BODY(uint32_t);

struct rh_graph {
    struct rh_module *m;
    struct rh_arena arena;
    RH_VEC(struct rh_edge *) edges;
    struct edge_list *out, *in; /* by function id */
    struct rh_bitset address_taken;
};

/* The function that a value is another name for; NULL if it may be any. */
static struct rh_function *resolve_function(struct rh_value *v)
{
    while (v->kind == RH_VALUE_ALIAS || v->kind == RH_VALUE_EXPR) {
        if (v->kind == RH_VALUE_ALIAS ? v->is_ifunc
                                      : v->op != RH_OP_BITCAST && v->op != RH_OP_ADDRSPACECAST)
            return NULL;
        v = v->ops[0];
    }
    return v->kind == RH_VALUE_FUNCTION ? v->fn : NULL;
}

static void add_edge(struct rh_graph *g, const struct rh_edge *edge)
{
    struct rh_edge *copy = rh_arena_new(&g->arena, struct rh_edge);
    uint32_t number = (uint32_t)g->edges.len;

    *copy = *edge;
    rh_vec_push(&g->edges, copy);
    rh_vec_push(&g->out[edge->caller->id], number);
    if (edge->callee)
        rh_vec_push(&g->in[edge->callee->id], number);
}

static const struct thread_row *find_thread_row(const struct rh_function *f)
{
    for (size_t i = 0; i < sizeof thread_functions / sizeof thread_functions[0]; i++) {
        if (strcmp(thread_functions[i].name, f->name) == 0)
            return &thread_functions[i];
    }
    return NULL;
}

static void add_thread_edge(struct rh_graph *g, struct rh_value *site, const struct thread_row *row)
{
    struct rh_edge edge = {.kind = row->kind, .caller = site->fn, .site = site};

    /* Too few arguments: a program's own function of the same name. */
    if (row->handle >= site->op_count || (row->entry != NO_ARG && row->entry >= site->op_count))
        return;
    edge.handle = site->ops[row->handle];
    if (row->entry != NO_ARG) {
        edge.target = site->ops[row->entry];
        edge.callee = resolve_function(edge.target);
        edge.open = !edge.callee;
    }
    add_edge(g, &edge);
}

/* Which function stands in each row of the table is found once per function, not per call. */
static void add_call(struct rh_graph *g, struct rh_value *site,
                     const struct thread_row *const *rows)
{
    struct rh_edge edge = {.kind = RH_EDGE_CALL, .caller = site->fn, .site = site};

    if (site->intrinsic || site->callee->kind == RH_VALUE_ASM)
        return;
    edge.target = site->callee;
    edge.callee = resolve_function(site->callee);
    edge.open = !edge.callee;
    add_edge(g, &edge);
    if (edge.callee && rows[edge.callee->id])
        add_thread_edge(g, site, rows[edge.callee->id]);
}

static void add_calls(struct rh_graph *g, struct rh_function *f,
                      const struct thread_row *const *rows)
{
    for (uint32_t i = 0; i < f->block_count; i++) {
        for (struct rh_value *v = f->blocks[i]->first; v; v = v->next) {
            if (v->callee)
                add_call(g, v, rows);
        }
    }
}

/* Is `v` used other than by being called? Other names for it are followed. */
static bool is_address_taken(const struct rh_value *v)
{
    for (uint32_t i = 0; i < v->user_count; i++) {
        const struct rh_value *user = v->users[i];
        bool renames = (user->kind == RH_VALUE_ALIAS && !user->is_ifunc) ||
                       (user->kind == RH_VALUE_EXPR &&
                        (user->op == RH_OP_BITCAST || user->op == RH_OP_ADDRSPACECAST));

        if (renames ? is_address_taken(user) : user->callee != v)
            return true;
        /* Called by it and used once more: as an argument or in an operand bundle. */
        if (!renames && i > 0 && v->users[i - 1] == user)
            return true;
    }
    return false;
}

struct rh_graph *rh_graph_build(struct rh_module *m)
{
    uint32_t count = rh_ir_function_count(m);
    const struct thread_row **rows = rh_calloc(count, sizeof *rows);
    struct rh_graph *g = rh_calloc(1, sizeof *g);

    g->m = m;
    g->out = rh_calloc(count, sizeof *g->out);
    g->in = rh_calloc(count, sizeof *g->in);
    for (uint32_t i = 0; i < count; i++) {
        rows[i] = find_thread_row(rh_ir_function(m, i));
        if (is_address_taken(rh_ir_function(m, i)->value))
            rh_bitset_set(&g->address_taken, i);
    }
    for (uint32_t i = 0; i < count; i++)
        add_calls(g, rh_ir_function(m, i), rows);
    free(rows);
    return g;
}

void rh_graph_free(struct rh_graph *g)
{
    if (!g)
        return;
    for (uint32_t i = 0; i < rh_ir_function_count(g->m); i++) {
        rh_vec_free(&g->out[i]);
        rh_vec_free(&g->in[i]);
    }
    free(g->out);
    free(g->in);
    rh_vec_free(&g->edges);
    rh_bitset_release(&g->address_taken);
    rh_arena_release(&g->arena);
    free(g);
}

uint32_t rh_graph_edge_count(const struct rh_graph *g)
{
    return (uint32_t)g->edges.len;
}

const struct rh_edge *rh_graph_edge(const struct rh_graph *g, uint32_t i)
{
    return g->edges.data[i];
}

const uint32_t *rh_graph_out(const struct rh_graph *g, const struct rh_function *f, uint32_t *count)
{
    *count = (uint32_t)g->out[f->id].len;
    return g->out[f->id].data;
}

const uint32_t *rh_graph_in(const struct rh_graph *g, const struct rh_function *f, uint32_t *count)
{
    *count = (uint32_t)g->in[f->id].len;
    return g->in[f->id].data;
}

static void collect_callees(const struct rh_graph *g, struct rh_scc_edges *calls)
{
    uint32_t used = 0;

    for (uint32_t f = 0; f < calls->nodes; f++) {
        calls->at[f] = used;
        rh_vec_each (uint32_t, it, &g->out[f]) {
            const struct rh_edge *edge = g->edges.data[*it];

            if (edge->kind == RH_EDGE_CALL && edge->callee)
                calls->to[used++] = edge->callee->id;
        }
    }
    calls->at[calls->nodes] = used;
}

uint32_t rh_graph_components(const struct rh_graph *g, uint32_t *component_of,
                             struct rh_function **order)
{
    uint32_t count = rh_ir_function_count(g->m), components;
    struct rh_scc_edges calls = {count, rh_alloc_array(count + (size_t)1, sizeof(uint32_t)),
                                 rh_alloc_array(g->edges.len, sizeof(uint32_t))};
    uint32_t *ids = rh_alloc_array(count, sizeof *ids);

    collect_callees(g, &calls);
    components = rh_scc_find(&calls, component_of, ids);
    for (uint32_t i = 0; i < count; i++)
        order[i] = rh_ir_function(g->m, ids[i]);
    free(ids);
    free(calls.at);
    free(calls.to);
    return components;
}

bool rh_graph_address_taken(const struct rh_graph *g, const struct rh_function *f)
{
    return rh_bitset_test(&g->address_taken, f->id);
}
