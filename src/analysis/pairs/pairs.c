/* Compares classes of accesses and keeps the pairs that may race: see pairs.h. */
#include "analysis/pairs/pairs.h"

#include <string.h>

#include "analysis/pairs/internal.h"
#include "base/hash.h"
#include "base/mem.h"

const char *rh_pair_name(enum rh_pair_fate fate)
{
    static const char *const names[] = {
#define RH_PAIR_NAME(id, name) name,
        RH_PAIR_FATES(RH_PAIR_NAME)
#undef RH_PAIR_NAME
    };
    return names[fate];
}

/* --- interning --- */

/* The number under which `hash` is filed, or a fresh one: asks `same` about each that collides. */
static uint32_t intern(struct rh_map *map, uint64_t hash, uint32_t fresh,
                       bool (*same)(const struct rh_pairs_work *w, uint32_t at, const void *item),
                       const struct rh_pairs_work *w, const void *item)
{
    uint64_t at;
    while (rh_map_get(map, hash, &at)) {
        if (same(w, (uint32_t)at, item))
            return (uint32_t)at;
        hash = hash * 0x9e3779b97f4a7c15u + 1;
    }
    rh_map_put(map, hash, fresh);
    return fresh;
}

static bool same_cells(const struct rh_pairs_work *w, uint32_t at, const void *item)
{
    return rh_idset_equal(&w->cells.data[at], item);
}

static uint32_t intern_cells(struct rh_pairs_work *w, struct rh_idset *cells)
{
    uint32_t fresh = (uint32_t)w->cells.len;
    uint32_t at = intern(&w->cells_of, rh_idset_hash(cells), fresh, same_cells, w, cells);
    if (at == fresh) {
        rh_vec_push(&w->cells, (struct rh_idset){0});
        rh_idset_swap(&rh_vec_last(&w->cells), cells);
    }
    return at;
}

static bool same_objects(const struct rh_pairs_work *w, uint32_t at, const void *item)
{
    return rh_idset_equal(&w->objects.data[at], item);
}

static uint32_t intern_objects(struct rh_pairs_work *w, const struct rh_idset *cells)
{
    struct rh_idset objects = RH_IDSET_INIT;
    uint32_t cell, fresh = (uint32_t)w->objects.len;
    for (uint64_t at = 0; rh_idset_next(cells, &at, &cell);)
        rh_idset_add(&objects, rh_pointsto_cell(w->pointsto, cell)->object);
    if (rh_idset_count(&objects) > MANY_OBJECTS) {
        rh_idset_unite(&w->objects.data[MANY], &objects);
        rh_idset_release(&objects);
        return MANY;
    }
    uint32_t at = intern(&w->objects_of, rh_idset_hash(&objects), fresh, same_objects, w, &objects);
    if (at == fresh) {
        rh_vec_push(&w->objects, (struct rh_idset){0});
        rh_idset_swap(&rh_vec_last(&w->objects), &objects);
    }
    rh_idset_release(&objects);
    return at;
}

static bool same_ways(const struct rh_pairs_work *w, uint32_t at, const void *item)
{
    const struct ways *a = &w->ways.data[at], *b = item;
    return a->count == b->count && memcmp(a->list, b->list, a->count * sizeof *a->list) == 0;
}

static uint32_t intern_ways(struct rh_pairs_work *w, uint32_t instance, const struct rh_value *inst)
{
    struct ways ways;
    ways.list = rh_flow_occurrences(w->flow, instance, inst, &ways.count);
    uint64_t hash = rh_hash_bytes(ways.list, ways.count * sizeof *ways.list);
    uint32_t fresh = (uint32_t)w->ways.len;
    uint32_t at = intern(&w->ways_of, hash, fresh, same_ways, w, &ways);
    if (at == fresh) {
        struct rh_occurrence *own = rh_arena_array(&w->arena, struct rh_occurrence, ways.count);
        if (ways.count)
            memcpy(own, ways.list, ways.count * sizeof *own);
        ways.list = own;
        rh_vec_push(&w->ways, ways);
    }
    return at;
}

static bool holds_locks(const struct rh_pairs_work *w, uint32_t ways)
{
    for (uint32_t i = 0; i < w->ways.data[ways].count; i++) {
        uint32_t count;
        rh_flow_locks(w->flow, w->ways.data[ways].list[i].locks, &count);
        if (count)
            return true;
    }
    return false;
}

/* --- facts: one access in one instance --- */

