/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who calls whom and who starts and joins which threads, over a whole module.
 *
 * Direct calls are edges; a call through a pointer is left open. Thread edges come from the known
 * creating and joining functions (pthread_create, pthread_join, thrd_create, thrd_join,
 * std::thread's start in libstdc++), each a row of one table: name, which argument is the entry,
 * which is the handle. They stand beside the call edge to the creating or joining function itself.
 * Calls to intrinsics and to inline assembly are no edges.
 */
#ifndef RH_IR_GRAPH_GRAPH_H
#define RH_IR_GRAPH_GRAPH_H

#include "ir/ir.h"

enum rh_edge_kind {
    RH_EDGE_CALL,   /* runs in the caller's thread */
    RH_EDGE_CREATE, /* callee runs in a new thread */
    RH_EDGE_JOIN,   /* waits for a thread; callee is NULL */
};

struct rh_edge {
    enum rh_edge_kind kind;
    struct rh_function *caller;
    struct rh_function *callee; /* NULL if open, and for joins */
    struct rh_value *site;      /* the call instruction */
    struct rh_value *target;    /* what is called: the callee operand, or the entry argument */
    struct rh_value *handle;    /* thread handle argument of creates and joins, else NULL */
    bool open;                  /* the target is a pointer */
};

struct rh_graph;

struct rh_graph *rh_graph_build(struct rh_module *m);
void rh_graph_free(struct rh_graph *g);
uint32_t rh_graph_edge_count(const struct rh_graph *g);
const struct rh_edge *rh_graph_edge(const struct rh_graph *g, uint32_t i);
/* Edges out of a function, and edges into one, as index lists. */
const uint32_t *rh_graph_out(const struct rh_graph *g, const struct rh_function *f,
                             uint32_t *count);
const uint32_t *rh_graph_in(const struct rh_graph *g, const struct rh_function *f, uint32_t *count);
/* Strongly connected components over CALL edges, callees before callers: component of each
 * function id, and functions in that order. */
uint32_t rh_graph_components(const struct rh_graph *g, uint32_t *component_of,
                             struct rh_function **order);
/* May the function be reached by a pointer: is it used as anything but the target of a call? */
bool rh_graph_address_taken(const struct rh_graph *g, const struct rh_function *f);

#endif
