/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which structs may lie in which others, for pointers that are taken by their declarations.
 *
 * Structs of one name and size are one. Programs repeat a header instead of nesting it, and keep
 * any struct in one that is large enough (struct sockaddr_storage), so structs that begin alike for
 * more than a few members, or as far as one has more than bytes, are taken for each other.
 */
#include <string.h>

#include "analysis/pointsto/internal.h"

bool pt_hides_members(const struct rh_type *t)
{
    if (t->kind != RH_TYPE_STRUCT)
        return t->kind == RH_TYPE_OTHER;
    return !t->name || strncmp(t->name, "union.", 6) == 0 || !t->count || !t->offsets;
}

static bool is_bytes(const struct rh_type *t)
{
    return t->kind == RH_TYPE_ARRAY && t->count > 1 && t->elems[0]->alloc_size == 1;
}

/* --- what begins alike --- */

struct leaf {
    uint64_t offset, size;
    enum rh_type_kind kind; /* OTHER: anything may lie there */
};
struct leaves RH_VEC_BODY(struct leaf);
enum { MOST_LEAVES = 64 };

static void add_leaves(const struct rh_type *t, uint64_t base, struct leaves *out)
{
    if (out->len >= MOST_LEAVES)
        return;
    if (pt_hides_members(t) || is_bytes(t)) {
        rh_vec_push(out, (struct leaf){base, t->alloc_size, RH_TYPE_OTHER});
    } else if (t->kind == RH_TYPE_STRUCT) {
        for (uint64_t i = 0; i < t->count; i++)
            add_leaves(t->elems[i], base + t->offsets[i], out);
    } else if (t->kind == RH_TYPE_ARRAY) {
        for (uint64_t i = 0; i < t->count && out->len < MOST_LEAVES; i++)
            add_leaves(t->elems[0], base + i * t->elems[0]->alloc_size, out);
    } else {
        rh_vec_push(out, (struct leaf){base, t->alloc_size, t->kind});
    }
}

/* Is the leaf nothing but bytes, up to where either struct ends? */
static bool is_rest(const struct leaf *l, const struct rh_type *own, const struct rh_type *other)
{
    uint64_t end = l->offset + l->size;
    return l->kind == RH_TYPE_OTHER && (end >= other->alloc_size || end >= own->alloc_size);
}

static bool begin_alike(const struct rh_type *a, const struct rh_type *b)
{
    enum { NO_ACCIDENT = 6, LEAST = 2 };
    struct leaves x = RH_VEC_INIT, y = RH_VEC_INIT;
    add_leaves(a, 0, &x);
    add_leaves(b, 0, &y);
    size_t shorter = x.len < y.len ? x.len : y.len, same = 0;
    bool rest = false;
    for (; same < shorter && !rest; same++) {
        const struct leaf *l = &x.data[same], *m = &y.data[same];
        rest = same && (is_rest(l, a, b) || is_rest(m, b, a));
        if (!rest && (l->offset != m->offset || l->size != m->size || l->kind != m->kind))
            break;
    }
    rh_vec_free(&x);
    rh_vec_free(&y);
    return rest || same >= NO_ACCIDENT || (same >= LEAST && same == shorter);
}

/* --- names --- */

/* The name without "struct." before it and LLVM's number behind it. */
static const char *plain_name(const struct rh_type *t, size_t *len)
{
    const char *dot = strchr(t->name, '.'), *name = dot ? dot + 1 : t->name;
    size_t all = strlen(name), end = all;
    while (end && name[end - 1] >= '0' && name[end - 1] <= '9')
        end--;
    *len = end && end < all && name[end - 1] == '.' ? end - 1 : all;
    return name;
}

bool pt_is_same(const struct rh_type *a, const struct rh_type *b)
{
    size_t x, y;
    if (a == b)
        return true;
    if (!a->name || !b->name || a->alloc_size != b->alloc_size)
        return false;
    const char *n = plain_name(a, &x), *m = plain_name(b, &y);
    return x && x == y && memcmp(n, m, x) == 0;
}

