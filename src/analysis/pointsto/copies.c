/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies of memory of the points-to analysis: memcpy and its like, and structs as values.
 *
 * What is copied goes through an object of its own, the *middle*, that has a field for every field
 * of every source; each field of the middle goes to every destination.
 */
#include "analysis/pointsto/internal.h"

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
    bool known = pt_known_field(p, cell) != NULL;
    struct field middle;
    if (!pt_field(p, cell, &middle))
        return;
    pt_add_copy_edge(p, node, middle.entry);
    if (!known)
        put_field_everywhere(p, copy, &middle);
}

void pt_copy_field(struct rh_pointsto *p, const struct watcher *w, const struct field *field)
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
        pt_copy_field(p, &w, &field);
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
