/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The solver of the points-to analysis: nodes, edges and the worklist.
 *
 * Work goes in rounds. At the beginning of a round, if the graph has grown enough, nodes on cycles
 * of copies are merged, shifts on cycles become strides (else p = p + 8 would never end), and nodes
 * are ranked in topological order. In a round nodes are taken by rank, so that what a node passes
 * on is complete; what flows back waits for the next round.
 */
#include <string.h>

#include "analysis/pointsto/internal.h"
#include "base/mem.h"
#include "ir/graph/scc.h"

/* --- nodes and edges --- */

uint32_t pt_add_node(struct rh_pointsto *p)
{
    uint32_t id = (uint32_t)p->nodes.len;
    rh_vec_push(&p->nodes, (struct node){.rep = id});
    return id;
}

uint32_t pt_add_single(struct rh_pointsto *p)
{
    uint32_t node = pt_add_node(p);
    p->nodes.data[node].single = true;
    return node;
}

uint32_t pt_find(struct rh_pointsto *p, uint32_t node)
{
    struct node *nodes = p->nodes.data;
    while (nodes[node].rep != node) {
        nodes[node].rep = nodes[nodes[node].rep].rep;
        node = nodes[node].rep;
    }
    return node;
}

static void heap_push(struct rh_pointsto *p, uint32_t node)
{
    rh_vec_push(&p->heap, node);
    uint32_t *heap = p->heap.data;
    size_t at = p->heap.len - 1;
    while (at && p->nodes.data[heap[(at - 1) / 2]].rank > p->nodes.data[node].rank) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = node;
}

static uint32_t heap_pop(struct rh_pointsto *p)
{
    uint32_t *heap = p->heap.data, top = heap[0], last = heap[--p->heap.len];
    size_t len = p->heap.len, at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= len)
            break;
        if (child + 1 < len &&
            p->nodes.data[heap[child + 1]].rank < p->nodes.data[heap[child]].rank)
            child++;
        if (p->nodes.data[heap[child]].rank >= p->nodes.data[last].rank)
            break;
        heap[at] = heap[child];
        at = child;
    }
    if (len)
        heap[at] = last;
    return top;
}

static void enqueue(struct rh_pointsto *p, uint32_t node)
{
    struct node *n = &p->nodes.data[node];
    if (n->queued)
        return;
    n->queued = true;
    if (n->rank > p->current_rank)
        heap_push(p, node);
    else
        rh_vec_push(&p->later, node);
}

static void add_cells(struct rh_pointsto *p, uint32_t node, const struct rh_idset *cells)
{
    struct node *n = &p->nodes.data[node];
    if (rh_idset_unite_new(&n->news, cells, &n->cells))
        enqueue(p, node);
}

void pt_add_cell(struct rh_pointsto *p, uint32_t node, uint32_t cell)
{
    node = pt_find(p, node);
    struct node *n = &p->nodes.data[node];
    if (!rh_idset_has(&n->cells, cell) && rh_idset_add(&n->news, cell))
        enqueue(p, node);
}

void pt_add_copy_edge(struct rh_pointsto *p, uint32_t from, uint32_t to)
{
    from = pt_find(p, from);
    to = pt_find(p, to);
    if (from == to || !rh_idset_add(&p->nodes.data[from].copies, to))
        return;
    p->new_edges++;
    p->edges++;
    add_cells(p, to, &p->nodes.data[from].cells);
}

/* Two nodes that the same load or shift defines are equal: the next search for cycles will merge
 * them, or it is done here, as long as nothing hangs on the second. */
static void add_equal(struct rh_pointsto *p, uint32_t known, uint32_t node)
{
    known = pt_find(p, known);
    node = pt_find(p, node);
    struct node *n = &p->nodes.data[node];
    bool is_bare = rh_idset_is_empty(&n->cells) && rh_idset_is_empty(&n->news) &&
                   rh_idset_is_empty(&n->copies) && !n->shifts.len && !n->uses.len;
    if (known == node)
        return;
    if (n->single && is_bare && p->nodes.data[known].single) {
        n->rep = known;
        return;
    }
    pt_add_copy_edge(p, known, node);
    if (n->single && p->nodes.data[known].single)
        pt_add_copy_edge(p, node, known);
}

