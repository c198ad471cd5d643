/* SPDX-License-Identifier: Apache-2.0 */
/* Compares classes of accesses, object by object, and says what became of each pair: see pairs.h.
 */
#include <stdlib.h>

#include "analysis/pairs/internal.h"
#include "base/mem.h"

/* --- the fate of two facts --- */

/* Whether two ways lists meet in time: not at all, only while both hold locks, or without. */
static enum meeting meet(struct rh_pairs_work *w, uint32_t a, uint32_t b)
{
    uint8_t **row = &w->meetings[a < b ? b : a];
    if (!*row)
        *row = rh_calloc((a < b ? b : a) + (size_t)1, sizeof **row);
    uint8_t *known = &(*row)[a < b ? a : b];
    if (*known)
        return (enum meeting)(*known - 1);
    enum meeting worst = MEET_NEVER;
    const struct ways *x = &w->ways.data[a], *y = &w->ways.data[b];
    for (uint32_t i = 0; i < x->count && worst != MEET_UNLOCKED; i++) {
        for (uint32_t j = 0; j < y->count && worst != MEET_UNLOCKED; j++) {
            uint32_t n, m;
            if (!rh_flow_parallel(w->flow, &x->list[i], &y->list[j]))
                continue;
            rh_flow_locks(w->flow, x->list[i].locks, &n);
            rh_flow_locks(w->flow, y->list[j].locks, &m);
            worst = n && m ? MEET_LOCKED : MEET_UNLOCKED;
        }
    }
    *known = (uint8_t)(worst + 1);
    return worst;
}

/* The end of those from `from` on that hold the same locks: such stand together. */
static uint32_t end_of_run(const struct ways *x, uint32_t from)
{
    uint32_t end = from + 1;
    while (end < x->count && x->list[end].locks == x->list[from].locks)
        end++;
    return end;
}

static bool any_parallel(const struct rh_pairs_work *w, const struct ways *x, uint32_t i,
                         const struct ways *y, uint32_t j)
{
    for (uint32_t a = i, i_end = end_of_run(x, i); a < i_end; a++)
        for (uint32_t b = j, j_end = end_of_run(y, j); b < j_end; b++)
            if (rh_flow_parallel(w->flow, &x->list[a], &y->list[b]))
                return true;
    return false;
}

static bool is_guarded(const struct rh_pairs_work *w, const struct rh_access *a,
                       const struct fact *f, const struct rh_access *b, const struct fact *g)
{
    const struct ways *x = &w->ways.data[f->ways], *y = &w->ways.data[g->ways];
    for (uint32_t i = 0; i < x->count; i = end_of_run(x, i)) {
        for (uint32_t j = 0; j < y->count; j = end_of_run(y, j)) {
            struct rh_guarded p = {f->instance, f->vague ? NULL : a, &x->list[i]};
            struct rh_guarded q = {g->instance, g->vague ? NULL : b, &y->list[j]};
            if (any_parallel(w, x, i, y, j) && !rh_flow_guards(w->flow, &p, &q))
                return false;
        }
    }
    return true;
}

/* Is the address of what they meet on given away without order? */
static bool is_racing(const struct rh_pairs_work *w, uint32_t object, const struct fact *f,
                      const struct fact *g)
{
    uint32_t other;
    if (!f->vague && !g->vague)
        return rh_bitset_test(&w->racing, object);
    const struct rh_idset *objects = &w->objects.data[f->vague ? g->objects : f->objects];
    for (uint64_t at = 0; rh_idset_next(objects, &at, &other);)
        if (rh_bitset_test(&w->racing, other))
            return true;
    return false;
}

static enum rh_pair_fate judge(struct rh_pairs_work *w, uint32_t object, uint32_t a,
                               const struct fact *f, uint32_t b, const struct fact *g)
{
    bool fresh = w->infos.data[a].fresh || w->infos.data[b].fresh;
    const struct rh_access *x = w->infos.data[a].access, *y = w->infos.data[b].access;
    if (rh_access_is_atomic(x) && rh_access_is_atomic(y))
        return RH_PAIR_ATOMIC;
    enum meeting meeting = meet(w, f->ways, g->ways);
    if (meeting == MEET_NEVER)
        return RH_PAIR_NOT_PARALLEL;
    if (w->infos.data[a].librarys && w->infos.data[b].librarys)
        return RH_PAIR_LIBRARYS;
    if (rh_pairs_apart(w, w->infos.data[a].seen, w->infos.data[b].seen))
        return RH_PAIR_DECLARED;
    if (!f->vague && !g->vague && rh_perthread_apart(w->perthread, f->instance, x, g->instance, y))
        return RH_PAIR_OWN;
    if (fresh && !is_racing(w, object, f, g))
        return RH_PAIR_UNPUBLISHED;
    if (meeting == MEET_UNLOCKED)
        return RH_PAIR_CANDIDATE;
    return is_guarded(w, x, f, y, g) ? RH_PAIR_GUARDED : RH_PAIR_CANDIDATE;
}

