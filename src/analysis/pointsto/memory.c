/* Objects, cells and the contents of cells for the points-to analysis. */
#include <string.h>

#include "analysis/pointsto/internal.h"
#include "base/hash.h"
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

static uint32_t add_global_object(struct rh_pointsto *p, struct rh_value *v)
{
    const struct rh_global *g = v->global;
    uint64_t size = g->value_type->alloc_size;
    enum rh_object_kind kind = g->is_thread_local ? RH_OBJECT_THREAD_LOCAL : RH_OBJECT_GLOBAL;
    /* A flexible array at the end: the declared type says too little. */
    uint32_t id = pt_add_object(p, kind, v, RH_NO_INSTANCE, g->is_declaration ? 0 : size);
    p->objects.data[id].type = g->is_declaration ? NULL : g->value_type;
    p->objects.data[id].keeps_type = true;
    p->objects.data[id].public.is_const = g->is_const;
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

static bool is_crowded(const struct rh_pointsto *p, const struct object *o)
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

uint32_t pt_cell(struct rh_pointsto *p, const struct rh_cell *cell)
{
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

/* Any byte of the object. */
static uint32_t whole_of(struct rh_pointsto *p, uint32_t object)
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

/* Brings a cell to the one form that all equal ones have: no stride that leaves the object at its
 * first step, no beginning before the object's. */
static bool normalise(const struct rh_object *o, struct rh_cell *c)
{
    enum { SLACK = 1 << 20 }; /* how far before its object a pointer may be and still come back */
    int64_t size = o->size ? (int64_t)o->size : INT64_MAX;
    if (c->stride) {
        if (c->offset < 0)
            c->offset = (c->offset % (int64_t)c->stride + c->stride) % (int64_t)c->stride;
        if (c->end >= size)
            c->end = INT64_MAX;
        int64_t end = c->end < size ? c->end : size;
        if (end != INT64_MAX && c->offset + (int64_t)c->stride >= end) {
            /* One element: the array within is all there is. */
            c->stride = c->step;
            c->end = c->offset + c->span + c->step;
            c->step = c->span = 0;
        }
    }
    if (!c->stride)
        c->end = INT64_MAX;
    return c->offset <= size && c->offset >= -SLACK;
}

/* Unions, and the unnamed structs that initialisers are made of, do not show the members that the
 * program uses. */
static bool hides_members(const struct rh_type *t)
{
    return t->kind == RH_TYPE_STRUCT && (!t->name || strncmp(t->name, "union.", 6) == 0);
}

/* Widens [*begin, *end) to the parts of a `t` at `base` in which a pointer to `offset` may move. */
static void widen(const struct rh_type *t, int64_t base, int64_t offset, int64_t *begin,
                  int64_t *end)
{
    int64_t size = (int64_t)t->alloc_size;
    if (offset < base || offset >= base + size)
        return;
    bool array = t->kind == RH_TYPE_ARRAY && t->elems[0]->alloc_size;
    int64_t step = array ? (int64_t)t->elems[0]->alloc_size : 0;
    if (offset == base || hides_members(t) || (array && (offset - base) % step == 0)) {
        *begin = base < *begin ? base : *begin;
        *end = base + size > *end ? base + size : *end;
        return;
    }
    if (array)
        widen(t->elems[0], base + (offset - base) / step * step, offset, begin, end);
    for (uint64_t i = 0; t->kind == RH_TYPE_STRUCT && t->offsets && i < t->count; i++)
        widen(t->elems[i], base + (int64_t)t->offsets[i], offset, begin, end);
}

void pt_reach(const struct object *o, int64_t offset, int64_t *begin, int64_t *end)
{
    int64_t size = o->type ? (int64_t)o->type->alloc_size : 0;
    /* Behind the first element there are more only if the block was made for them; it may as well
     * be bytes that follow a header. */
    bool is_array = size && o->public.size && o->public.size % (uint64_t)size == 0;
    if (!size || offset < 0 || offset % size == 0 || (offset > size && !is_array)) {
        *begin = 0;
        *end = INT64_MAX;
        return;
    }
    *begin = *end = offset;
    widen(o->type, offset / size * size, offset, begin, end);
    if (*end == offset) { /* padding: as if nothing were known */
        *begin = 0;
        *end = INT64_MAX;
    }
}

/* How many bytes what lies at the offset has: a number, a pointer; 1 if that is not known. */
static uint64_t scalar_at(const struct rh_type *t, int64_t offset)
{
    if (t->kind == RH_TYPE_ARRAY && t->elems[0]->alloc_size)
        return scalar_at(t->elems[0], offset % (int64_t)t->elems[0]->alloc_size);
    if (t->kind != RH_TYPE_STRUCT)
        return t->kind == RH_TYPE_ARRAY ? 1 : t->alloc_size;
    for (uint64_t i = hides_members(t) || !t->offsets ? 0 : t->count; i-- > 0;)
        if ((int64_t)t->offsets[i] <= offset)
            return scalar_at(t->elems[i], offset - (int64_t)t->offsets[i]);
    return 1;
}

/* A member that is no array, and yet indexed; or one that is not made of bytes, and a way of so
 * many bytes from it: whoever does that counts on where the other members lie. */
static bool leaves_member(const struct object *o, int64_t offset, int64_t room, uint64_t stride)
{
    int64_t size = (int64_t)o->type->alloc_size;
    return room <= (int64_t)stride || (stride == 1 && scalar_at(o->type, offset % size) > 1);
}

/* The array that a shift moves in, as far as that is known. */
static void find_array(const struct object *o, const struct rh_cell *c, const struct shift *by,
                       int64_t *begin, int64_t *end)
{
    *begin = 0;
    *end = INT64_MAX;
    if (by->extent && !by->down) {
        *begin = c->offset + by->start;
        *end = *begin + (int64_t)by->extent;
    } else if (!(by->down && by->stride == 1)) {
        pt_reach(o, c->offset, begin, end);
        if (*end != INT64_MAX && leaves_member(o, c->offset, *end - *begin, by->stride)) {
            *begin = 0;
            *end = INT64_MAX;
        }
    }
}

/* Moves within an array that lies in the elements of another; false if it does not. */
static bool shift_inner(const struct object *o, struct rh_cell *c, const struct shift *by)
{
    int64_t begin, end;
    find_array(o, c, by, &begin, &end);
    if (end == INT64_MAX || end - begin > (int64_t)c->stride || by->stride >= c->stride)
        return false;
    uint64_t step = c->step ? pt_gcd(c->step, by->stride) : by->stride;
    /* To the last element that begins in the array; a copy may begin within its first one. */
    int64_t span = (end - begin - 1) / (int64_t)by->stride * (int64_t)by->stride;
    int64_t offset = c->offset + by->offset;
    if (step < RH_POINTER_BYTES) {
        step = 1;
        span = end - begin;
        offset = begin < offset ? begin : offset;
    } else if (by->down || by->below || offset < begin) {
        offset = begin + ((offset - begin) % (int64_t)step + (int64_t)step) % (int64_t)step;
    }
    /* The same array once more; or one in the elements of the array within. */
    bool same = end - begin > (int64_t)c->step && end - begin >= (int64_t)c->span;
    span = !same ? c->span + span : c->span > span ? c->span : span;
    if (span < 0 || span >= (int64_t)c->stride)
        return false;
    c->offset = offset;
    c->step = span ? (uint32_t)step : 0;
    c->span = (uint32_t)span;
    return true;
}

static void shift_outer(const struct object *o, struct rh_cell *c, const struct shift *by)
{
    int64_t begin = 0, end = INT64_MAX;
    uint64_t stride = c->stride ? pt_gcd(c->stride, by->stride) : by->stride;
    if (c->span && stride != c->stride) /* the array within is not told apart any more */
        stride = pt_gcd(stride, c->step);
    if (!c->stride || by->below)
        find_array(o, c, by, &begin, &end);
    int64_t from = !c->stride || by->below ? begin : c->offset;
    if (!c->stride)
        c->end = end;
    if (stride != c->stride)
        c->step = c->span = 0;
    c->stride = stride > UINT32_MAX ? 1 : (uint32_t)stride;
    c->offset += by->offset;
    /* a[i - 1] and pointers that move down: the first element that exists is meant. */
    if ((by->down || by->below || c->offset < begin) && !(c->offset < 0 && !begin))
        c->offset = begin + ((c->offset - begin) % (int64_t)c->stride + c->stride) % c->stride;
    /* Elements smaller than a pointer are not told apart, nor are their members: any byte of
     * the array may be meant. */
    if (c->stride < RH_POINTER_BYTES) {
        c->stride = 1;
        c->offset = from < c->offset ? from : c->offset;
    }
}

/* The index before may have been below zero by any number of elements, and the distance lead to an
 * earlier member: the first place that fits may lie before the one that the cell begins with. */
static void shift_loosely(struct rh_cell *c, int64_t distance)
{
    int64_t stride = rh_cell_stride(c), apart = (distance % stride + stride) % stride;
    int64_t offset = c->offset + apart;
    if (apart && offset >= stride)
        offset -= stride;
    if (c->span) /* by elements of the array within, or of the array: any word that fits */
        *c = (struct rh_cell){.object = c->object,
                              .stride = (uint32_t)stride,
                              .end = c->end,
                              .offset = offset % stride};
    else
        c->offset = offset;
    if (c->stride < RH_POINTER_BYTES)
        *c = (struct rh_cell){.object = c->object, .stride = 1, .end = c->end};
}

bool pt_shift(struct rh_pointsto *p, uint32_t cell, const struct shift *by, uint32_t *out)
{
    struct rh_cell c = p->cells.data[cell];
    const struct object *o = &p->objects.data[c.object];
    /* The outside and functions have no inside. */
    if (o->public.kind == RH_OBJECT_OUTSIDE || o->public.kind == RH_OBJECT_FUNCTION) {
        *out = cell;
        return true;
    }
    if (o->collapsed) {
        *out = whole_of(p, c.object);
        return true;
    }
    if (by->stride) {
        if (!c.stride || !shift_inner(o, &c, by))
            shift_outer(o, &c, by);
    } else if (c.stride >= RH_POINTER_BYTES && by->loose) {
        shift_loosely(&c, by->offset);
    } else if (c.stride == 0 || c.stride >= RH_POINTER_BYTES) {
        c.offset += by->offset;
    } else if (by->offset < 0) { /* from a byte of the array back to what holds the array */
        c.offset = 0;
        c.end = INT64_MAX;
    }
    if (!normalise(&o->public, &c))
        return false;
    *out = pt_cell(p, &c);
    if (is_crowded(p, &p->objects.data[c.object]))
        p->objects.data[c.object].collapsed = true;
    *out = pt_settle(p, *out);
    return true;
}

uint32_t pt_settle(struct rh_pointsto *p, uint32_t cell)
{
    uint32_t object = p->cells.data[cell].object;
    if (!p->objects.data[object].collapsed)
        return cell;
    return whole_of(p, object);
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

/* --- contents --- */

/* Two fields of one object hold the same if their bytes may overlap. */
static void link_field(struct rh_pointsto *p, uint32_t object, const struct field *field)
{
    for (size_t i = 0; i < p->objects.data[object].fields.len; i++) {
        struct field other = p->objects.data[object].fields.data[i];
        const struct rh_cell *a = &p->cells.data[field->cell], *b = &p->cells.data[other.cell];
        if ((!a->stride && !b->stride) ||
            !rh_cells_overlap(a, RH_POINTER_BYTES, b, RH_POINTER_BYTES))
            continue;
        pt_add_copy_edge(p, field->entry, other.node);
        pt_add_copy_edge(p, other.entry, field->node);
    }
}

static void copy_field(struct rh_pointsto *p, const struct watcher *w, const struct field *field);

void pt_open_field(struct rh_pointsto *p, uint32_t object, const struct field *field)
{
    pt_add_copy_edge(p, field->node, p->sink);
    if (!p->objects.data[object].public.is_const)
        pt_add_cell(p, field->entry, p->outside_cell);
}

/* An object whose fields multiply (a table of thousands, memory copied within itself at a distance)
 * is from some point on looked at as a whole. */
enum { MOST_FIELDS = 400 };

static bool is_whole(const struct rh_cell *c)
{
    return c->stride == 1 && c->offset == 0 && c->end == INT64_MAX;
}

static const struct field *find_field(const struct rh_pointsto *p, uint32_t cell)
{
    uint32_t number = p->fields_of.data[cell];
    const struct object *o = &p->objects.data[p->cells.data[cell].object];
    return number == NO_NODE ? NULL : &o->fields.data[number];
}

static struct field add_field(struct rh_pointsto *p, uint32_t cell)
{
    uint32_t object = p->cells.data[cell].object;
    const struct object *o = &p->objects.data[object];
    bool own = o->public.kind == RH_OBJECT_LIBRARY || o->public.kind == RH_OBJECT_OWN;
    bool strided = p->cells.data[cell].stride != 0;
    struct field field = {.cell = cell, .node = pt_add_node(p)};
    field.entry = strided ? pt_add_node(p) : field.node;
    pt_add_copy_edge(p, field.entry, field.node);
    /* What a library's memory leads to is more of it. */
    if (own)
        pt_add_cell(p, field.entry,
                    pt_cell(p, &(struct rh_cell){.object = object, .end = INT64_MAX}));
    if (p->objects.data[object].outside)
        pt_open_field(p, object, &field);
    link_field(p, object, &field);
    p->fields_of.data[cell] = (uint32_t)p->objects.data[object].fields.len;
    rh_vec_push(&p->objects.data[object].fields, field);
    for (size_t i = 0; i < p->objects.data[object].watchers.len; i++) {
        struct watcher w = p->objects.data[object].watchers.data[i];
        copy_field(p, &w, &field);
    }
    return field;
}

bool rh_pointsto_fits(const struct rh_pointsto *p, uint32_t cell, uint32_t tag)
{
    enum { MOST_ELEMENTS = 64 };
    const struct rh_cell *c = &p->cells.data[cell];
    const struct object *o = &p->objects.data[c->object];
    uint64_t size = o->type && o->keeps_type ? o->type->alloc_size : 0;
    bool is_array = size && o->public.size > size && o->public.size % size == 0;
    if (!tag || !size || c->offset < 0)
        return true;
    bool by_element = c->stride && c->stride % size == 0;
    bool within = c->stride && !by_element && c->end <= (int64_t)size;
    if (c->stride && !by_element && !within)
        return true;
    /* Behind the first element there are more only if the block was made for them. */
    uint64_t offset = (uint64_t)c->offset;
    if (rh_ir_tag_fits(p->module, tag, o->type, by_element || is_array ? offset % size : offset))
        return true;
    /* A step back from any element leads out of the array from the first. */
    for (uint64_t i = 1; within && (int64_t)(offset + i * c->stride) < c->end; i++)
        if (i == MOST_ELEMENTS || rh_ir_tag_fits(p->module, tag, o->type, offset + i * c->stride))
            return true;
    return false;
}

/* The field of the cell; false if it can hold no pointer. */
static bool get_field(struct rh_pointsto *p, uint32_t cell, struct field *out)
{
    const struct rh_cell *c = &p->cells.data[cell];
    const struct object *o = &p->objects.data[c->object];
    if (o->no_contents || c->offset < 0 || (o->public.size && c->offset >= (int64_t)o->public.size))
        return false;
    const struct field *known = find_field(p, cell);
    if (!known && o->fields.len >= MOST_FIELDS && !is_whole(c))
        return get_field(p, whole_of(p, c->object), out);
    *out = known ? *known : add_field(p, cell);
    return true;
}

uint32_t pt_contents(struct rh_pointsto *p, uint32_t cell)
{
    struct field field;
    if (p->cells.data[cell].object == p->outside_object)
        return p->outside;
    return get_field(p, cell, &field) ? field.node : NO_NODE;
}

uint32_t pt_entry(struct rh_pointsto *p, uint32_t cell)
{
    struct field field;
    if (p->cells.data[cell].object == p->outside_object)
        return p->sink;
    return get_field(p, cell, &field) ? field.entry : NO_NODE;
}

enum { MOST_PARTS = 32 }; /* more than the largest vector has */

static uint32_t count_parts(const struct use *use)
{
    uint64_t parts = (use->bytes + RH_POINTER_BYTES - 1) / RH_POINTER_BYTES;
    return parts == 0 ? 1 : parts > MOST_PARTS ? MOST_PARTS : (uint32_t)parts;
}

/* The cell of part `i`; the outside has no parts. */
static uint32_t part_of(struct rh_pointsto *p, const struct use *use, uint32_t cell, uint32_t i)
{
    struct rh_cell c = p->cells.data[cell];
    int64_t distance = use->offset + (int64_t)i * RH_POINTER_BYTES;
    /* What is less than a pointer is meant as a part of the one that lies there. */
    if (use->bytes && use->bytes < RH_POINTER_BYTES && c.offset > 0 &&
        c.stride % RH_POINTER_BYTES == 0)
        distance -= (c.offset + distance) % RH_POINTER_BYTES;
    if (distance == 0 || c.object == p->outside_object)
        return cell;
    if (p->objects.data[c.object].collapsed)
        return whole_of(p, c.object);
    c.offset += distance;
    return pt_cell(p, &c);
}

void pt_read_parts(struct rh_pointsto *p, const struct use *use, uint32_t cell)
{
    if (!rh_pointsto_fits(p, cell, use->tag))
        return;
    for (uint32_t i = 0, count = count_parts(use); i < count; i++) {
        uint32_t node = pt_contents(p, part_of(p, use, cell, i));
        if (node != NO_NODE)
            pt_add_copy_edge(p, node, use->node);
    }
}

void pt_write_parts(struct rh_pointsto *p, const struct use *use, uint32_t cell)
{
    if (!rh_pointsto_fits(p, cell, use->tag))
        return;
    for (uint32_t i = 0, count = count_parts(use); i < count; i++) {
        uint32_t node = pt_entry(p, part_of(p, use, cell, i));
        if (node != NO_NODE)
            pt_add_copy_edge(p, use->node, node);
    }
}

/* The cell of all that may lie behind this one. */
static uint32_t stretch(struct rh_pointsto *p, uint32_t cell)
{
    struct rh_cell c = p->cells.data[cell];
    int64_t begin;
    if (c.object == p->outside_object)
        return cell;
    if (!c.stride)
        pt_reach(&p->objects.data[c.object], c.offset, &begin, &c.end);
    c.stride = 1;
    return pt_settle(p, pt_cell(p, &c));
}

void pt_read_all(struct rh_pointsto *p, uint32_t node, uint32_t cell)
{
    uint32_t contents = pt_contents(p, stretch(p, cell));
    if (contents != NO_NODE)
        pt_add_copy_edge(p, contents, node);
}

void pt_write_all(struct rh_pointsto *p, uint32_t node, uint32_t cell)
{
    uint32_t entry = pt_entry(p, stretch(p, cell));
    if (entry != NO_NODE)
        pt_add_copy_edge(p, node, entry);
}

/* --- copies of memory --- */

uint32_t pt_add_copy(struct rh_pointsto *p, uint64_t bytes)
{
    uint32_t middle = pt_add_object(p, RH_OBJECT_HEAP, NULL, RH_NO_INSTANCE, 0);
    rh_vec_push(&p->copies, (struct copy){.middle = middle, .bytes = bytes});
    return (uint32_t)p->copies.len - 1;
}

/* Where a field of the source lies in what is copied: by distance from its begin, or anywhere. */
static bool place_in_copy(const struct rh_pointsto *p, const struct copy *copy,
                          const struct rh_cell *from, const struct rh_cell *field,
                          struct rh_cell *out)
{
    int64_t bytes = copy->bytes < INT64_MAX ? (int64_t)copy->bytes : INT64_MAX;
    *out = (struct rh_cell){.object = copy->middle, .end = INT64_MAX};
    if (!from->stride) {
        int64_t begin, end;
        pt_reach(&p->objects.data[from->object], from->offset, &begin, &end);
        bytes = end - from->offset < bytes ? end - from->offset : bytes;
    }
    if (!from->stride && !field->stride) {
        out->offset = field->offset - from->offset;
        return out->offset >= 0 && out->offset < bytes;
    }
    if (!rh_cells_overlap(from, copy->bytes < INT32_MAX ? copy->bytes : 0, field, RH_POINTER_BYTES))
        return false;
    bool is_element = from->stride && !from->span && copy->bytes <= from->stride;
    if (is_element && !field->stride) {
        out->offset = ((field->offset - from->offset) % from->stride + from->stride) % from->stride;
        return out->offset < bytes;
    }
    if (!from->stride && field->offset >= from->offset) {
        out->offset = field->offset - from->offset;
        out->stride = rh_cell_stride(field);
        out->end = field->end == INT64_MAX ? INT64_MAX : field->end - from->offset;
        return out->offset < bytes;
    }
    if (is_element && from->stride == field->stride) {
        int64_t stride = from->stride, apart = (field->offset - from->offset) % stride;
        out->offset = (apart + stride) % stride;
        if (!field->span)
            return out->offset < bytes;
        if (out->offset + field->span + RH_POINTER_BYTES <= stride) {
            out->stride = field->step;
            out->end = out->offset + field->span + field->step;
            return out->offset < bytes;
        }
        out->offset = 0; /* begun by one element, ended by the next */
    }
    out->stride = RH_POINTER_BYTES;
    return true;
}

/* A field of the middle goes to every destination. */
static void put_field(struct rh_pointsto *p, uint32_t copy, const struct field *field, uint32_t to)
{
    struct rh_cell c = p->cells.data[to], f = p->cells.data[field->cell];
    struct shift by = {.offset = f.offset, .stride = f.stride};
    uint32_t cell;
    if (c.object == p->copies.data[copy].middle)
        return;
    if (f.stride) {
        uint64_t end = f.end == INT64_MAX ? p->copies.data[copy].bytes : (uint64_t)f.end;
        by.start = f.offset;
        by.extent = end - (uint64_t)f.offset;
    }
    if (!c.stride) {
        int64_t begin, end;
        pt_reach(&p->objects.data[c.object], c.offset, &begin, &end);
        if (f.offset >= end - c.offset)
            return;
    }
    if (!pt_shift(p, to, &by, &cell))
        return;
    uint32_t node = pt_entry(p, cell);
    if (node != NO_NODE)
        pt_add_copy_edge(p, field->node, node);
}

static void put_field_everywhere(struct rh_pointsto *p, uint32_t copy, const struct field *field)
{
    struct rh_idset to = RH_IDSET_INIT; /* may grow meanwhile; what is added gets all fields */
    uint32_t cell;
    rh_idset_copy(&to, &p->copies.data[copy].to);
    for (uint64_t at = 0; rh_idset_next(&to, &at, &cell);)
        put_field(p, copy, field, cell);
    rh_idset_release(&to);
}

/* Lets the node flow into a cell of the middle. */
static void fill_middle(struct rh_pointsto *p, uint32_t copy, const struct rh_cell *place,
                        uint32_t node)
{
    uint32_t cell = pt_cell(p, place);
    bool known = find_field(p, cell) != NULL;
    struct field middle;
    if (!get_field(p, cell, &middle))
        return;
    pt_add_copy_edge(p, node, middle.entry);
    if (!known)
        put_field_everywhere(p, copy, &middle);
}

static void copy_field(struct rh_pointsto *p, const struct watcher *w, const struct field *field)
{
    struct rh_cell from = p->cells.data[w->cell], part = p->cells.data[field->cell], place;
    if (place_in_copy(p, &p->copies.data[w->copy], &from, &part, &place))
        fill_middle(p, w->copy, &place, field->node);
}

void pt_copy_from(struct rh_pointsto *p, uint32_t copy, uint32_t cell)
{
    uint32_t object = p->cells.data[cell].object;
    if (object == p->outside_object) {
        struct rh_cell all = {.object = p->copies.data[copy].middle, .stride = 1, .end = INT64_MAX};
        fill_middle(p, copy, &all, p->outside);
        return;
    }
    if (p->objects.data[object].no_contents)
        return;
    struct watcher w = {copy, cell};
    if (!rh_idset_add(&p->copies.data[copy].from, cell))
        return;
    rh_vec_push(&p->objects.data[object].watchers, w);
    for (size_t i = 0; i < p->objects.data[object].fields.len; i++) {
        struct field field = p->objects.data[object].fields.data[i];
        copy_field(p, &w, &field);
    }
}

void pt_copy_to(struct rh_pointsto *p, uint32_t copy, uint32_t cell)
{
    uint32_t middle = p->copies.data[copy].middle;
    if (!rh_idset_add(&p->copies.data[copy].to, cell))
        return;
    for (size_t i = 0; i < p->objects.data[middle].fields.len; i++) {
        struct field field = p->objects.data[middle].fields.data[i];
        put_field(p, copy, &field, cell);
    }
}
