/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of the points-to analysis, and the cells that they consist of. */
#include <string.h>

#include "analysis/pointsto/internal.h"
#include "base/mem.h"

/* --- objects --- */

uint32_t pt_add_object(struct rh_pointsto *p, enum rh_object_kind kind, struct rh_value *value,
                       uint32_t instance, uint64_t size)
{
    uint32_t id = (uint32_t)p->objects.len;
    rh_vec_push(
        &p->objects,
        (struct object){
            .public = {.kind = kind, .id = id, .instance = instance, .value = value, .size = size},
            .whole = NO_NODE,
            .no_contents = kind == RH_OBJECT_FUNCTION});
    return id;
}

/* Tables that the C++ compiler makes of classes: nobody writes to them, wherever they lie. */
static bool is_class_table(const char *name)
{
    static const char *const stems[] = {"_ZTV", "_ZTI", "_ZTS", "_ZTT"};
    for (size_t i = 0; i < sizeof stems / sizeof stems[0]; i++)
        if (strncmp(name, stems[i], 4) == 0)
            return true;
    return false;
}

static uint32_t add_global_object(struct rh_pointsto *p, struct rh_value *v)
{
    const struct rh_global *g = v->global;
    uint64_t size = g->value_type->alloc_size;
    enum rh_object_kind kind = g->is_thread_local ? RH_OBJECT_THREAD_LOCAL : RH_OBJECT_GLOBAL;
    /* A flexible array at the end: the declared type says too little. */
    uint32_t id = pt_add_object(p, kind, v, RH_NO_INSTANCE, g->is_declaration ? 0 : size);
    p->objects.data[id].type = g->is_declaration ? NULL : g->value_type;
    p->objects.data[id].keeps_type = true;
    p->objects.data[id].public.is_const = g->is_const || is_class_table(v->name);
    return id;
}

uint32_t pt_object_of(struct rh_pointsto *p, struct rh_value *v)
{
    uint64_t known;
    if (rh_map_get(&p->object_of, v->id, &known))
        return (uint32_t)known;
    uint32_t id = v->kind == RH_VALUE_FUNCTION
                      ? pt_add_object(p, RH_OBJECT_FUNCTION, v, RH_NO_INSTANCE, 1)
                      : add_global_object(p, v);
    rh_map_put(&p->object_of, v->id, id);
    return id;
}

/* --- cells --- */

static uint64_t hash_cell(const struct rh_cell *c)
{
    uint64_t h = (uint64_t)c->object * 0x9e3779b97f4a7c15u;
    h = (h ^ (uint64_t)c->offset) * 0xff51afd7ed558ccdu;
    h = (h ^ h >> 32 ^ c->stride) * 0xc4ceb9fe1a85ec53u;
    h = (h ^ h >> 29 ^ (uint64_t)c->end) * 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 31 ^ ((uint64_t)c->span << 32 | c->step)) * 0xff51afd7ed558ccdu;
    return h ^ h >> 32;
}

static bool same_cell(const struct rh_cell *a, const struct rh_cell *b)
{
    return a->object == b->object && a->offset == b->offset && a->stride == b->stride &&
           a->end == b->end && a->step == b->step && a->span == b->span;
}

/* How many ways to look at one object are told apart. A large struct has hundreds of members, each
 * at one offset; hundreds of strides in one object are a sign that nothing is known of it. The more
 * cells there are for each object, the fewer may still be added: what is lost in detail keeps the
 * cost of programs with many such objects in bounds. */
enum { STRIDED_WEIGHT = 16 };

bool pt_is_crowded(const struct rh_pointsto *p, const struct object *o)
{
    static const struct {
        size_t cells, per_object; /* up to the larger of the two */
        uint32_t untyped, typed;
    } limits[] = {{20000, 8, 300, 2000}, {40000, 12, 60, 500}, {60000, 14, 20, 60}};
    enum { ROWS = sizeof limits / sizeof limits[0], LEAST_UNTYPED = 16, LEAST_TYPED = 32 };
    size_t i = 0;
    while (i < ROWS && p->cells.len > limits[i].cells &&
           p->cells.len > limits[i].per_object * p->objects.len)
        i++;
    if (i == ROWS)
        return o->cell_count > (o->type ? LEAST_TYPED : LEAST_UNTYPED);
    return o->cell_count > (o->type ? limits[i].typed : limits[i].untyped);
}

static void grow_slots(struct rh_pointsto *p)
{
    free(p->cell_slots);
    p->cell_room = p->cell_room ? p->cell_room * 2 : 1024;
    p->cell_slots = rh_calloc(p->cell_room, sizeof *p->cell_slots);
    for (size_t i = 0; i < p->cells.len; i++) {
        size_t at = hash_cell(&p->cells.data[i]) & (p->cell_room - 1);
        while (p->cell_slots[at])
            at = (at + 1) & (p->cell_room - 1);
        p->cell_slots[at] = (uint32_t)i + 1;
    }
}