/* --- classes by the objects they touch --- */

/* Files the class under every object it touches, and under the outside if that knows the object. */
static void index_class(struct rh_pairs_work *w, uint32_t klass)
{
    const struct class_info *info = &w->infos.data[klass];
    bool writes = rh_access_writes(info->access);
    for (uint32_t i = 0; i < info->fact_count && !info->vague; i++) {
        const struct rh_idset *cells = &w->cells.data[info->facts[i].cells];
        uint32_t cell;
        for (uint64_t at = 0; rh_idset_next(cells, &at, &cell);) {
            struct touch touch = {.klass = klass, .fact = i, .cell = cell};
            uint32_t object = rh_pointsto_cell(w->pointsto, cell)->object;
            struct touched *t = &w->touched[object], *outside = &w->touched[w->outside];
            bool known = rh_pointsto_is_outside(w->pointsto, object);
            if (writes)
                rh_vec_push(&t->writes, touch);
            else
                rh_vec_push(&t->reads, touch);
            if (known && writes)
                rh_vec_push(&outside->known_writes, touch);
            else if (known)
                rh_vec_push(&outside->known_reads, touch);
        }
    }
}

static int compare_touches(const void *a, const void *b, void *work)
{
    const struct rh_pairs_work *w = work;
    const struct touch *x = a, *y = b;
    uint32_t x_tag = w->infos.data[x->klass].tag, y_tag = w->infos.data[y->klass].tag;
    if (x_tag != y_tag)
        return x_tag < y_tag ? -1 : 1;
    if (x->klass != y->klass)
        return x->klass < y->klass ? -1 : 1;
    if (x->fact != y->fact)
        return x->fact < y->fact ? -1 : 1;
    return (x->cell > y->cell) - (x->cell < y->cell);
}

static void sort_touches(struct rh_pairs_work *w, struct touches *t)
{
    if (t->len)
        qsort_r(t->data, t->len, sizeof *t->data, compare_touches, w);
    for (size_t i = t->len; i-- > 0;) {
        bool last = i + 1 == t->len ||
                    w->infos.data[t->data[i].klass].tag != w->infos.data[t->data[i + 1].klass].tag;
        t->data[i].next = last ? (uint32_t)i + 1 : t->data[i + 1].next;
    }
}

void rh_pairs_index(struct rh_pairs_work *w)
{
    uint32_t objects = rh_pointsto_object_count(w->pointsto);
    w->touched = rh_calloc(objects, sizeof *w->touched);
    for (uint32_t i = 0; i < w->out->classes.len; i++)
        index_class(w, i);
    for (uint32_t i = 0; i < objects; i++) {
        sort_touches(w, &w->touched[i].reads);
        sort_touches(w, &w->touched[i].writes);
        sort_touches(w, &w->touched[i].known_reads);
        sort_touches(w, &w->touched[i].known_writes);
    }
}

/* --- comparing --- */

static void settle(struct rh_pairs_work *w, uint32_t klass, uint32_t other, uint32_t object,
                   enum rh_pair_fate fate)
{
    struct partner *p = &w->partners[other];
    if (p->stamp != klass + 1) {
        *p = (struct partner){klass + 1, fate, object, 0};
        rh_vec_push(&w->met, other);
    } else if (fate > p->fate) {
        p->fate = fate;
        p->object = object;
    }
}

static bool tags_meet(const struct rh_pairs_work *w, const struct class_info *a,
                      const struct class_info *b)
{
    return rh_ir_tags_meet(w->accesses->module, a->tag, b->tag);
}

/* The bit of two facts among those that partners remember; 0 if there are too many. */
static uint64_t bit_of_facts(uint32_t fact, uint32_t other)
{
    enum { SIDE = 8 };
    return fact < SIDE && other < SIDE ? UINT64_C(1) << (fact * SIDE + other) : 0;
}

static void compare_with(struct rh_pairs_work *w, uint32_t klass, uint32_t fact, uint32_t cell,
                         const struct touch *touch)
{
    const struct class_info *a = &w->infos.data[klass], *b = &w->infos.data[touch->klass];
    struct partner *p = &w->partners[touch->klass];
    if ((a->fresh || b->fresh) != w->of_fresh)
        return;
    const struct rh_cell *x = rh_pointsto_cell(w->pointsto, cell);
    const struct rh_cell *y = rh_pointsto_cell(w->pointsto, touch->cell);
    /* All objects are alike but for fresh blocks, where it matters whether others know them. */
    bool unknown = w->of_fresh && !rh_bitset_test(&w->racing, x->object);
    uint64_t bit = unknown ? 0 : bit_of_facts(fact, touch->fact);
    if (p->stamp == klass + 1 && (p->fate == RH_PAIR_CANDIDATE || p->judged & bit ||
                                  (unknown && p->fate >= RH_PAIR_UNPUBLISHED)))
        return;
    bool anywhere = x->object == w->outside || y->object == w->outside;
    if (!anywhere &&
        !rh_cells_overlap(x, rh_pairs_bytes_of(a->access), y, rh_pairs_bytes_of(b->access)))
        return;
    settle(w, klass, touch->klass, x->object,
           judge(w, x->object, klass, &a->facts[fact], touch->klass, &b->facts[touch->fact]));
    p->judged |= bit;
}

