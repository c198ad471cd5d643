/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Semi-NCA (Georgiadis): semidominators by path compression, then each immediate dominator as the
 * nearest ancestor that is not below the semidominator. Near linear on any graph, without the
 * quadratic cases of the iterative method.
 */
#include "ir/graph/domtree.h"

#include <stdlib.h>

#include "base/mem.h"

/* Everything below is by depth-first number, from 1; 0 stands for "none" and is the root's parent.
 */
struct numbering {
    uint32_t count;
    uint32_t *number; /* of a node, 0 if not reached */
    uint32_t *node;   /* of a number */
    uint32_t *parent;
    uint32_t *semi;
    uint32_t *label; /* the best semidominator on the compressed path is that of this number */
    uint32_t *ancestor;
    uint32_t *idom;
    uint32_t *stack;
};

static void number_nodes(struct numbering *n, const struct rh_scc_edges *succs, uint32_t root)
{
    uint32_t *next = rh_alloc_array(succs->nodes, sizeof *next);
    uint32_t depth = 0;

    n->number[root] = ++n->count;
    n->node[1] = root;
    next[root] = succs->at[root];
    n->stack[depth++] = root;
    while (depth > 0) {
        uint32_t v = n->stack[depth - 1], w;

        if (next[v] == succs->at[v + 1]) {
            depth--;
            continue;
        }
        w = succs->to[next[v]++];
        if (n->number[w])
            continue;
        n->number[w] = ++n->count;
        n->node[n->count] = w;
        n->parent[n->count] = n->number[v];
        next[w] = succs->at[w];
        n->stack[depth++] = w;
    }
    free(next);
}

/* The label of v after pulling up all that lies between v and the part of the tree that is not
 * linked yet, which is what has a number below `linked`. */
static uint32_t find_label(struct numbering *n, uint32_t v, uint32_t linked)
{
    uint32_t depth = 0, top;

    while (n->ancestor[v] >= linked) {
        n->stack[depth++] = v;
        v = n->ancestor[v];
    }
    for (top = v; depth > 0; top = v) {
        v = n->stack[--depth];
        n->ancestor[v] = n->ancestor[top];
        if (n->semi[n->label[top]] < n->semi[n->label[v]])
            n->label[v] = n->label[top];
    }
    return n->label[v];
}

static void find_idoms(struct numbering *n, const struct rh_scc_edges *preds)
{
    for (uint32_t i = 1; i <= n->count; i++) {
        n->semi[i] = n->label[i] = i;
        n->ancestor[i] = n->idom[i] = n->parent[i];
    }
    for (uint32_t i = n->count; i >= 2; i--) {
        uint32_t v = n->node[i];

        n->semi[i] = n->parent[i];
        for (uint32_t e = preds->at[v]; e < preds->at[v + 1]; e++) {
            uint32_t p = n->number[preds->to[e]], best;

            if (p == 0)
                continue;
            best = n->semi[find_label(n, p, i + 1)];
            if (best < n->semi[i])
                n->semi[i] = best;
        }
    }
    for (uint32_t i = 2; i <= n->count; i++) {
        while (n->idom[i] > n->semi[i])
            n->idom[i] = n->idom[n->idom[i]];
    }
}

/* Numbers the tree so that each subtree is a range. A dominator has a smaller depth-first number
 * than what it dominates, so one sweep up and one down suffice. */
static void number_tree(struct rh_domtree *tree, const struct numbering *n)
{
    uint32_t *next = n->stack;

    for (uint32_t i = n->count; i >= 1; i--) {
        uint32_t v = n->node[i];

        tree->size[v]++;
        if (i > 1)
            tree->size[n->node[n->idom[i]]] += tree->size[v];
    }
    for (uint32_t i = 1; i <= n->count; i++) {
        uint32_t v = n->node[i];

        tree->first[v] = 0;
        if (i > 1) {
            tree->first[v] = next[n->idom[i]];
            next[n->idom[i]] += tree->size[v];
        }
        next[i] = tree->first[v] + 1;
        tree->idom[v] = i > 1 ? n->node[n->idom[i]] : v;
    }
}

void rh_domtree_build(struct rh_domtree *tree, struct rh_arena *arena, uint32_t root,
                      const struct rh_scc_edges *succs, const struct rh_scc_edges *preds)
{
    size_t room = (size_t)succs->nodes + 1;
    uint32_t *all = rh_calloc(room * 8, sizeof *all);
    struct numbering n = {
        .number = all,
        .node = all + room,
        .parent = all + 2 * room,
        .semi = all + 3 * room,
        .label = all + 4 * room,
        .ancestor = all + 5 * room,
        .idom = all + 6 * room,
        .stack = all + 7 * room,
    };

    tree->root = root;
    tree->idom = rh_arena_array(arena, uint32_t, succs->nodes);
    tree->first = rh_arena_array(arena, uint32_t, succs->nodes);
    tree->size = rh_arena_array(arena, uint32_t, succs->nodes);
    for (uint32_t v = 0; v < succs->nodes; v++)
        tree->idom[v] = RH_DOMTREE_NONE;
    number_nodes(&n, succs, root);
    find_idoms(&n, preds);
    number_tree(tree, &n);
    free(all);
}