/* A coarse analysis knows one cell of each object. */
static struct rh_cell coarsen(const struct rh_pointsto *p, const struct rh_cell *cell)
{
    enum rh_object_kind kind = p->objects.data[cell->object].public.kind;
    bool has_inside = kind != RH_OBJECT_FUNCTION && kind != RH_OBJECT_OUTSIDE;
    struct rh_cell whole = {.object = cell->object, .stride = 1, .end = INT64_MAX};
    return p->options.is_coarse && has_inside ? whole : *cell;
}

uint32_t pt_cell(struct rh_pointsto *p, const struct rh_cell *asked)
{
    struct rh_cell known = coarsen(p, asked);
    const struct rh_cell *cell = &known;
    if (p->cells.len * 2 >= p->cell_room)
        grow_slots(p);
    size_t at = hash_cell(cell) & (p->cell_room - 1);
    for (; p->cell_slots[at]; at = (at + 1) & (p->cell_room - 1))
        if (same_cell(&p->cells.data[p->cell_slots[at] - 1], cell))
            return p->cell_slots[at] - 1;
    p->objects.data[cell->object].cell_count += cell->stride ? STRIDED_WEIGHT : 1;
    enum rh_object_kind kind = p->objects.data[cell->object].public.kind;
    if (kind == RH_OBJECT_FUNCTION || kind == RH_OBJECT_OUTSIDE)
        rh_idset_add(&p->callable, (uint32_t)p->cells.len);
    rh_vec_push(&p->cells, *cell);
    rh_vec_push(&p->fields_of, NO_NODE);
    p->cell_slots[at] = (uint32_t)p->cells.len;
    return (uint32_t)p->cells.len - 1;
}

uint32_t pt_whole(struct rh_pointsto *p, uint32_t object)
{
    if (p->objects.data[object].whole == NO_NODE) {
        struct rh_cell whole = {.object = object, .stride = 1, .end = INT64_MAX};
        p->objects.data[object].whole = pt_cell(p, &whole);
    }
    return p->objects.data[object].whole;
}

uint64_t pt_gcd(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

uint32_t pt_settle(struct rh_pointsto *p, uint32_t cell)
{
    uint32_t object = p->cells.data[cell].object;
    if (!p->objects.data[object].collapsed)
        return cell;
    return pt_whole(p, object);
}

uint32_t rh_cell_stride(const struct rh_cell *c)
{
    return (uint32_t)pt_gcd(c->stride, c->step);
}

/* In what frame of its stride both lie, if they lie in one: then bytes of two elements never meet,
 * and the arrays within decide. */
static bool overlap_within(const struct rh_cell *a, int64_t a_bytes, const struct rh_cell *b,
                           int64_t b_bytes)
{
    int64_t stride = a->stride, x = a->offset % stride, y = b->offset % stride;
    if (a->stride != b->stride || x < 0 || y < 0 || x + a->span + a_bytes > stride ||
        y + b->span + b_bytes > stride)
        return true;
    int64_t step = (int64_t)pt_gcd(a->step, b->step);
    if (!step)
        return x < y + b_bytes && y < x + a_bytes;
    int64_t apart = ((y - x) % step + step) % step;
    return apart < a_bytes || step - apart < b_bytes;
}

bool rh_cells_overlap(const struct rh_cell *a, uint64_t a_size, const struct rh_cell *b,
                      uint64_t b_size)
{
    if (a->object != b->object)
        return false;
    if (b->stride > a->stride || (b->stride && !a->stride)) {
        const struct rh_cell *c = a;
        uint64_t size = a_size;
        a = b, a_size = b_size;
        b = c, b_size = size;
    }
    /* How far each reaches; only `a` may have the larger stride. */
    int64_t a_bytes = a_size && a_size < INT32_MAX ? (int64_t)a_size : INT32_MAX;
    int64_t b_bytes = b_size && b_size < INT32_MAX ? (int64_t)b_size : INT32_MAX;
    int64_t a_last = a->stride ? a->end : a->offset + a_bytes;
    int64_t b_last = b->stride ? b->end : b->offset + b_bytes;
    if ((a_last != INT64_MAX && b->offset >= a_last) ||
        (b_last != INT64_MAX && a->offset >= b_last))
        return false;
    if (!a->stride)
        return true;
    if ((a->span || b->span) && !overlap_within(a, a_bytes, b, b_bytes))
        return false;
    a_bytes += a->span;
    b_bytes += b->span;
    int64_t step = b->stride ? (int64_t)pt_gcd(a->stride, b->stride) : a->stride;
    int64_t apart = ((b->offset - a->offset) % step + step) % step;
    return apart < a_bytes || step - apart < b_bytes;
}