static void shift_cells(struct rh_pointsto *p, const struct rh_idset *cells,
                        const struct shift_edge *edge)
{
    uint32_t cell, moved;
    struct rh_idset out = RH_IDSET_INIT;
    for (uint64_t at = 0; edge->by.as && rh_idset_next(cells, &at, &cell);)
        pt_see(p, cell, edge->by.as, &out);
    for (uint64_t at = 0; !edge->by.as && rh_idset_next(cells, &at, &cell);)
        if (pt_shift(p, cell, &edge->by, &moved))
            rh_idset_add(&out, moved);
    add_cells(p, pt_find(p, edge->to), &out);
    rh_idset_release(&out);
}

static bool same_shift(const struct shift *a, const struct shift *b)
{
    return a->offset == b->offset && a->stride == b->stride && a->start == b->start &&
           a->extent == b->extent && a->down == b->down && a->below == b->below &&
           a->loose == b->loose && a->as == b->as && a->by_elements == b->by_elements;
}

static const struct shift_edge *find_shift(const struct node *n, const struct shift *by)
{
    rh_vec_each (struct shift_edge, edge, &n->shifts)
        if (same_shift(&edge->by, by))
            return edge;
    return NULL;
}

/* Nodes that were merged have the same members accessed through them in many places: each distinct
 * shift is made once, into a node from which the others copy. */
void pt_add_shift_edge(struct rh_pointsto *p, uint32_t from, uint32_t to, const struct shift *by)
{
    if ((!by->offset && !by->stride && !by->as) || p->options.is_coarse) {
        pt_add_copy_edge(p, from, to);
        return;
    }
    from = pt_find(p, from);
    to = pt_find(p, to);
    const struct shift_edge *known = find_shift(&p->nodes.data[from], by);
    if (known) {
        add_equal(p, known->to, to);
        return;
    }
    struct shift_edge edge = {to, *by};
    if (!p->nodes.data[to].single) {
        edge.to = pt_add_single(p);
        pt_add_copy_edge(p, edge.to, to);
    }
    rh_vec_push(&p->nodes.data[from].shifts, edge);
    p->new_edges++;
    p->edges++;
    shift_cells(p, &p->nodes.data[from].cells, &edge);
}

/* --- uses --- */

static void use_cell(struct rh_pointsto *p, const struct use *use, uint32_t cell)
{
    uint32_t object = p->cells.data[cell].object;
    const struct rh_object *o = &p->objects.data[object].public;
    switch (use->kind) {
    case USE_LOAD:
        pt_read_parts(p, use, cell);
        break;
    case USE_STORE:
        if (!o->is_const)
            pt_write_parts(p, use, cell);
        break;
    case USE_LOAD_ALL:
        pt_read_all(p, use->node, cell);
        break;
    case USE_STORE_ALL:
        if (!o->is_const)
            pt_write_all(p, use->node, cell);
        break;
    case USE_COPY_FROM:
        pt_copy_from(p, use->node, cell);
        break;
    case USE_COPY_TO:
        if (!o->is_const)
            pt_copy_to(p, use->node, cell);
        break;
    case USE_TABLE:
        if (o->is_const || o->kind == RH_OBJECT_OUTSIDE)
            pt_add_cell(p, use->node, cell);
        break;
    case USE_OUTSIDE:
        pt_use_outside(p, cell);
        break;
    case USE_CALL:
    case USE_START:
    case USE_LIBRARY:
        pt_use_function(p, use, object);
        break;
    }
}

static bool is_call(const struct use *use)
{
    return use->kind == USE_CALL || use->kind == USE_START || use->kind == USE_LIBRARY;
}

static void use_cells(struct rh_pointsto *p, const struct use *use, const struct rh_idset *cells)
{
    struct rh_idset callable = RH_IDSET_INIT;
    uint32_t cell;
    if (is_call(use)) {
        rh_idset_both(&callable, cells, &p->callable);
        cells = &callable;
    }
    for (uint64_t at = 0; rh_idset_next(cells, &at, &cell);)
        use_cell(p, use, cell);
    rh_idset_release(&callable);
}

