/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether two accesses that touch the same memory surely hold the same lock; and the names of locks
 * for people.
 *
 * Two ways lead to yes. Both hold a lock whose name means the same everywhere. Or the lock of each
 * is reached from where its access goes: then each side is turned into *placements*: where in which
 * object the access is, and where the lock is if it is there. If for each pair of placements in one
 * object, touching the same bytes means the same lock, the answer is yes.
 */
#include "analysis/flow/internal.h"

#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "ir/names/expr.h"

/* Where the pointer that an access starts from may point to. */
struct spot {
    uint32_t object;
    uint32_t stride; /* 0: one place */
    int64_t offset;
};

/* What is asked about an access, whatever lock it is about. Remembered: each access is compared
 * with many others. */
struct side {
    struct flow_name name;
    bool placeable; /* all spots are in memory that a lock may be found from */
    bool strided;   /* some spot is */
    uint32_t count;
    struct spot *spots; /* of the pointer without offset and indices, by object */
};

/* How the lock hangs on the access: the same root, or a pointer found from it. */
struct relation {
    struct flow_name lock; /* where the lock, or the pointer to it, is */
    bool through;
    int64_t behind;
    bool same_root;
};

/*
 * The access is at offset + n * stride in a block of the object, for some n; the lock at
 * lock_offset + n * lock_stride from the same block, or from `base` if that is no FLOW_NONE. With
 * `through`, that is where a stable pointer to the lock is, which is `behind` bytes further on.
 */
struct placement {
    int64_t offset;
    int64_t stride; /* 0: there is no n */
    bool exact;     /* it is nowhere else: no other index is added */
    uint32_t base;  /* node */
    int64_t lock_offset, lock_stride;
    bool through;
    int64_t behind;
};

/* --- sides --- */

/* The object behind a root that is a global or a known block. */
static bool find_root_object(const struct rh_flow *f, uint32_t instance,
                             const struct rh_value *pointer, uint32_t node, uint32_t *object)
{
    const struct flow_node *root = &f->nodes.data[node];
    const struct rh_idset *cells = rh_pointsto_of(f->pointsto, instance, pointer);
    uint32_t cell;
    for (uint64_t at = 0; root->kind == NODE_GLOBAL && rh_idset_next(cells, &at, &cell);) {
        *object = rh_pointsto_cell(f->pointsto, cell)->object;
        if (rh_pointsto_object(f->pointsto, *object)->value == root->value)
            return true;
    }
    return false;
}

static bool is_placeable(const struct rh_flow *f, uint32_t object)
{
    enum rh_object_kind kind = rh_pointsto_object(f->pointsto, object)->kind;
    return kind == RH_OBJECT_GLOBAL || kind == RH_OBJECT_STACK || kind == RH_OBJECT_HEAP ||
           kind == RH_OBJECT_THREAD_LOCAL;
}

static int compare_spots(const void *a, const void *b)
{
    const struct spot *x = a, *y = b;
    return (x->object > y->object) - (x->object < y->object);
}

static void find_spots(struct rh_flow *f, const struct rh_idset *cells, struct side *s)
{
    uint32_t id;
    s->placeable = true;
    s->spots = rh_arena_array(&f->arena, struct spot, (uint32_t)rh_idset_count(cells));
    for (uint64_t at = 0; rh_idset_next(cells, &at, &id) && s->placeable;) {
        const struct rh_cell *cell = rh_pointsto_cell(f->pointsto, id);
        uint32_t stride = rh_cell_stride(cell);
        s->placeable = is_placeable(f, cell->object);
        s->strided |= stride != 0;
        s->spots[s->count++] = (struct spot){cell->object, stride, cell->offset};
    }
    s->placeable &= s->count > 0;
    qsort(s->spots, s->count, sizeof *s->spots, compare_spots);
}

static const struct side *side_of(struct rh_flow *f, const struct rh_guarded *g)
{
    const struct rh_value *pointer = g->access->pointer;
    uint64_t key = flow_pair(g->instance, pointer->id);
    struct side *s = rh_map_get_ptr(&f->sides, key);
    uint32_t object;
    if (s)
        return s;
    s = rh_arena_new(&f->arena, struct side);
    uint32_t name = flow_name_of(f, g->instance, pointer); /* may move f->names */
    s->name = f->names.data[name];
    if (find_root_object(f, g->instance, pointer, s->name.node, &object)) {
        s->placeable = true;
        s->count = 1;
        s->spots = rh_arena_new(&f->arena, struct spot);
        s->spots->object = object;
    } else {
        const struct rh_value *root = flow_root_value(f, g->instance, pointer);
        find_spots(f, rh_pointsto_of(f->pointsto, g->instance, root), s);
    }
    rh_map_put_ptr(&f->sides, key, s);
    return s;
}

static uint64_t size_of(const struct rh_guarded *g)
{
    return g->access->flags & RH_SITE_AT_LEAST ? 0 : g->access->size;
}

