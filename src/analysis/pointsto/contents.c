/* SPDX-License-Identifier: Apache-2.0 */
/* What the cells of the points-to analysis hold: the fields of objects, read and written. */
#include "analysis/pointsto/internal.h"

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

const struct field *pt_known_field(const struct rh_pointsto *p, uint32_t cell)
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
        pt_copy_field(p, &w, &field);
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

bool pt_field(struct rh_pointsto *p, uint32_t cell, struct field *out)
{
    const struct rh_cell *c = &p->cells.data[cell];
    const struct object *o = &p->objects.data[c->object];
    if (o->no_contents || c->offset < 0 || (o->public.size && c->offset >= (int64_t)o->public.size))
        return false;
    const struct field *known = pt_known_field(p, cell);
    if (!known && o->fields.len >= MOST_FIELDS && !is_whole(c))
        return pt_field(p, pt_whole(p, c->object), out);
    *out = known ? *known : add_field(p, cell);
    return true;
}

uint32_t pt_contents(struct rh_pointsto *p, uint32_t cell)
{
    struct field field;
    if (p->cells.data[cell].object == p->outside_object)
        return p->outside;
    return pt_field(p, cell, &field) ? field.node : NO_NODE;
}

uint32_t pt_entry(struct rh_pointsto *p, uint32_t cell)
{
    struct field field;
    if (p->cells.data[cell].object == p->outside_object)
        return p->sink;
    return pt_field(p, cell, &field) ? field.entry : NO_NODE;
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
        return pt_whole(p, c.object);
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