static bool is_load(const struct use *use)
{
    return use->kind == USE_LOAD || use->kind == USE_LOAD_ALL;
}

static bool is_store(const struct use *use)
{
    return use->kind == USE_STORE || use->kind == USE_STORE_ALL;
}

/* A load or store of the same part through the same pointers; its node serves both. */
static const struct use *find_use(const struct node *n, const struct use *use)
{
    if (!is_load(use) && !is_store(use))
        return NULL;
    rh_vec_each (struct use, known, &n->uses)
        if (known->kind == use->kind && known->offset == use->offset &&
            known->bytes == use->bytes && known->tag == use->tag)
            return known;
    return NULL;
}

static bool join_use(struct rh_pointsto *p, uint32_t node, const struct use *use)
{
    const struct use *known = find_use(&p->nodes.data[node], use);
    if (!known)
        return false;
    if (is_load(use))
        add_equal(p, known->node, use->node);
    else
        pt_add_copy_edge(p, use->node, known->node);
    return true;
}

void pt_add_use(struct rh_pointsto *p, uint32_t node, const struct use *use)
{
    struct rh_idset known = RH_IDSET_INIT;
    struct use copy = *use;
    node = pt_find(p, node);
    if (join_use(p, node, &copy))
        return;
    /* A value that others may store through the same pointer must not get theirs. */
    if (is_load(&copy) && !p->nodes.data[pt_find(p, use->node)].single) {
        copy.node = pt_add_single(p);
        pt_add_copy_edge(p, copy.node, use->node);
    } else if (is_store(&copy)) {
        copy.node = pt_add_node(p);
        pt_add_copy_edge(p, use->node, copy.node);
    }
    rh_vec_push(&p->nodes.data[node].uses, copy);
    rh_idset_copy(&known, &p->nodes.data[node].cells);
    use_cells(p, &copy, &known);
    rh_idset_release(&known);
}

/* --- cycles --- */

static void merge(struct rh_pointsto *p, uint32_t from, uint32_t into)
{
    struct node *a = &p->nodes.data[from], *b = &p->nodes.data[into];
    struct rh_idset all = RH_IDSET_INIT;
    /* What either has passed on, the other's edges and uses have not seen. */
    rh_idset_unite(&all, &a->cells);
    rh_idset_unite(&all, &a->news);
    if (!rh_idset_equal(&a->cells, &b->cells)) {
        rh_idset_unite(&all, &b->cells);
        rh_idset_clear(&b->cells);
    } else if (rh_idset_is_empty(&a->news)) {
        rh_idset_clear(&all);
    }
    rh_idset_unite_new(&b->news, &all, &b->cells);
    rh_idset_unite(&b->copies, &a->copies);
    struct node old = *a;
    *a = (struct node){.rep = into, .queued = a->queued};
    b->single = false;
    if (!rh_idset_is_empty(&b->news))
        enqueue(p, into);
    rh_vec_each (struct shift_edge, edge, &old.shifts) {
        const struct shift_edge *known = find_shift(&p->nodes.data[into], &edge->by);
        if (known)
            add_equal(p, known->to, edge->to);
        else
            rh_vec_push(&p->nodes.data[into].shifts, *edge);
    }
    rh_vec_each (struct use, use, &old.uses)
        if (!join_use(p, into, use))
            rh_vec_push(&p->nodes.data[into].uses, *use);
    rh_idset_release(&all);
    rh_idset_release(&old.cells);
    rh_idset_release(&old.news);
    rh_idset_release(&old.copies);
    rh_vec_free(&old.shifts);
    rh_vec_free(&old.uses);
}

