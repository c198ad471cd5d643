/* SPDX-License-Identifier: Apache-2.0 */
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

/* --- groups and reasons --- */

static void note(struct rh_pairs_work *w, uint32_t klass, enum rh_pair_fate fate, uint32_t partner)
{
    struct rh_access_class *c = &w->out->classes.data[klass];
    if (c->closest == RH_PAIR_COUNT || fate > c->closest) {
        c->closest = fate;
        c->closest_partner = partner;
    }
    c->is_candidate |= fate == RH_PAIR_CANDIDATE;
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

static enum rh_skip skip_of(const struct rh_access_class *c)
{
    if (c->is_candidate)
        return RH_SKIP_COUNT;
    switch (c->closest) {
    case RH_PAIR_ATOMIC:
        return RH_SKIP_ATOMIC;
    case RH_PAIR_NOT_PARALLEL:
        return RH_SKIP_NOT_PARALLEL;
    case RH_PAIR_LIBRARYS:
        return RH_SKIP_LIBRARYS;
    case RH_PAIR_DECLARED:
        return RH_SKIP_DECLARED;
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

/* --- the whole --- */

/* Compares all pairs of classes of which one is to fresh blocks, or all others. */
static void compare_all(struct rh_pairs_work *w, bool of_fresh)
{
    struct rh_pairs *out = w->out;
    w->of_fresh = of_fresh;
    memset(w->partners, 0, out->classes.len * sizeof *w->partners);
    for (uint32_t i = 0; i < out->classes.len && !rh_deadline_passed(w->deadline); i++) {
        rh_pairs_compare(w, i);
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
    } while (!rh_deadline_passed(w->deadline) && out->pairs[RH_PAIR_UNPUBLISHED] > 0 &&
             rh_pairs_find_racing(w));
}

void rh_pairs_find(struct rh_accesses *accesses, const struct rh_pointsto *p,
                   const struct rh_flow *flow, const struct rh_escape *escape,
                   struct rh_deadline *deadline, const struct rh_pairs_trust *trust,
                   struct rh_pairs *out)
{
    memset(out, 0, sizeof *out);
    struct rh_pairs_work *w = rh_calloc(1, sizeof *w);
    *w = (struct rh_pairs_work){.accesses = accesses,
                                .pointsto = p,
                                .flow = flow,
                                .escape = escape,
                                .deadline = deadline,
                                .trusts_library = trust->library,
                                .declared = trust->declared,
                                .out = out};
    out->work = w;
    rh_vec_push(&w->objects, (struct rh_idset){0}); /* number MANY */
    w->perthread = rh_perthread_find(p, flow, rh_escape_fresh(escape));
    out->class_of = rh_alloc_array(accesses->all.len, sizeof *out->class_of);
    for (uint32_t i = 0; i < accesses->all.len; i++)
        rh_pairs_classify(w, i);
    for (uint32_t i = 0; i < rh_pointsto_object_count(p); i++)
        if (rh_pointsto_object(p, i)->kind == RH_OBJECT_OUTSIDE)
            w->outside = i;
    w->meetings = rh_calloc(w->ways.len + 1, sizeof *w->meetings);
    w->common = rh_calloc(w->objects.len, sizeof *w->common);
    w->partners = rh_calloc(out->classes.len, sizeof *w->partners);
    rh_pairs_index(w);
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
    rh_pairs_release_seen(w);
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
    rh_vec_each (struct rh_access_class, class, &c->classes)
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
    rh_perthread_free(w->perthread);
    rh_arena_release(&w->arena);
    rh_vec_free(&c->classes);
    rh_vec_free(&c->groups);
    free(w);
    memset(c, 0, sizeof *c);
}
