/*
 * Which candidates people should look at first, and how candidates are put in words.
 *
 * The score is a sum of named reasons, each a row of one table, so that a candidate's place can be
 * explained by listing the rows that hold for it. It orders what people read; it removes nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/pairs/internal.h"
#include "analysis/flow/spin.h"
#include "base/mem.h"
#include "base/strbuf.h"

enum { START_SCORE = 40 };

/* What the rank of a class's pairs goes by. */
enum trait {
    WRITES = 1,
    WRITES_POINTER = 2,
    UPDATES = 4, /* x++, x |= 1 */
    ATOMIC = 8,
    LOCKED = 16,
    VOLATILE = 32,
    VAGUE = 64,
    WAITS = 128, /* in a loop, for another's write */
};

/* --- reasons --- */

/* In which class a trait must be for a reason to hold. */
enum where { IN_EITHER, IN_BOTH, IN_ONE, OF_OBJECT };

static const struct reason {
    enum where where;
    uint32_t what; /* enum trait, or enum rh_object_kind */
    int points;
    const char *text;
} reasons[] = {
    {IN_EITHER, WAITS, 30, "a loop waits for a plain variable"},
    {IN_EITHER, WRITES_POINTER, 15, "a pointer is written"},
    {IN_EITHER, UPDATES, 15, "a value is read and written back"},
    {IN_ONE, LOCKED, 15, "one side holds a lock, the other none"},
    {IN_ONE, ATOMIC, 10, "one side is atomic, the other not"},
    {OF_OBJECT, RH_OBJECT_GLOBAL, 10, "the memory is known exactly"},
    {IN_BOTH, WRITES, 5, "both write"},
    {IN_BOTH, VOLATILE, -10, "both are volatile"},
    {OF_OBJECT, RH_OBJECT_OUTSIDE, -20, "the memory belongs to no object of the program"},
    {IN_EITHER, VAGUE, -40, "the pointers may point to many objects"},
};
enum { REASON_COUNT = sizeof reasons / sizeof reasons[0], BOTH_LOCKED = 1 << REASON_COUNT };

static bool holds(const struct rh_pairs_work *w, const struct reason *reason, uint8_t a, uint8_t b,
                  uint32_t object)
{
    switch (reason->where) {
    case IN_EITHER:
        return (a | b) & reason->what;
    case IN_BOTH:
        return a & b & reason->what;
    case IN_ONE:
        return (a ^ b) & reason->what;
    default:
        return object != RH_MANY_OBJECTS &&
               rh_pointsto_object(w->pointsto, object)->kind == reason->what;
    }
}

/* --- traits --- */

/* A store of something computed from a load of the same place. */
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

static bool waits(const struct rh_pairs *c, uint32_t klass)
{
    rh_vec_each (uint32_t, member, &c->classes.data[klass].members)
        if (!rh_bitset_test(&c->work->waiting, *member))
            return false;
    return true;
}

static uint8_t traits_of(const struct rh_pairs *c, uint32_t klass)
{
    const struct class_info *info = &c->work->infos.data[klass];
    const struct rh_access *a = info->access;
    bool is_store = a->inst->op == RH_OP_STORE;
    int traits = 0;
    if (!c->classes.data[klass].is_candidate)
        return 0;
    traits |= rh_access_writes(a) ? WRITES : 0;
    traits |= is_store && a->inst->ops[0]->type->kind == RH_TYPE_PTR ? WRITES_POINTER : 0;
    traits |= updates(a) ? UPDATES : 0;
    traits |= rh_access_is_atomic(a) ? ATOMIC : 0;
    traits |= is_locked(c->work, info) ? LOCKED : 0;
    traits |= a->flags & RH_SITE_VOLATILE ? VOLATILE : 0;
    traits |= info->vague ? VAGUE : 0;
    traits |= waits(c, klass) ? WAITS : 0;
    return (uint8_t)traits;
}

/* --- ranking --- */

static void rank_group(const struct rh_pairs_work *w, struct rh_group *g, uint8_t a, uint8_t b)
{
    int score = START_SCORE, held = 0;
    /* Of many objects the one that was found first says nothing. */
    if ((a | b) & VAGUE)
        g->object = RH_MANY_OBJECTS;
    for (int i = 0; i < REASON_COUNT; i++) {
        if (!holds(w, &reasons[i], a, b, g->object))
            continue;
        held |= 1 << i;
        score += reasons[i].points;
    }
    if (a & b & LOCKED)
        held |= BOTH_LOCKED;
    g->flags = (a | b) & WAITS ? RH_PAIRS_BUSY_WAIT : 0;
    g->flags |= (a | b) & VAGUE ? RH_PAIRS_VAGUE : 0;
    g->reasons = (uint16_t)held;
    g->score = (uint8_t)(score < 0 ? 0 : score > 100 ? 100 : score);
}

bool rh_pairs_say_the_same(const struct rh_group *a, const struct rh_group *b)
{
    return a->score == b->score && a->first == b->first && a->reasons == b->reasons &&
           a->object == b->object;
}

static int compare_groups(const void *a, const void *b)
{
    const struct rh_group *x = a, *y = b;
    if (x->score != y->score)
        return x->score < y->score ? 1 : -1;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    if (x->reasons != y->reasons)
        return x->reasons < y->reasons ? -1 : 1;
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    return (x->second > y->second) - (x->second < y->second);
}

void rh_pairs_rank(struct rh_pairs *c)
{
    uint8_t *traits = rh_calloc(c->classes.len + 1, 1);
    rh_spin_find(c->work->accesses, &c->work->waiting);
    for (uint32_t i = 0; i < c->classes.len; i++)
        traits[i] = traits_of(c, i);
    rh_vec_each (struct rh_group, g, &c->groups)
        rank_group(c->work, g, traits[g->first], traits[g->second]);
    free(traits);
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
    if (object == RH_MANY_OBJECTS) {
        rh_strbuf_add(out, "one of many objects");
        return;
    }
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

void rh_pairs_describe_why(const struct rh_group *group, struct rh_strbuf *out)
{
    bool any = false;
    rh_strbuf_add(out, group->reasons & BOTH_LOCKED ? "no lock is surely common to both"
                                                    : "no lock guards both");
    for (int i = 0; i < REASON_COUNT; i++) {
        if (!(group->reasons & 1 << i))
            continue;
        rh_strbuf_addf(out, "%s%s (%+d)", any ? ", " : "; ", reasons[i].text, reasons[i].points);
        any = true;
    }
}
