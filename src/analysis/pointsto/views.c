/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Points-to by declaration: a pointer that is declared to point to a struct points to nothing else.
 *
 * How it works: a variable, or the member that a pointer is loaded from, says what struct the
 * pointer leads to. Before such a pointer is used, its cells pass a filter. Of memory that has a
 * type, the places stay in which such a struct may lie. A heap block without a type of its own is
 * seen through a *view*: an object for each block and struct, in which the struct lies at the
 * beginning. So what a pool hands out as items and as connections is told apart from then on, and
 * what is stored in one is not read from the other.
 *
 * What is stored through one view and read through another is lost, and so is what is stored as raw
 * memory and read as a struct. This analysis alone would therefore not be sound: it only gives a
 * second opinion on pairs of accesses that the first one thinks may meet (pairs/declared.c), and
 * calls whatever the first one calls (`guide`).
 */
#include "analysis/pointsto/internal.h"

/* --- declarations --- */

const struct rh_type *pt_declared(struct rh_pointsto *p, const struct rh_value *v)
{
    uint64_t known;
    if (!p->options.guide || v->type->kind != RH_TYPE_PTR ||
        (v->kind != RH_VALUE_INST && v->kind != RH_VALUE_ARG))
        return NULL;
    if (rh_map_get(&p->declared, v->id, &known))
        return (const struct rh_type *)(uintptr_t)known;
    const struct rh_type *t = rh_layout_declared(p->layouts, v);
    t = t && !pt_hides_members(t) ? t : NULL;
    rh_map_put(&p->declared, v->id, (uint64_t)(uintptr_t)t);
    return t;
}

uint32_t pt_def_of(struct rh_pointsto *p, uint32_t instance, struct rh_value *v)
{
    const struct rh_type *t = pt_declared(p, v);
    uint64_t known, key = (uint64_t)instance << 32 | v->id;
    if (!t)
        return pt_node_of(p, instance, v);
    if (rh_map_get(&p->raw_of, key, &known))
        return (uint32_t)known;
    bool single = v->op == RH_OP_LOAD || v->op == RH_OP_GEP;
    uint32_t raw = single && v->kind == RH_VALUE_INST ? pt_add_single(p) : pt_add_node(p);
    rh_map_put(&p->raw_of, key, raw);
    pt_add_shift_edge(p, raw, pt_node_of(p, instance, v), &(struct shift){.as = t});
    return raw;
}

/* --- views --- */

bool pt_is_open(const struct rh_type *t)
{
    if (t->kind == RH_TYPE_ARRAY)
        return t->count == 0;
    return t->kind == RH_TYPE_STRUCT && t->count && pt_is_open(t->elems[t->count - 1]);
}

static uint32_t view_of(struct rh_pointsto *p, uint32_t base, const struct rh_type *type)
{
    uint64_t known, key = (uint64_t)base << 32 | type->id;
    if (rh_map_get(&p->view_of, key, &known))
        return (uint32_t)known;
    struct rh_object o = p->objects.data[base].public;
    uint32_t view = pt_add_object(p, o.kind, o.value, o.instance, 0);
    struct object *v = &p->objects.data[view];
    v->type = type;
    v->keeps_type = true;
    v->is_view = true;
    v->base = base;
    v->outside = p->objects.data[base].outside;
    rh_map_put(&p->view_of, key, view);
    return view;
}

void pt_settle_in_view(const struct object *view, struct rh_cell *c)
{
    int64_t size = (int64_t)view->type->alloc_size;
    if (c->offset < size)
        return;
    if (pt_is_open(view->type)) {
        *c = (struct rh_cell){.object = c->object, .offset = size, .stride = 1, .end = INT64_MAX};
        return;
    }
    bool by_element = c->stride % size == 0;
    c->offset = by_element ? c->offset % size : 0;
    if (!c->stride)
        c->stride = (uint32_t)size;
    c->end = INT64_MAX;
}

/* The begin of a struct of the view, no one knows which. */
static uint32_t any_begin(struct rh_pointsto *p, uint32_t view)
{
    const struct rh_type *t = p->objects.data[view].type;
    struct rh_cell c = {.object = view, .end = INT64_MAX};
    c.stride = pt_is_open(t) ? 0 : (uint32_t)t->alloc_size;
    return pt_cell(p, &c);
}

/* A cell of a view as seen through another pointer; false if it is not within the view's struct. */
static bool see_within(struct rh_pointsto *p, uint32_t cell, const struct rh_type *t, uint32_t *out)
{
    struct rh_cell c = p->cells.data[cell];
    const struct rh_type *own = p->objects.data[c.object].type;
    int64_t size = (int64_t)own->alloc_size;
    bool is_inside = c.offset >= 0 && (c.stride ? c.stride % size == 0 : c.offset < size);
    *out = cell;
    if (is_inside && pt_holds(p, own, (uint64_t)(c.offset % size), t))
        return true;
    if (own != t)
        return false;
    if (c.stride || c.offset < 0 || c.offset % size != 0 || pt_is_open(t))
        *out = any_begin(p, c.object);
    return true;
}