/* The type tag of an access; 0 if it is of no single scalar. */
static uint32_t tag_of(const struct rh_access *a)
{
    enum { WORD = 8 };
    bool single = rh_ir_pointer(a->inst) == a->pointer && a->size && a->size <= WORD;
    return single ? a->inst->tag : 0;
}

/* The cells of shared objects among those that the access may touch. */
static void keep_shared(const struct rh_pairs_work *w, const struct rh_idset *all, uint32_t tag,
                        struct rh_idset *out)
{
    uint32_t cell;
    for (uint64_t at = 0; rh_idset_next(all, &at, &cell);) {
        const struct rh_cell *c = rh_pointsto_cell(w->pointsto, cell);
        const struct rh_object *o = rh_pointsto_object(w->pointsto, c->object);
        if (!rh_pointsto_fits(w->pointsto, cell, tag))
            continue;
        if (o->kind != RH_OBJECT_FUNCTION && !o->is_const && o->value != NULL &&
            rh_sharing_is_shared(w->sharing, c->object))
            rh_idset_add(out, cell);
        else if (o->kind == RH_OBJECT_OUTSIDE)
            rh_idset_add(out, cell);
    }
}

/* Facts of one access; the reason if there is none. */
static enum rh_skip collect_facts(struct rh_pairs_work *w, const struct rh_access *a)
{
    uint32_t count;
    const uint32_t *instances = rh_pointsto_instances_of(w->pointsto, a->inst->fn, &count);
    enum rh_skip why = RH_SKIP_NEVER_RUN;
    rh_vec_clear(&w->facts_now);
    w->fresh_now = rh_sharing_is_fresh(w->sharing, a->inst, a->pointer);
    w->vague_now = false;
    for (uint32_t i = 0; i < count; i++) {
        const struct rh_idset *all = rh_pointsto_of(w->pointsto, instances[i], a->pointer);
        struct rh_idset shared = RH_IDSET_INIT;
        uint32_t ways = intern_ways(w, instances[i], a->inst);
        if (!w->ways.data[ways].count)
            continue;
        keep_shared(w, all, tag_of(a), &shared);
        if (rh_idset_is_empty(&shared)) {
            if (why != RH_SKIP_ONE_THREAD)
                why = rh_idset_is_empty(all) ? RH_SKIP_NO_OBJECT : RH_SKIP_ONE_THREAD;
        } else {
            struct fact fact = {.instance = instances[i], .ways = ways};
            fact.objects = intern_objects(w, &shared);
            fact.vague = rh_idset_count(&shared) > VAGUE_CELLS;
            if (!fact.vague)
                fact.cells = intern_cells(w, &shared);
            w->vague_now |= fact.vague;
            rh_vec_push(&w->facts_now, fact);
        }
        rh_idset_release(&shared);
    }
    return w->facts_now.len ? RH_SKIP_COUNT : why;
}

/* --- classes --- */

/* Does it matter which of the accesses with the same facts it is: for the names of the locks that
 * it holds, and for what threads own? What is vague is never found to be either. */
static bool is_particular(const struct rh_pairs_work *w, const struct rh_access *a)
{
    if (w->vague_now)
        return false;
    if (rh_own_knows(w->own, a))
        return true;
    rh_vec_each (const struct fact, fact, &w->facts_now)
        if (holds_locks(w, fact->ways))
            return true;
    return false;
}

enum { CLASS_FLAGS = RH_SITE_SIZED | RH_SITE_AT_LEAST | RH_SITE_VOLATILE };

static uint64_t hash_class(const struct rh_pairs_work *w, const struct rh_access *a)
{
    struct rh_hash h;
    rh_hash_init(&h);
    rh_hash_add_u64(&h, a->kind);
    rh_hash_add_u64(&h, tag_of(a));
    rh_hash_add_u64(&h, w->vague_now ? 0 : a->size);
    rh_hash_add_u64(&h, w->vague_now ? 0 : a->flags & CLASS_FLAGS);
    rh_hash_add_u64(&h, w->fresh_now);
    rh_vec_each (struct fact, fact, &w->facts_now) {
        rh_hash_add_u64(&h, fact->vague ? 0 : fact->cells + (uint64_t)1);
        rh_hash_add_u64(&h, fact->objects);
        rh_hash_add_u64(&h, fact->ways);
    }
    rh_hash_add_u64(&h, is_particular(w, a) ? a->inst->id + (uint64_t)1 : 0);
    return rh_hash_finish(&h);
}