/* The graph as arrays, over all nodes; merged ones have no edges. */
static void collect_edges(struct rh_pointsto *p, bool with_shifts, struct rh_scc_edges *out)
{
    size_t count = 0;
    for (uint32_t n = 0; n < p->nodes.len; n++) {
        struct node *node = &p->nodes.data[n];
        if (node->rep == n)
            count += rh_idset_count(&node->copies) + (with_shifts ? node->shifts.len : 0);
    }
    out->nodes = (uint32_t)p->nodes.len;
    out->at = rh_alloc_array(p->nodes.len + 1, sizeof *out->at);
    out->to = rh_alloc_array(count, sizeof *out->to);
    uint32_t used = 0, to;
    for (uint32_t n = 0; n < p->nodes.len; n++) {
        struct node *node = &p->nodes.data[n];
        out->at[n] = used;
        if (node->rep != n)
            continue;
        for (uint64_t at = 0; rh_idset_next(&node->copies, &at, &to);)
            out->to[used++] = pt_find(p, to);
        for (size_t i = 0; with_shifts && i < node->shifts.len; i++)
            out->to[used++] = pt_find(p, node->shifts.data[i].to);
    }
    out->at[out->nodes] = used;
}

static void release_edges(struct rh_scc_edges *edges)
{
    free(edges->at);
    free(edges->to);
}

static void merge_cycles(struct rh_pointsto *p, uint32_t *component)
{
    struct rh_scc_edges edges;
    uint32_t *order = rh_alloc_array(p->nodes.len, sizeof *order);
    collect_edges(p, false, &edges);
    rh_scc_find(&edges, component, order);
    for (size_t i = 1; i < p->nodes.len; i++) {
        uint32_t first = pt_find(p, order[i - 1]);
        if (component[order[i]] == component[order[i - 1]] && order[i] != first)
            merge(p, order[i], first);
    }
    release_edges(&edges);
    free(order);
}

/* Nodes that hold the same very many cells are merged as well: what they may come to differ in says
 * little, and following each alone is most of the work in large programs. */
static void merge_alike(struct rh_pointsto *p)
{
    enum { VERY_MANY = 1000 };
    struct rh_map seen = RH_MAP_INIT; /* hash of the cells -> node */
    for (uint32_t n = 0; n < p->nodes.len; n++) {
        const struct node *node = &p->nodes.data[n];
        uint64_t known;
        if (node->rep != n || rh_idset_count(&node->cells) < VERY_MANY)
            continue;
        uint64_t hash = rh_idset_hash(&node->cells);
        if (!rh_map_get(&seen, hash, &known))
            rh_map_put(&seen, hash, n);
        else if (rh_idset_equal(&node->cells, &p->nodes.data[known].cells))
            merge(p, n, (uint32_t)known);
    }
    rh_map_release(&seen);
}

/* A shift that feeds itself moves by every multiple. */
static bool make_stride(struct shift *by)
{
    if (by->as || (!by->offset && !by->extent && !by->start))
        return false;
    uint64_t distance = by->offset < 0 ? -(uint64_t)by->offset : (uint64_t)by->offset;
    *by = (struct shift){
        .stride = pt_gcd(by->stride, distance),
        .down = by->down || by->offset < 0,
    };
    return true;
}

static void stretch_shifts(struct rh_pointsto *p, uint32_t node, const uint32_t *component)
{
    for (size_t i = 0; i < p->nodes.data[node].shifts.len; i++) {
        struct shift_edge *edge = &p->nodes.data[node].shifts.data[i];
        if (component[pt_find(p, edge->to)] != component[node] || !make_stride(&edge->by))
            continue;
        struct shift_edge changed = *edge;
        shift_cells(p, &p->nodes.data[node].cells, &changed);
    }
}

/* Edges to nodes that were merged meanwhile are duplicates of others. */
static void tidy_copies(struct rh_pointsto *p, uint32_t n)
{
    struct node *node = &p->nodes.data[n];
    struct rh_idset tidy = RH_IDSET_INIT;
    uint32_t to;
    bool same = true;
    for (uint64_t at = 0; rh_idset_next(&node->copies, &at, &to);)
        same &= p->nodes.data[to].rep == to && to != n;
    if (same)
        return;
    for (uint64_t at = 0; rh_idset_next(&node->copies, &at, &to);)
        if (pt_find(p, to) != n)
            rh_idset_add(&tidy, pt_find(p, to));
    rh_idset_swap(&node->copies, &tidy);
    rh_idset_release(&tidy);
}

