/* SPDX-License-Identifier: Apache-2.0 */
/* Puts classes and groups of accesses in words for people: see pairs.h. */
#include <string.h>

#include "analysis/pairs/internal.h"
#include "base/path.h"
#include "base/strbuf.h"

/* The first function of the user's that the instruction lies in, seen from outside; NULL if none.
 */
static const char *users_frame(const struct rh_loc *loc)
{
    const char *found = NULL;
    for (; loc; loc = loc->inlined_at)
        if (*loc->function && loc->line && !rh_path_is_system(loc->file))
            found = loc->function;
    return found;
}

/* What a user's function that threads begin with in the end is called: the C++ library wraps it in
 * functions of its own, so the first one is named that is not the library's. */
static const char *name_of_entry(const struct rh_pairs_work *w, uint32_t entry)
{
    enum { MOST_BODIES = 64 };
    const struct rh_function *fn = rh_pointsto_instance(w->pointsto, entry)->fn;
    const char *own = fn->loc ? fn->loc->function : fn->name, *found = NULL;
    RH_VEC(uint32_t) bodies = RH_VEC_INIT;
    struct rh_idset seen = RH_IDSET_INIT;
    bool is_wrapped = fn->loc && rh_path_is_system(fn->loc->file);
    rh_vec_push(&bodies, entry);
    for (size_t i = 0; is_wrapped && !found && i < bodies.len && i < MOST_BODIES; i++) {
        uint32_t instance = bodies.data[i];
        fn = rh_pointsto_instance(w->pointsto, instance)->fn;
        for (uint32_t b = 0; !found && b < fn->block_count; b++) {
            for (struct rh_value *v = fn->blocks[b]->first; v && !found; v = v->next) {
                struct rh_call_targets to = {0};
                found = users_frame(v->loc);
                if (v->callee)
                    to = rh_pointsto_call(w->pointsto, instance, v);
                for (uint32_t k = 0; k < to.count; k++)
                    if (rh_idset_add(&seen, to.targets[k]))
                        rh_vec_push(&bodies, to.targets[k]);
            }
        }
    }
    rh_vec_free(&bodies);
    rh_idset_release(&seen);
    return found ? found : own;
}

/* Which of the functions that a thread begins with says most: std::thread's state is run, and then
 * destroyed. */
static uint32_t main_entry(const struct rh_pairs_work *w, const struct rh_thread *t, uint32_t first)
{
    uint32_t entry;
    for (uint64_t at = 0; rh_idset_next(&t->entries, &at, &entry);) {
        const struct rh_function *fn = rh_pointsto_instance(w->pointsto, entry)->fn;
        if (fn->loc && fn->loc->function[0] != '~')
            return entry;
    }
    return first;
}

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
    case RH_THREAD_OUTSIDE:
        rh_strbuf_add(out, "any thread of a library");
        return;
    default:
        break;
    }
    const char *name = "?";
    if (rh_idset_next(&t->entries, &at, &entry))
        name = name_of_entry(w, main_entry(w, t, entry));
    rh_strbuf_addf(out, "%s%s%s", t->kind == RH_THREAD_HANDLER ? "signal handler " : "", name,
                   t->many ? " (many)" : "");
}

/* Threads that begin with the same function have one name for people, wherever they are started. */
static uint32_t who_is(const struct rh_pairs_work *w, uint32_t id)
{
    const struct rh_thread *t = rh_flow_thread(w->flow, id);
    uint32_t entry;
    uint64_t at = 0;
    bool is_named = t->kind == RH_THREAD_CREATED || t->kind == RH_THREAD_TEAM;
    if (!is_named || !rh_idset_next(&t->entries, &at, &entry))
        return t->kind;
    entry = main_entry(w, t, entry);
    return RH_THREAD_KINDS + rh_pointsto_instance(w->pointsto, entry)->fn->id;
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

/* The user's line, or the library's function that is called from one. */
static void describe_place(const struct rh_value *v, struct rh_strbuf *out)
{
    const struct rh_loc *loc = v->loc;
    while (loc && loc->inlined_at && (!loc->line || rh_path_is_system(loc->file)))
        loc = loc->inlined_at;
    if (loc && rh_path_is_system(loc->file) && *loc->linkage) {
        rh_strbuf_add(out, loc->linkage);
        return;
    }
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