static bool is_taken_for(struct rh_pointsto *p, const struct rh_type *a, const struct rh_type *b)
{
    uint64_t known, key = (uint64_t)a->id << 32 | b->id;
    if (pt_is_same(a, b))
        return true;
    if (!rh_map_get(&p->alike, key, &known)) {
        known = begin_alike(a, b);
        rh_map_put(&p->alike, key, known);
    }
    return known != 0;
}

/* --- places --- */

bool pt_holds(struct rh_pointsto *p, const struct rh_type *in, uint64_t offset,
              const struct rh_type *t)
{
    for (;;) {
        if (pt_hides_members(in) || is_bytes(in) || offset >= in->alloc_size)
            return true;
        if (in->kind == RH_TYPE_ARRAY && in->elems[0]->alloc_size) {
            offset %= in->elems[0]->alloc_size;
            in = in->elems[0];
            continue;
        }
        if (in->kind != RH_TYPE_STRUCT)
            return in->kind == RH_TYPE_ARRAY;
        if (!offset && is_taken_for(p, in, t))
            return true;
        uint64_t i = in->count;
        while (i && in->offsets[i - 1] > offset)
            i--;
        if (!i || offset >= in->offsets[i - 1] + in->elems[i - 1]->alloc_size)
            return true; /* padding and bit-fields say nothing */
        offset -= in->offsets[i - 1];
        in = in->elems[i - 1];
    }
}

/* In an array of several elements; an array in such an array has no cell of its own. */
static bool enter_array(const struct rh_type *array, struct rh_cell *at)
{
    if (array->count <= 1)
        return true;
    if (at->stride)
        return false;
    at->stride = (uint32_t)array->elems[0]->alloc_size;
    at->end = at->offset + (int64_t)array->alloc_size;
    return true;
}

bool pt_find_places(struct rh_pointsto *p, const struct rh_type *in, struct rh_cell at,
                    const struct rh_type *t, struct rh_idset *out)
{
    if (pt_hides_members(in) || is_bytes(in))
        return in->alloc_size < t->alloc_size;
    if (in->kind == RH_TYPE_ARRAY) {
        if (in->elems[0]->kind != RH_TYPE_STRUCT && in->elems[0]->kind != RH_TYPE_ARRAY)
            return true;
        return in->elems[0]->alloc_size && enter_array(in, &at) &&
               pt_find_places(p, in->elems[0], at, t, out);
    }
    if (in->kind != RH_TYPE_STRUCT)
        return true;
    if (is_taken_for(p, in, t))
        rh_idset_add(out, pt_cell(p, &at));
    for (uint64_t i = 0; i < in->count; i++) {
        struct rh_cell inner = at;
        inner.offset += (int64_t)in->offsets[i];
        if (!pt_find_places(p, in->elems[i], inner, t, out))
            return false;
    }
    return true;
}

bool pt_nests(const struct rh_type *in, int64_t at, uint32_t step, const struct rh_type *t,
              pt_meets_at *meets, void *arg)
{
    if (in->kind == RH_TYPE_ARRAY) {
        uint32_t size = (uint32_t)in->elems[0]->alloc_size;
        return size && pt_nests(in->elems[0], at,
                                (uint32_t)(in->count > 1 || !in->count ? pt_gcd(step, size) : step),
                                t, meets, arg);
    }
    if (in->kind != RH_TYPE_STRUCT)
        return false;
    if (pt_hides_members(in))
        return in->alloc_size >= t->alloc_size && meets(arg, at, 1, at + (int64_t)in->alloc_size);
    if (pt_is_same(in, t))
        return meets(arg, at, step, INT64_MAX);
    for (uint64_t i = 0; i < in->count; i++)
        if (pt_nests(in->elems[i], at + (int64_t)in->offsets[i], step, t, meets, arg))
            return true;
    return false;
}