/* --- placements --- */

/* False if nothing is known of where the lock is. */
static bool relate(const struct rh_flow *f, const struct side *s, uint32_t lock,
                   struct relation *out)
{
    const struct flow_name *name = &f->names.data[lock];
    const struct flow_node *root = &f->nodes.data[name->node];
    *out = (struct relation){.lock = *name};
    if (name->node == s->name.node) {
        out->same_root = true;
    } else if (root->kind == NODE_LOAD && name->term_count == 0 &&
               f->names.data[root->a].node == s->name.node) {
        out->lock = f->names.data[root->a];
        out->through = out->same_root = true;
        out->behind = name->offset;
    }
    return out->same_root || f->nodes.data[out->lock.node].absolute;
}

/* Is there a placement for every spot? */
static bool is_placed(const struct side *s, const struct relation *r)
{
    uint32_t terms = s->name.term_count;
    if (!s->placeable)
        return false;
    if (r->lock.term_count == 0) {
        /* The lock is fixed in the block; or in the element, if the access stays in it; or it is
         * some lock elsewhere, and the access always at this one place. */
        return r->same_root ? !s->strided || terms == 0 : !s->strided && terms == 0;
    }
    /* The lock goes by the index that the access goes by. */
    return !s->strided && terms == 1 && r->lock.term_count == 1 &&
           r->lock.terms[0].node == s->name.terms[0].node && s->name.terms[0].scale > 0 &&
           s->name.terms[0].scale <= INT32_MAX;
}

static struct placement place(const struct side *s, const struct relation *r,
                              const struct spot *spot)
{
    bool by_index = r->lock.term_count > 0;
    int64_t lock_stride = r->same_root ? spot->stride : 0;
    return (struct placement){
        .offset = spot->offset + s->name.offset,
        .stride = by_index ? s->name.terms[0].scale : spot->stride,
        .exact = by_index || s->name.term_count == 0,
        .base = r->same_root ? FLOW_NONE : r->lock.node,
        .lock_offset = r->lock.offset + (r->same_root ? spot->offset : 0),
        .lock_stride = by_index ? r->lock.terms[0].scale : lock_stride,
        .through = r->through,
        .behind = r->behind,
    };
}

/* --- comparing --- */

static bool may_touch(const struct placement *a, uint64_t a_size, const struct placement *b,
                      uint64_t b_size)
{
    struct rh_cell x = {.stride = (uint32_t)a->stride, .offset = a->offset, .end = INT64_MAX};
    struct rh_cell y = {.stride = (uint32_t)b->stride, .offset = b->offset, .end = INT64_MAX};
    return !a->exact || !b->exact || rh_cells_overlap(&x, a_size, &y, b_size);
}

/* Bytes of two elements never meet if both accesses lie in one frame as long as the stride. */
static bool fits_frame(const struct placement *a, uint64_t a_size, const struct placement *b,
                       uint64_t b_size)
{
    int64_t low = a->offset < b->offset ? a->offset : b->offset;
    uint64_t a_end = (uint64_t)(a->offset - low) + a_size;
    uint64_t b_end = (uint64_t)(b->offset - low) + b_size;
    return a_size && b_size && a_size <= (uint64_t)a->stride && b_size <= (uint64_t)a->stride &&
           a_end <= (uint64_t)a->stride && b_end <= (uint64_t)a->stride;
}

/* One access is at a fixed place, the other goes by an index: where they meet, the index is known,
 * and with it the lock. */
static bool is_lock_of_element(const struct placement *fixed, const struct placement *indexed)
{
    int64_t apart = fixed->offset - indexed->offset;
    return apart % indexed->stride == 0 &&
           fixed->lock_offset ==
               indexed->lock_offset + apart / indexed->stride * indexed->lock_stride;
}

static bool have_same_lock(const struct placement *a, uint64_t a_size, const struct placement *b,
                           uint64_t b_size)
{
    if (a->base != b->base || a->through != b->through || a->behind != b->behind)
        return false;
    if (a->stride == 0 && b->stride > 0 && b->lock_stride)
        return b_size && b_size <= (uint64_t)b->stride && is_lock_of_element(a, b);
    if (b->stride == 0 && a->stride > 0 && a->lock_stride)
        return a_size && a_size <= (uint64_t)a->stride && is_lock_of_element(b, a);
    if (a->lock_offset != b->lock_offset)
        return false;
    if (a->lock_stride == 0 && b->lock_stride == 0)
        return true;
    return a->lock_stride == b->lock_stride && a->stride == b->stride &&
           fits_frame(a, a_size, b, b_size);
}

