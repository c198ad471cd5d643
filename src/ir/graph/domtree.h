/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dominator trees of graphs given as arrays, for cfg.c, which uses them in both directions.
 */
#ifndef RH_IR_GRAPH_DOMTREE_H
#define RH_IR_GRAPH_DOMTREE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "ir/graph/scc.h"

struct rh_domtree {
    uint32_t root;
    uint32_t *idom;  /* of the root: itself; of nodes it does not reach: RH_DOMTREE_NONE */
    uint32_t *first; /* a node dominates those numbered from first[node] on, */
    uint32_t *size;  /* this many; 0 for nodes that the root does not reach */
};

#define RH_DOMTREE_NONE UINT32_MAX

/* Both edge lists describe one graph. The tree's arrays come from the arena. */
void rh_domtree_build(struct rh_domtree *tree, struct rh_arena *arena, uint32_t root,
                      const struct rh_scc_edges *succs, const struct rh_scc_edges *preds);

/* Every node dominates itself. False if either is not reached from the root. */
static inline bool rh_domtree_dominates(const struct rh_domtree *tree, uint32_t a, uint32_t b)
{
    return tree->size[b] != 0 && tree->first[b] - tree->first[a] < tree->size[a];
}

#endif