/* An object that both sets have, plus 1; 0 if there is none. */
static uint32_t find_common(struct rh_pairs_work *w, uint32_t a, uint32_t b)
{
    uint32_t **row = &w->common[a < b ? b : a];
    if (!*row)
        *row = rh_calloc((a < b ? b : a) + (size_t)1, sizeof **row);
    uint32_t *known = &(*row)[a < b ? a : b];
    if (*known)
        return *known - 1;
    uint64_t at;
    const struct rh_idset *x = &w->objects.data[a], *y = &w->objects.data[b];
    bool x_outside = rh_idset_has(x, w->outside), y_outside = rh_idset_has(y, w->outside);
    uint32_t object, found = 0;
    for (at = 0; !found && rh_idset_next(x, &at, &object);)
        if (rh_idset_has(y, object) || (y_outside && rh_pointsto_is_outside(w->pointsto, object)))
            found = object + 1;
    for (at = 0; !found && x_outside && rh_idset_next(y, &at, &object);)
        if (rh_pointsto_is_outside(w->pointsto, object))
            found = object + 1;
    *known = found + 1;
    return found;
}

/* Compares two classes by their objects alone, one of them being vague. */
static void compare_vaguely(struct rh_pairs_work *w, uint32_t klass, uint32_t other)
{
    const struct class_info *a = &w->infos.data[klass], *b = &w->infos.data[other];
    if ((a->fresh || b->fresh) != w->of_fresh || (!a->writes && !b->writes) || !tags_meet(w, a, b))
        return;
    for (uint32_t i = 0; i < a->fact_count; i++) {
        for (uint32_t k = 0; k < b->fact_count; k++) {
            uint32_t object = find_common(w, a->facts[i].objects, b->facts[k].objects);
            if (object)
                settle(w, klass, other, object - 1,
                       judge(w, object - 1, klass, &a->facts[i], other, &b->facts[k]));
        }
    }
}

/* Compares with those before it in the list; the others find it. */
static void compare_with_all(struct rh_pairs_work *w, uint32_t klass, uint32_t fact, uint32_t cell,
                             const struct touches *list)
{
    for (size_t i = 0; i < list->len;) {
        const struct touch *touch = &list->data[i];
        size_t next = touch->next;
        if (tags_meet(w, &w->infos.data[klass], &w->infos.data[touch->klass]))
            for (; i < next && list->data[i].klass <= klass; i++)
                compare_with(w, klass, fact, cell, &list->data[i]);
        i = next;
    }
}

static void compare_exactly(struct rh_pairs_work *w, uint32_t klass)
{
    const struct class_info *info = &w->infos.data[klass];
    bool writes = rh_access_writes(info->access);
    for (uint32_t i = 0; i < info->fact_count; i++) {
        const struct rh_idset *cells = &w->cells.data[info->facts[i].cells];
        uint32_t cell;
        for (uint64_t at = 0; rh_idset_next(cells, &at, &cell);) {
            uint32_t object = rh_pointsto_cell(w->pointsto, cell)->object;
            struct touched *t = &w->touched[object], *outside = &w->touched[w->outside];
            bool known = rh_pointsto_is_outside(w->pointsto, object);
            compare_with_all(w, klass, i, cell, &t->writes);
            if (writes)
                compare_with_all(w, klass, i, cell, &t->reads);
            if (object == w->outside) {
                compare_with_all(w, klass, i, cell, &t->known_writes);
                if (writes)
                    compare_with_all(w, klass, i, cell, &t->known_reads);
            } else if (known) {
                compare_with_all(w, klass, i, cell, &outside->writes);
                if (writes)
                    compare_with_all(w, klass, i, cell, &outside->reads);
            }
        }
    }
}

void rh_pairs_compare(struct rh_pairs_work *w, uint32_t klass)
{
    rh_vec_clear(&w->met);
    if (w->infos.data[klass].vague) {
        for (uint32_t other = 0; other <= klass; other++)
            compare_vaguely(w, klass, other);
        return;
    }
    compare_exactly(w, klass);
    for (size_t i = 0; i < w->vague.len && w->vague.data[i] < klass; i++)
        compare_vaguely(w, klass, w->vague.data[i]);
}
