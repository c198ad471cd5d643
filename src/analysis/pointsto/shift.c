/* SPDX-License-Identifier: Apache-2.0 */
/* Moves pointers: to which cell a cell leads at a distance, within the arrays of its object. */
#include <string.h>

#include "analysis/pointsto/internal.h"

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

/* Is it an array of several elements of so many bytes, or of arrays of such? */
static bool is_array_of(const struct rh_type *t, uint64_t bytes)
{
    if (t->kind != RH_TYPE_ARRAY || t->alloc_size <= bytes)
        return false;
    return t->elems[0]->alloc_size == bytes || is_array_of(t->elems[0], bytes);
}

/* The largest array of structs (or arrays) of so many bytes that a pointer to `offset` can be to an
 * element of. LLVM 22 does not say any more which array is indexed: sheet->rows[i] is
 * ((struct row *)sheet)[i]. */
static bool find_elements(const struct object *o, int64_t offset, uint64_t bytes, int64_t *begin,
                          int64_t *end)
{
    const struct rh_type *t = o->keeps_type ? o->type : NULL;
    if (!t || offset < 0 || t->alloc_size <= bytes)
        return false;
    int64_t within = offset % (int64_t)t->alloc_size;
    while (!is_array_of(t, bytes) || within % (int64_t)bytes != 0) {
        uint64_t i = 0;
        if (t->kind == RH_TYPE_ARRAY && t->elems[0]->alloc_size) {
            within %= (int64_t)t->elems[0]->alloc_size;
        } else if (t->kind == RH_TYPE_STRUCT && t->offsets && t->count && !hides_members(t) &&
                   (int64_t)t->offsets[0] <= within) { /* bit-fields are no members here */
            for (i = t->count - 1; (int64_t)t->offsets[i] > within;)
                i--;
            within -= (int64_t)t->offsets[i];
        } else {
            return false;
        }
        t = t->elems[i];
        if (within >= (int64_t)t->alloc_size)
            return false;
    }
    *begin = offset - within;
    *end = *begin + (int64_t)t->alloc_size;
    return true;
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
    } else if (by->by_elements && find_elements(o, c->offset, by->stride, begin, end)) {
        return;
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
    c->stride = stride && stride <= UINT32_MAX ? (uint32_t)stride : 1;
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
    bool has_inside = o->public.kind != RH_OBJECT_OUTSIDE && o->public.kind != RH_OBJECT_FUNCTION;
    if (!has_inside || p->options.is_coarse) {
        *out = cell;
        return true;
    }
    if (o->collapsed) {
        *out = pt_whole(p, c.object);
        return true;
    }
    if (by->stride) {
        if (!c.stride || !shift_inner(o, &c, by))
            shift_outer(o, &c, by);
    } else if (c.stride >= RH_POINTER_BYTES && by->loose) {
        shift_loosely(&c, by->offset);
    } else if (c.stride == 0 || c.stride >= RH_POINTER_BYTES) {
        /* Addresses wrap, as they do in the machine. */
        c.offset = (int64_t)((uint64_t)c.offset + (uint64_t)by->offset);
    } else if (o->is_view && by->offset > 0 && pt_is_open(o->type)) {
        c.offset += by->offset;  /* a header, so many bytes, and those behind its end */
    } else if (by->offset < 0) { /* from a byte of the array back to what holds the array */
        c.offset = 0;
        c.end = INT64_MAX;
    }
    if (!normalise(&o->public, &c))
        return false;
    if (o->is_view)
        pt_settle_in_view(o, &c);
    *out = pt_cell(p, &c);
    o = &p->objects.data[c.object];
    if (pt_is_crowded(p, o) && !(p->options.guide && o->type))
        p->objects.data[c.object].collapsed = true;
    *out = pt_settle(p, *out);
    return true;
}