/* Where both sides may touch the same bytes of one object, do they have the same lock? */
static bool agree(const struct side *a, const struct relation *ra, uint64_t a_size,
                  const struct side *b, const struct relation *rb, uint64_t b_size)
{
    for (uint32_t i = 0, first = 0; i < a->count; i++) {
        struct placement x = place(a, ra, &a->spots[i]);
        while (first < b->count && b->spots[first].object < a->spots[i].object)
            first++;
        for (uint32_t k = first; k < b->count && b->spots[k].object == a->spots[i].object; k++) {
            struct placement y = place(b, rb, &b->spots[k]);
            if (may_touch(&x, a_size, &y, b_size) && !have_same_lock(&x, a_size, &y, b_size))
                return false;
        }
    }
    return true;
}

/* Does any held lock come with both accesses? */
static bool hold_related(struct rh_flow *f, const struct rh_guarded *a, const struct rh_guarded *b,
                         const struct flow_lockset *x, const struct flow_lockset *y)
{
    const struct side *sa = side_of(f, a), *sb = side_of(f, b);
    struct relation ra, rb;
    for (uint32_t i = 0; i < x->count; i++) {
        const struct flow_held *one = &x->held[i];
        if (one->pending || !relate(f, sa, one->name, &ra) || !is_placed(sa, &ra))
            continue;
        for (uint32_t k = 0; k < y->count; k++) {
            const struct flow_held *other = &y->held[k];
            if (!other->pending && (one->mode == RH_LOCK_WRITE || other->mode == RH_LOCK_WRITE) &&
                relate(f, sb, other->name, &rb) && is_placed(sb, &rb) &&
                agree(sa, &ra, size_of(a), sb, &rb, size_of(b)))
                return true;
        }
    }
    return false;
}

static bool hold_absolute(const struct rh_flow *f, const struct flow_lockset *x,
                          const struct flow_lockset *y)
{
    for (uint32_t i = 0; i < x->count; i++)
        for (uint32_t k = 0; k < y->count; k++)
            if (x->held[i].name == y->held[k].name && !x->held[i].pending && !y->held[k].pending &&
                f->names.data[x->held[i].name].absolute &&
                (x->held[i].mode == RH_LOCK_WRITE || y->held[k].mode == RH_LOCK_WRITE))
                return true;
    return false;
}

bool rh_flow_guards(const struct rh_flow *f, const struct rh_guarded *a, const struct rh_guarded *b)
{
    /* Names are found, and remembered, as they are asked for. */
    struct rh_flow *own = (struct rh_flow *)(uintptr_t)f;
    const struct flow_lockset *x = flow_lockset(f, a->occurrence->locks);
    const struct flow_lockset *y = flow_lockset(f, b->occurrence->locks);
    if (!x->count || !y->count)
        return false;
    if (hold_absolute(f, x, y))
        return true;
    return a->access && b->access && a->access->pointer && b->access->pointer &&
           hold_related(own, a, b, x, y);
}

/* --- for people --- */

/* How large a lock is, so that it is named and not what it begins with or what begins with it: part
 * of the name of the function that takes it, and bytes on 64-bit Linux. */
static const struct lock_size {
    const char *part;
    uint64_t bytes;
} lock_sizes[] = {{"rwlock", 56}, {"spin", 4}, {"", 40}};

static bool describe_place(struct rh_flow *f, const struct flow_name *name, struct rh_strbuf *out)
{
    const struct rh_value *callee = name->call->callee;
    const char *taker = callee->kind == RH_VALUE_FUNCTION ? callee->fn->name : "";
    const struct lock_size *row = lock_sizes;
    while (!strstr(taker, row->part))
        row++;
    if (!f->expr)
        f->expr = rh_expr_index(f->module);
    return rh_expr_describe(f->expr, name->call, name->pointer, 0, row->bytes, out) ||
           rh_expr_describe(f->expr, name->call, name->pointer, 0, 0, out);
}

static void describe(struct rh_flow *f, const struct flow_name *name, struct rh_strbuf *out)
{
    struct rh_strbuf place = RH_STRBUF_INIT;
    const struct rh_loc *loc = name->call ? name->call->loc : NULL;
    if (name->call && describe_place(f, name, &place))
        rh_strbuf_addf(out, "&%s", rh_strbuf_text(&place));
    else if (loc && loc->line)
        rh_strbuf_addf(out, "lock at %s:%u", loc->file, loc->line);
    else
        rh_strbuf_add(out, "lock");
    rh_strbuf_release(&place);
}

void rh_flow_describe_locks(const struct rh_flow *f, uint32_t set, struct rh_strbuf *out)
{
    struct rh_flow *own = (struct rh_flow *)(uintptr_t)f;
    const struct flow_lockset *s = flow_lockset(f, set);
    bool any = false;
    for (uint32_t i = 0; i < s->count; i++) {
        if (s->held[i].pending || s->held[i].group != i)
            continue;
        if (any)
            rh_strbuf_add(out, ", ");
        any = true;
        describe(own, &f->names.data[s->held[i].name], out);
        if (s->held[i].mode == RH_LOCK_READ)
            rh_strbuf_add(out, " for reading");
    }
}
