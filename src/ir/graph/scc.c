/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tarjan's algorithm with a stack of its own, because call graphs and flow graphs are deep.
 */
#include "ir/graph/scc.h"

#include <stdlib.h>

#include "base/mem.h"

#define UNSEEN UINT32_MAX

struct search {
    const struct rh_scc_edges *edges;
    uint32_t *component_of; /* UNSEEN until the component is complete */
    uint32_t *order;
    uint32_t components, ordered;
    uint32_t *number; /* in order of discovery, from 1; 0 if undiscovered */
    uint32_t *low;    /* smallest number known to be in the same component */
    uint32_t *next;   /* next edge to follow */
    uint32_t *path, path_len;
    uint32_t *open, open_len; /* discovered and not yet in a component */
    uint32_t discovered;
};

static void discover(struct search *s, uint32_t v)
{
    s->number[v] = s->low[v] = ++s->discovered;
    s->next[v] = s->edges->at[v];
    s->path[s->path_len++] = v;
    s->open[s->open_len++] = v;
}

static void close_component(struct search *s, uint32_t root)
{
    uint32_t v;

    do {
        v = s->open[--s->open_len];
        s->component_of[v] = s->components;
        if (s->order)
            s->order[s->ordered++] = v;
    } while (v != root);
    s->components++;
}

static void lower(uint32_t *low, uint32_t to)
{
    if (to < *low)
        *low = to;
}

static void follow(struct search *s)
{
    uint32_t v = s->path[s->path_len - 1];

    if (s->next[v] < s->edges->at[v + 1]) {
        uint32_t w = s->edges->to[s->next[v]++];

        if (s->number[w] == 0)
            discover(s, w);
        else if (s->component_of[w] == UNSEEN)
            lower(&s->low[v], s->number[w]);
        return;
    }
    s->path_len--;
    if (s->low[v] == s->number[v])
        close_component(s, v);
    if (s->path_len > 0)
        lower(&s->low[s->path[s->path_len - 1]], s->low[v]);
}

uint32_t rh_scc_find(const struct rh_scc_edges *edges, uint32_t *component_of, uint32_t *order)
{
    uint32_t n = edges->nodes;
    uint32_t *room = rh_calloc((size_t)n * 5, sizeof *room);
    struct search s = {
        .edges = edges,
        .component_of = component_of,
        .order = order,
        .number = room,
        .low = room + n,
        .next = room + 2 * (size_t)n,
        .path = room + 3 * (size_t)n,
        .open = room + 4 * (size_t)n,
    };

    for (uint32_t v = 0; v < n; v++)
        component_of[v] = UNSEEN;
    for (uint32_t v = 0; v < n; v++) {
        if (s.number[v] == 0)
            discover(&s, v);
        while (s.path_len > 0)
            follow(&s);
    }
    free(room);
    return s.components;
}
