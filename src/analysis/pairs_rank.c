/*
 * Which candidates people should look at first, and how candidates are put in words.
 *
 * The score is a sum of named reasons, each a row of one table, so that a candidate's place can be
 * explained by listing the rows that hold for it. It orders what people read; it removes nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/pairs_internal.h"
#include "analysis/spin.h"
#include "base/strbuf.h"

enum { START_SCORE = 40 };

struct pair {
    const struct rh_pairs_work *work;
    const struct class_info *a, *b;
    const struct rh_group *group;
};

/* --- reasons --- */

static bool writes_pointer(const struct rh_access *a)
{
    return a->inst->op == RH_OP_STORE && a->inst->ops[0]->type->kind == RH_TYPE_PTR;
}

static bool has_pointer_write(const struct pair *p)
{
    return writes_pointer(p->a->access) || writes_pointer(p->b->access);
}

/* A store of something computed from a load of the same place: x++, x |= 1. */
static bool updates(const struct rh_access *a)
{
    const struct rh_value *store = a->inst;
    if (store->op != RH_OP_STORE || store->ops[0]->kind != RH_VALUE_INST)
        return false;
    const struct rh_value *sum = store->ops[0];
    for (uint32_t i = 0; i < sum->op_count; i++) {
        const struct rh_value *v = sum->ops[i];
        if (v->kind == RH_VALUE_INST && v->op == RH_OP_LOAD && v->ops[0] == a->pointer)
            return true;
    }
    return false;
}

static bool has_update(const struct pair *p)
{
    return updates(p->a->access) || updates(p->b->access);
}

static bool both_write(const struct pair *p)
{
    return rh_access_writes(p->a->access) && rh_access_writes(p->b->access);
}

static bool is_mixed(const struct pair *p)
{
    return rh_access_is_atomic(p->a->access) != rh_access_is_atomic(p->b->access);
}

static bool is_locked(const struct rh_pairs_work *w, const struct class_info *c)
{
    for (uint32_t f = 0; f < c->fact_count; f++) {
        const struct ways *ways = &w->ways.data[c->facts[f].ways];
        for (uint32_t i = 0; i < ways->count; i++) {
            uint32_t count;
            rh_flow_locks(w->flow, ways->list[i].locks, &count);
            if (count)
                return true;
        }
    }
    return false;
}

static bool one_is_locked(const struct pair *p)
{
    return is_locked(p->work, p->a) != is_locked(p->work, p->b);
}

static bool is_volatile(const struct pair *p)
{
    return p->a->access->flags & p->b->access->flags & RH_SITE_VOLATILE;
}

static bool is_vague(const struct pair *p)
{
    return p->a->vague || p->b->vague;
}

static bool is_outside(const struct pair *p)
{
    return rh_pointsto_object(p->work->pointsto, p->group->object)->kind == RH_OBJECT_OUTSIDE;
}

static bool is_global(const struct pair *p)
{
    return rh_pointsto_object(p->work->pointsto, p->group->object)->kind == RH_OBJECT_GLOBAL;
}

static bool is_busy_wait(const struct pair *p)
{
    return p->group->flags & RH_PAIRS_BUSY_WAIT;
}

static const struct reason {
    bool (*holds)(const struct pair *p);
    int points;
    const char *text;
} reasons[] = {
    {is_busy_wait, 30, "a loop waits for a plain variable"},
    {has_pointer_write, 15, "a pointer is written"},
    {has_update, 15, "a value is read and written back"},
    {one_is_locked, 15, "one side holds a lock, the other none"},
    {is_mixed, 10, "one side is atomic, the other not"},
    {is_global, 10, "the memory is known exactly"},
    {both_write, 5, "both write"},
    {is_volatile, -10, "both are volatile"},
    {is_outside, -20, "the memory belongs to no object of the program"},
    {is_vague, -25, "the pointers may point to many objects"},
};

static struct pair make_pair(const struct rh_pairs *c, const struct rh_group *g)
{
    return (struct pair){c->work, &c->work->infos.data[g->first], &c->work->infos.data[g->second],
                         g};
}

/* --- ranking --- */

static uint32_t score(const struct pair *p)
{
    int sum = START_SCORE;
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        sum += reasons[i].holds(p) ? reasons[i].points : 0;
    return sum < 0 ? 0 : sum > 100 ? 100 : (uint32_t)sum;
}

static bool waits(const struct rh_pairs *c, uint32_t klass)
{
    rh_vec_each (uint32_t, member, &c->classes.data[klass].members)
        if (!rh_spin_waits_at(&c->work->accesses->all.data[*member]))
            return false;
    return true;
}

static int compare_groups(const void *a, const void *b)
{
    const struct rh_group *x = a, *y = b;
    if (x->score != y->score)
        return x->score < y->score ? 1 : -1;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return (x->second > y->second) - (x->second < y->second);
}

void rh_pairs_rank(struct rh_pairs *c)
{
    uint8_t *waiting = calloc(c->classes.len + 1, 1);
    for (uint32_t i = 0; waiting && i < c->classes.len; i++)
        waiting[i] = c->classes.data[i].is_candidate && waits(c, i);
    rh_vec_each (struct rh_group, g, &c->groups) {
        if (waiting && (waiting[g->first] || waiting[g->second]))
            g->flags |= RH_PAIRS_BUSY_WAIT;
        struct pair p = make_pair(c, g);
        g->score = score(&p);
    }
    free(waiting);
    if (c->groups.len)
        qsort(c->groups.data, c->groups.len, sizeof *c->groups.data, compare_groups);
}