static void rank_nodes(struct rh_pointsto *p)
{
    struct rh_scc_edges edges;
    uint32_t *component = rh_alloc_array(p->nodes.len, sizeof *component);
    merge_cycles(p, component);
    merge_alike(p);
    for (uint32_t n = 0; n < p->nodes.len; n++)
        if (p->nodes.data[n].rep == n)
            tidy_copies(p, n);
    collect_edges(p, true, &edges);
    uint32_t count = rh_scc_find(&edges, component, NULL), nodes = (uint32_t)p->nodes.len;
    for (uint32_t n = 0; n < nodes; n++)
        p->nodes.data[n].rank = count - component[n];
    p->current_rank = UINT32_MAX; /* all that stretching moves waits for the round */
    for (uint32_t n = 0; n < nodes; n++)
        if (p->nodes.data[n].rep == n)
            stretch_shifts(p, n, component);
    release_edges(&edges);
    free(component);
    p->new_edges = 0;
}

/* --- the rounds --- */

/* What is new to the node, objects that are collapsed meanwhile as one cell each. */
static void take_news(struct rh_pointsto *p, uint32_t n, struct rh_idset *out)
{
    struct rh_idset settled = RH_IDSET_INIT;
    uint32_t cell;
    bool changed = false;
    rh_idset_swap(out, &p->nodes.data[n].news);
    for (uint64_t at = 0; !changed && rh_idset_next(out, &at, &cell);)
        changed = p->objects.data[p->cells.data[cell].object].collapsed;
    if (!changed)
        return;
    for (uint64_t at = 0; rh_idset_next(out, &at, &cell);) {
        uint32_t as = pt_settle(p, cell);
        if (!rh_idset_has(&p->nodes.data[n].cells, as))
            rh_idset_add(&settled, as);
    }
    rh_idset_swap(out, &settled);
    rh_idset_release(&settled);
}

static void process(struct rh_pointsto *p, uint32_t n)
{
    struct rh_idset news = RH_IDSET_INIT;
    uint32_t to;
    p->nodes.data[n].queued = false;
    take_news(p, n, &news);
    rh_idset_unite(&p->nodes.data[n].cells, &news);
    /* The node's edges may grow while they are followed; what is added sees all cells itself. */
    struct rh_idset copies = RH_IDSET_INIT;
    rh_idset_copy(&copies, &p->nodes.data[n].copies);
    for (uint64_t at = 0; rh_idset_next(&copies, &at, &to);)
        if (pt_find(p, to) != n)
            add_cells(p, pt_find(p, to), &news);
    rh_idset_release(&copies);
    for (size_t i = 0, len = p->nodes.data[n].shifts.len; i < len; i++) {
        struct shift_edge edge = p->nodes.data[n].shifts.data[i];
        shift_cells(p, &news, &edge);
    }
    for (size_t i = 0, len = p->nodes.data[n].uses.len; i < len; i++) {
        struct use use = p->nodes.data[n].uses.data[i];
        use_cells(p, &use, &news);
    }
    rh_idset_release(&news);
}

static void read_pending(struct rh_pointsto *p)
{
    while (p->pending.len)
        pt_read_instance(p, rh_vec_pop(&p->pending));
}

static void begin_round(struct rh_pointsto *p)
{
    p->current_rank = 0;
    rh_vec_each (uint32_t, it, &p->later) {
        uint32_t n = pt_find(p, *it);
        p->nodes.data[*it].queued = false;
        if (!rh_idset_is_empty(&p->nodes.data[n].news) && !p->nodes.data[n].queued) {
            p->nodes.data[n].queued = true;
            heap_push(p, n);
        }
    }
    rh_vec_clear(&p->later);
}

void pt_solve(struct rh_pointsto *p)
{
    p->current_rank = UINT32_MAX;
    read_pending(p);
    while (p->later.len) {
        if (p->new_edges > p->edges / 50 || p->rounds % 8 == 0)
            rank_nodes(p);
        begin_round(p);
        p->rounds++;
        while (p->heap.len && !rh_deadline_passed(p->options.deadline)) {
            uint32_t n = heap_pop(p);
            p->current_rank = p->nodes.data[n].rank;
            if (pt_find(p, n) == n)
                process(p, n);
        }
        p->current_rank = UINT32_MAX;
        if (rh_deadline_passed(p->options.deadline))
            return;
        read_pending(p);
    }
}