static bool is_same_class(const struct rh_pairs_work *w, uint32_t at, const void *item)
{
    const struct rh_access *a = item, *b = w->infos.data[at].access;
    const struct class_info *info = &w->infos.data[at];
    if (a->kind != b->kind || tag_of(a) != info->tag || info->fact_count != w->facts_now.len ||
        info->fresh != w->fresh_now || info->vague != w->vague_now)
        return false;
    if (!info->vague && (a->size != b->size || (a->flags ^ b->flags) & CLASS_FLAGS))
        return false;
    for (uint32_t i = 0; i < info->fact_count; i++) {
        const struct fact *x = &info->facts[i], *y = &w->facts_now.data[i];
        if (x->vague != y->vague || x->objects != y->objects || x->ways != y->ways ||
            (!x->vague && x->cells != y->cells))
            return false;
    }
    return a->inst == b->inst || !is_particular(w, a);
}

static void classify(struct rh_pairs_work *w, uint32_t number)
{
    struct rh_access *a = &w->accesses->all.data[number];
    w->out->class_of[number] = NO_CLASS;
    if (a->skip != RH_SKIP_COUNT || !a->pointer)
        return;
    a->skip = collect_facts(w, a);
    if (a->skip != RH_SKIP_COUNT)
        return;
    uint32_t fresh = (uint32_t)w->infos.len;
    uint32_t at = intern(&w->class_of, hash_class(w, a), fresh, is_same_class, w, a);
    if (at == fresh) {
        struct class_info info = {.access = a,
                                  .tag = tag_of(a),
                                  .writes = rh_access_writes(a),
                                  .fresh = w->fresh_now,
                                  .vague = w->vague_now,
                                  .fact_count = (uint32_t)w->facts_now.len};
        if (info.vague)
            rh_vec_push(&w->vague, at);
        info.facts = rh_arena_array(&w->arena, struct fact, info.fact_count);
        memcpy(info.facts, w->facts_now.data, info.fact_count * sizeof *info.facts);
        rh_vec_push(&w->infos, info);
        rh_vec_push(&w->out->classes, (struct rh_class){.closest = RH_PAIR_COUNT});
    }
    rh_vec_push(&w->out->classes.data[at].members, number);
    w->out->class_of[number] = at;
}

/* --- comparing --- */

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
    if (!f->vague && !g->vague && rh_own_parts(w->own, f->instance, x, g->instance, y))
        return RH_PAIR_OWN;
    if (fresh && !is_racing(w, object, f, g))
        return RH_PAIR_UNPUBLISHED;
    if (meeting == MEET_UNLOCKED)
        return RH_PAIR_CANDIDATE;
    return is_guarded(w, x, f, y, g) ? RH_PAIR_GUARDED : RH_PAIR_CANDIDATE;
}

static uint64_t bytes_of(const struct rh_access *a)
{
    return a->flags & (RH_SITE_SIZED | RH_SITE_AT_LEAST) ? 0 : a->size;
}

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

static void index_all(struct rh_pairs_work *w)
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

static void note(struct rh_pairs_work *w, uint32_t klass, enum rh_pair_fate fate, uint32_t partner)
{
    struct rh_class *c = &w->out->classes.data[klass];
    if (c->closest == RH_PAIR_COUNT || fate > c->closest) {
        c->closest = fate;
        c->closest_partner = partner;
    }
    c->is_candidate |= fate == RH_PAIR_CANDIDATE;
}

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
    if (!anywhere && !rh_cells_overlap(x, bytes_of(a->access), y, bytes_of(b->access)))
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

static void compare_class(struct rh_pairs_work *w, uint32_t klass)
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

static void record_partners(struct rh_pairs_work *w, uint32_t klass)
{
    uint64_t n = w->out->classes.data[klass].members.len;
    rh_vec_each (uint32_t, it, &w->met) {
        const struct partner *p = &w->partners[*it];
        uint64_t m = w->out->classes.data[*it].members.len;
        w->out->pairs[p->fate] += *it == klass ? n * (n + 1) / 2 : n * m;
        note(w, klass, p->fate, *it);
        note(w, *it, p->fate, klass);
        if (p->fate == RH_PAIR_CANDIDATE)
            rh_vec_push(&w->out->groups,
                        (struct rh_group){.first = *it, .second = klass, .object = p->object});
    }
}

static enum rh_skip skip_of(const struct rh_class *c)
{
    if (c->is_candidate)
        return RH_SKIP_COUNT;
    switch (c->closest) {
    case RH_PAIR_ATOMIC:
        return RH_SKIP_ATOMIC;
    case RH_PAIR_NOT_PARALLEL:
        return RH_SKIP_NOT_PARALLEL;
    case RH_PAIR_OWN:
        return RH_SKIP_OWN;
    case RH_PAIR_UNPUBLISHED:
        return RH_SKIP_UNPUBLISHED;
    case RH_PAIR_GUARDED:
        return RH_SKIP_GUARDED;
    default:
        return RH_SKIP_ONLY_READ;
    }
}