static void see_untyped(struct rh_pointsto *p, uint32_t cell, const struct rh_type *t,
                        struct rh_idset *out)
{
    struct rh_cell c = p->cells.data[cell];
    bool is_view = p->objects.data[c.object].is_view;
    uint32_t seen;
    if (is_view && see_within(p, cell, t, &seen)) {
        rh_idset_add(out, seen);
        return;
    }
    uint32_t view = view_of(p, is_view ? p->objects.data[c.object].base : c.object, t);
    struct rh_cell begin = {.object = view, .end = INT64_MAX};
    bool is_first = !is_view && !c.stride && !c.offset;
    rh_idset_add(out, is_first ? pt_cell(p, &begin) : any_begin(p, view));
}

static void see_typed(struct rh_pointsto *p, uint32_t cell, const struct rh_type *t,
                      struct rh_idset *out)
{
    struct rh_cell c = p->cells.data[cell], first = {.object = c.object, .end = INT64_MAX};
    const struct object *o = &p->objects.data[c.object];
    const struct rh_type *own = o->type;
    uint64_t size = own->alloc_size, offset = (uint64_t)c.offset;
    bool is_array = o->public.size > size && o->public.size % size == 0;
    struct rh_idset places = RH_IDSET_INIT;
    if (!c.stride || c.stride % size == 0) {
        if (pt_holds(p, own, c.stride || is_array ? offset % size : offset, t))
            rh_idset_add(out, cell);
        return;
    }
    first.stride = is_array ? (uint32_t)size : 0;
    if (pt_find_places(p, own, first, t, &places))
        rh_idset_unite(out, &places);
    else
        rh_idset_add(out, cell);
    rh_idset_release(&places);
}

void pt_see(struct rh_pointsto *p, uint32_t cell, const struct rh_type *t, struct rh_idset *out)
{
    const struct object *o = &p->objects.data[p->cells.data[cell].object];
    bool is_block = o->public.kind == RH_OBJECT_HEAP && o->public.value;
    bool is_variable = o->public.kind == RH_OBJECT_GLOBAL || o->public.kind == RH_OBJECT_STACK ||
                       o->public.kind == RH_OBJECT_THREAD_LOCAL;
    bool is_typed = o->keeps_type && o->type && o->type->alloc_size;
    bool is_untyped = is_block && (o->is_view || !is_typed);
    if (o->public.kind == RH_OBJECT_FUNCTION)
        return;
    if (is_untyped)
        see_untyped(p, cell, t, out);
    else if ((is_block || is_variable) && is_typed && p->cells.data[cell].offset >= 0)
        see_typed(p, cell, t, out);
    else
        rh_idset_add(out, cell);
}

/* --- questions --- */

uint32_t rh_pointsto_block(const struct rh_pointsto *p, uint32_t object)
{
    const struct object *o = &p->objects.data[object];
    return o->is_view ? o->base : object;
}

/* A cell of a view as one in a single struct of it, wherever that is in its array. */
static struct rh_cell fold(const struct object *view, const struct rh_cell *cell)
{
    int64_t size = (int64_t)view->type->alloc_size;
    struct rh_cell c = *cell;
    if (c.stride && c.stride % size == 0) {
        c.offset %= size;
        c.stride = c.step;
        c.end = c.offset + c.span + c.step;
        c.step = c.span = 0;
    }
    c.object = 0;
    return c;
}

struct nested {
    struct rh_cell outer, inner;
    uint64_t outer_bytes, inner_bytes;
};

static bool meets_nested(void *arg, int64_t offset, uint32_t step, int64_t end)
{
    const struct nested *n = arg;
    struct rh_cell c = n->inner;
    c.offset += offset;
    c.end = step || c.end == INT64_MAX ? end : c.end + offset;
    if (step)
        c.stride = c.stride ? (uint32_t)pt_gcd(c.stride, step) : step;
    return rh_cells_overlap(&n->outer, n->outer_bytes, &c, n->inner_bytes);
}

static bool meet_nested(const struct object *outer, const struct rh_cell *x, uint64_t x_size,
                        const struct object *inner, const struct rh_cell *y, uint64_t y_size)
{
    struct nested n = {fold(outer, x), fold(inner, y), x_size, y_size};
    return pt_nests(outer->type, 0, 0, inner->type, meets_nested, &n);
}

bool rh_pointsto_meet(const struct rh_pointsto *p, uint32_t a, uint64_t a_size, uint32_t b,
                      uint64_t b_size)
{
    const struct rh_cell *x = &p->cells.data[a], *y = &p->cells.data[b];
    const struct object *o = &p->objects.data[x->object], *q = &p->objects.data[y->object];
    if (x->object == y->object)
        return rh_cells_overlap(x, a_size, y, b_size);
    if (rh_pointsto_block(p, x->object) != rh_pointsto_block(p, y->object))
        return false;
    if (!o->is_view || !q->is_view)
        return false; /* what is declared is not also used as bare bytes */
    return meet_nested(o, x, a_size, q, y, b_size) || meet_nested(q, y, b_size, o, x, a_size);
}
