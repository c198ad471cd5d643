/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strongly connected components of a graph given as arrays, for the files of src/ir alone.
 *
 * The edges out of node v are to[at[v]] .. to[at[v + 1] - 1].
 */
#ifndef RH_IR_GRAPH_SCC_H
#define RH_IR_GRAPH_SCC_H

#include <stdint.h>

struct rh_scc_edges {
    uint32_t nodes;
    uint32_t *at; /* nodes + 1 entries */
    uint32_t *to;
};

/* Gives each node its component, numbered such that edges lead to the same or a smaller number;
 * returns how many there are. `order`, if not NULL, gets the nodes sorted by component. */
uint32_t rh_scc_find(const struct rh_scc_edges *edges, uint32_t *component_of, uint32_t *order);

#endif