static void give_reasons(struct rh_pairs_work *w)
{
    /* The other reasons were counted when the accesses were listed. */
    for (size_t i = 0; i < w->accesses->all.len; i++) {
        struct rh_access *a = &w->accesses->all.data[i];
        if (w->out->class_of[i] != NO_CLASS)
            a->skip = skip_of(&w->out->classes.data[w->out->class_of[i]]);
        if (a->skip != RH_SKIP_COUNT && rh_access_may_be_shared(a))
            w->accesses->skipped[a->skip]++;
    }
}

/* --- publishing --- */

static bool mark_racing(struct rh_pairs_work *w, const struct rh_idset *cells)
{
    bool grew = false;
    uint32_t cell;
    for (uint64_t at = 0; rh_idset_next(cells, &at, &cell);)
        grew |= rh_bitset_set(&w->racing, rh_pointsto_cell(w->pointsto, cell)->object);
    return grew;
}

/* Atomics that order what was done before with what is done after: release by the writer, acquire
 * by the reader. */
static bool hands_over_in_order(const struct rh_access *a)
{
    bool release = a->order == RH_MO_RELEASE || a->order >= RH_MO_ACQ_REL;
    bool acquire = a->order == RH_MO_ACQUIRE || a->order >= RH_MO_ACQ_REL;
    switch (a->kind) {
    case RH_ACCESS_ATOMIC_READ:
        return acquire;
    case RH_ACCESS_ATOMIC_WRITE:
        return release;
    default:
        return release && acquire;
    }
}

/* What a store gives away is what it stores. */
static bool mark_stored(struct rh_pairs_work *w, const struct rh_value *store)
{
    bool grew = false;
    uint32_t count;
    const uint32_t *instances = rh_pointsto_instances_of(w->pointsto, store->fn, &count);
    for (uint32_t i = 0; i < count; i++)
        grew |= mark_racing(w, rh_pointsto_of(w->pointsto, instances[i], store->ops[0]));
    return grew;
}

/* What a class of other accesses gives away is whatever the memory may hold. */
static bool mark_held(struct rh_pairs_work *w, const struct class_info *info)
{
    bool grew = false;
    for (uint32_t i = 0; i < info->fact_count; i++) {
        uint32_t cell, object;
        const struct rh_idset *objects = &w->objects.data[info->facts[i].objects];
        for (uint64_t at = 0; info->facts[i].vague && rh_idset_next(objects, &at, &object);) {
            struct rh_idset held = RH_IDSET_INIT;
            if (!rh_bitset_set(&w->emptied, object))
                continue;
            rh_pointsto_contents(w->pointsto, object, &held);
            grew |= mark_racing(w, &held);
            rh_idset_release(&held);
        }
        if (info->facts[i].vague)
            continue;
        for (uint64_t at = 0; rh_idset_next(&w->cells.data[info->facts[i].cells], &at, &cell);) {
            struct rh_idset held = RH_IDSET_INIT;
            rh_pointsto_held(w->pointsto, cell, bytes_of(info->access), &held);
            grew |= mark_racing(w, &held);
            rh_idset_release(&held);
        }
    }
    return grew;
}

static bool mark_published(struct rh_pairs_work *w, uint32_t klass)
{
    bool grew = false, others = false;
    rh_vec_each (uint32_t, member, &w->out->classes.data[klass].members) {
        const struct rh_value *inst = w->accesses->all.data[*member].inst;
        if (inst->op == RH_OP_STORE)
            grew |= mark_stored(w, inst);
        else
            others = true;
    }
    return (others && mark_held(w, &w->infos.data[klass])) || grew;
}

static bool find_racing(struct rh_pairs_work *w)
{
    bool grew = false;
    for (uint32_t i = 0; i < w->out->classes.len; i++) {
        const struct rh_class *c = &w->out->classes.data[i];
        const struct rh_access *first = w->infos.data[i].access;
        bool weak = rh_access_is_atomic(first) && !hands_over_in_order(first);
        if (!weak && !(c->is_candidate && rh_access_writes(first)))
            continue;
        if (rh_bitset_set(&w->told, i))
            grew |= mark_published(w, i);
    }
    return grew;
}

/* --- the whole --- */