/* --- words --- */

static void describe_thread(const struct rh_pairs_work *w, uint32_t id, struct rh_strbuf *out)
{
    const struct rh_thread *t = rh_flow_thread(w->flow, id);
    uint32_t entry;
    uint64_t at = 0;
    switch (t->kind) {
    case RH_THREAD_MAIN:
        rh_strbuf_add(out, "main");
        return;
    case RH_THREAD_CALLER:
        rh_strbuf_add(out, "any caller");
        return;
    default:
        break;
    }
    const char *name = "?";
    if (rh_idset_next(&t->entries, &at, &entry)) {
        const struct rh_function *fn = rh_pointsto_instance(w->pointsto, entry)->fn;
        name = fn->loc ? fn->loc->function : fn->name;
    }
    rh_strbuf_addf(out, "%s%s%s", t->kind == RH_THREAD_HANDLER ? "signal handler " : "", name,
                   t->many ? " (many)" : "");
}

/* Threads that begin with the same function have one name for people, wherever they are started. */
static uint32_t who_is(const struct rh_pairs_work *w, uint32_t id)
{
    const struct rh_thread *t = rh_flow_thread(w->flow, id);
    uint32_t entry;
    uint64_t at = 0;
    if (t->kind != RH_THREAD_CREATED || !rh_idset_next(&t->entries, &at, &entry))
        return t->kind;
    return RH_THREAD_CALLER + 1 + rh_pointsto_instance(w->pointsto, entry)->fn->id;
}

void rh_pairs_describe_threads(const struct rh_pairs *c, uint32_t klass, struct rh_strbuf *out)
{
    const struct rh_pairs_work *w = c->work;
    const struct class_info *info = &w->infos.data[klass];
    struct rh_idset seen = RH_IDSET_INIT;
    for (uint32_t f = 0; f < info->fact_count; f++) {
        const struct ways *ways = &w->ways.data[info->facts[f].ways];
        for (uint32_t i = 0; i < ways->count; i++) {
            if (!rh_idset_add(&seen, who_is(w, ways->list[i].thread)))
                continue;
            if (out->len)
                rh_strbuf_add(out, ", ");
            describe_thread(w, ways->list[i].thread, out);
        }
    }
    rh_idset_release(&seen);
}

/* Of the ways a class runs, the one with the fewest locks is what keeps it a candidate. */
void rh_pairs_describe_locks(const struct rh_pairs *c, uint32_t klass, struct rh_strbuf *out)
{
    const struct rh_pairs_work *w = c->work;
    const struct class_info *info = &w->infos.data[klass];
    uint32_t fewest = UINT32_MAX, set = 0;
    for (uint32_t f = 0; f < info->fact_count; f++) {
        const struct ways *ways = &w->ways.data[info->facts[f].ways];
        for (uint32_t i = 0; i < ways->count; i++) {
            uint32_t count;
            rh_flow_locks(w->flow, ways->list[i].locks, &count);
            if (count < fewest) {
                fewest = count;
                set = ways->list[i].locks;
            }
        }
    }
    if (fewest && fewest != UINT32_MAX)
        rh_flow_describe_locks(w->flow, set, out);
}

static void describe_place(const struct rh_value *v, struct rh_strbuf *out)
{
    const struct rh_loc *loc = v->loc;
    while (loc && loc->inlined_at && !loc->line)
        loc = loc->inlined_at;
    if (!loc || !loc->line) {
        rh_strbuf_addf(out, "%s", v->fn ? v->fn->name : "?");
        return;
    }
    const char *slash = strrchr(loc->file, '/');
    rh_strbuf_addf(out, "%s:%u", slash ? slash + 1 : loc->file, loc->line);
}

void rh_pairs_describe_object(const struct rh_pairs *c, uint32_t object, struct rh_strbuf *out)
{
    const struct rh_object *o = rh_pointsto_object(c->work->pointsto, object);
    switch (o->kind) {
    case RH_OBJECT_GLOBAL:
        rh_strbuf_addf(out, "global %s", o->value->name);
        break;
    case RH_OBJECT_THREAD_LOCAL:
        rh_strbuf_addf(out, "thread-local %s", o->value->name);
        break;
    case RH_OBJECT_STACK:
        rh_strbuf_addf(out, "local variable %s%sof %s", o->value->name, *o->value->name ? " " : "",
                       o->value->fn->loc ? o->value->fn->loc->function : o->value->fn->name);
        break;
    case RH_OBJECT_HEAP:
        rh_strbuf_add(out, "heap block from ");
        describe_place(o->value, out);
        break;
    case RH_OBJECT_LIBRARY:
    case RH_OBJECT_OWN:
        rh_strbuf_addf(out, "memory of the library, from %s", o->value->name);
        break;
    default:
        rh_strbuf_add(out, "memory from outside the program");
        break;
    }
}

void rh_pairs_describe_why(const struct rh_pairs *c, const struct rh_group *group,
                           struct rh_strbuf *out)
{
    struct pair p = make_pair(c, group);
    bool any = false;
    rh_strbuf_add(out, is_locked(c->work, p.a) && is_locked(c->work, p.b)
                           ? "no lock is surely common to both"
                           : "no lock guards both");
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        if (!reasons[i].holds(&p))
            continue;
        rh_strbuf_addf(out, "%s%s (%+d)", any ? ", " : "; ", reasons[i].text, reasons[i].points);
        any = true;
    }
}