/* Compares all pairs of classes of which one is to fresh blocks, or all others. */
static void compare_all(struct rh_pairs_work *w, bool of_fresh)
{
    struct rh_pairs *out = w->out;
    w->of_fresh = of_fresh;
    memset(w->partners, 0, out->classes.len * sizeof *w->partners);
    for (uint32_t i = 0; i < out->classes.len && !rh_patience_is_lost(w->patience); i++) {
        compare_class(w, i);
        record_partners(w, i);
    }
}

/* What was let off is called back until nothing changes. A class's closest fate only rises from one
 * round to the next, so what the rounds before have noted may stay. */
static void compare_fresh(struct rh_pairs_work *w)
{
    struct rh_pairs *out = w->out;
    size_t groups = out->groups.len;
    uint64_t others[RH_PAIR_COUNT];
    memcpy(others, out->pairs, sizeof others);
    do {
        out->groups.len = groups;
        memcpy(out->pairs, others, sizeof others);
        compare_all(w, true);
    } while (!rh_patience_is_lost(w->patience) && out->pairs[RH_PAIR_UNPUBLISHED] > 0 &&
             find_racing(w));
}

void rh_pairs_find(struct rh_accesses *accesses, const struct rh_pointsto *p,
                   const struct rh_flow *flow, const struct rh_sharing *sharing,
                   struct rh_patience *patience, struct rh_pairs *out)
{
    memset(out, 0, sizeof *out);
    struct rh_pairs_work *w = rh_calloc(1, sizeof *w);
    *w = (struct rh_pairs_work){.accesses = accesses,
                                .pointsto = p,
                                .flow = flow,
                                .sharing = sharing,
                                .patience = patience,
                                .out = out};
    out->work = w;
    rh_vec_push(&w->objects, (struct rh_idset){0}); /* number MANY */
    w->own = rh_own_find(p, flow, rh_sharing_fresh(sharing));
    out->class_of = rh_alloc_array(accesses->all.len, sizeof *out->class_of);
    for (uint32_t i = 0; i < accesses->all.len; i++)
        classify(w, i);
    for (uint32_t i = 0; i < rh_pointsto_object_count(p); i++)
        if (rh_pointsto_object(p, i)->kind == RH_OBJECT_OUTSIDE)
            w->outside = i;
    w->meetings = rh_calloc(w->ways.len + 1, sizeof *w->meetings);
    w->common = rh_calloc(w->objects.len, sizeof *w->common);
    w->partners = rh_calloc(out->classes.len, sizeof *w->partners);
    index_all(w);
    compare_all(w, false);
    compare_fresh(w);
    give_reasons(w);
    rh_pairs_merge(w);
    rh_pairs_rank(out);
}

void rh_pairs_release(struct rh_pairs *c)
{
    struct rh_pairs_work *w = c->work;
    if (!w)
        return;
    for (size_t i = 0; i < w->ways.len; i++)
        free(w->meetings[i]);
    for (size_t i = 0; i < w->objects.len; i++)
        free(w->common[i]);
    free(w->meetings);
    free(w->common);
    for (uint32_t i = 0; i < rh_pointsto_object_count(w->pointsto); i++) {
        rh_vec_free(&w->touched[i].reads);
        rh_vec_free(&w->touched[i].writes);
        rh_vec_free(&w->touched[i].known_reads);
        rh_vec_free(&w->touched[i].known_writes);
    }
    rh_vec_each (struct rh_idset, set, &w->cells)
        rh_idset_release(set);
    rh_vec_each (struct rh_idset, set, &w->objects)
        rh_idset_release(set);
    rh_vec_each (struct rh_class, class, &c->classes)
        rh_vec_free(&class->members);
    free(w->touched);
    free(w->partners);
    free(c->class_of);
    rh_vec_free(&w->cells);
    rh_vec_free(&w->objects);
    rh_vec_free(&w->vague);
    rh_map_release(&w->objects_of);
    rh_vec_free(&w->ways);
    rh_vec_free(&w->infos);
    rh_vec_free(&w->facts_now);
    rh_vec_free(&w->met);
    rh_map_release(&w->cells_of);
    rh_map_release(&w->ways_of);
    rh_map_release(&w->class_of);
    rh_bitset_release(&w->racing);
    rh_bitset_release(&w->emptied);
    rh_bitset_release(&w->told);
    rh_bitset_release(&w->waiting);
    rh_own_free(w->own);
    rh_arena_release(&w->arena);
    rh_vec_free(&c->classes);
    rh_vec_free(&c->groups);
    free(w);
    memset(c, 0, sizeof *c);
}
