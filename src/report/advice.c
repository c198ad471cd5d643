/* SPDX-License-Identifier: Apache-2.0 */
/* What to try against a race, derived only from what is known of it. */
#include "racehive/access.h"
#include "report/phrases.h"

#include <string.h>

/* Bytes. Larger atomics are implemented with locks. */
enum { LARGEST_ATOMIC = 8 };

/* What the rules below look at. */
struct facts {
    const struct rh_report_candidate *candidate;
    const struct rh_sidecar_site *sites[2];
    char *locks[2];  /* "" for none */
    char *places[2]; /* "take_fee (bank.c:26:22)" */
    const char *subject;
};

static bool is_atomic(const struct rh_sidecar_site *site)
{
    return !rh_kind_is_plain(site->access);
}

static const char *name_subject(const struct facts *f)
{
    for (int i = 0; i < 2; i++)
        if (rh_phrase_place(f->candidate, i)->expression)
            return rh_phrase_place(f->candidate, i)->expression;
    return "the memory";
}

static void learn(const struct rh_report_candidate *candidate, const struct rh_locations *locations,
                  struct facts *f)
{
    f->candidate = candidate;
    for (int i = 0; i < 2; i++) {
        struct rh_strbuf locks = RH_STRBUF_INIT, place = RH_STRBUF_INIT;
        f->sites[i] = rh_phrase_site(candidate, i);
        rh_phrase_locks(candidate, i, &locks);
        if (strcmp(rh_strbuf_text(&locks), "no lock") == 0 ||
            f->sites[i]->number == RH_RUNS_UNINSTRUMENTED)
            rh_strbuf_reset(&locks);
        f->locks[i] = rh_strbuf_detach(&locks);
        rh_strbuf_addf(&place, "%s (", rh_phrase_place(candidate, i)->function);
        rh_locations_add(locations, rh_phrase_place(candidate, i)->at, &place);
        rh_strbuf_addc(&place, ')');
        f->places[i] = rh_strbuf_detach(&place);
    }
    f->subject = name_subject(f);
}

static void forget(struct facts *f)
{
    for (int i = 0; i < 2; i++) {
        free(f->locks[i]);
        free(f->places[i]);
    }
}

/* Each rule adds its advice, a heap string, or gives NULL where it does not apply. */

static char *advise_flag(const struct facts *f)
{
    if (!f->candidate->busy_wait)
        return NULL;
    return rh_format("make %s atomic: a loop waits for it, and a plain variable may be read once "
                     "and never again; store it with release and load it with acquire order",
                     f->subject);
}

static char *advise_mixed(const struct facts *f)
{
    bool first = is_atomic(f->sites[0]), second = is_atomic(f->sites[1]);
    if (first == second)
        return NULL;
    return rh_format("make the access in %s atomic too: the one in %s is", f->places[first],
                     f->places[second]);
}

/* Which locks an uninstrumented access holds is not known. */
static char *advise_uninstrumented(const struct facts *f)
{
    int known = f->sites[0]->number == RH_RUNS_UNINSTRUMENTED;
    if (!rh_report_has_uninstrumented(f->candidate))
        return NULL;
    if (f->candidate->finding && f->candidate->finding->proof == RH_PROOF_WATCHPOINT)
        return rh_format("guard %s with one lock, in %s and in what has led to the write in %s",
                         f->subject, f->places[known], f->places[!known]);
    return rh_format("find out who else writes %s: a library, a part of the program that was not "
                     "built with racehive-cc, or a system call of another thread; and give it and "
                     "%s the same lock",
                     f->subject, f->places[known]);
}

static char *advise_lock(const struct facts *f)
{
    const char *a = f->locks[0], *b = f->locks[1];
    if (rh_report_has_uninstrumented(f->candidate))
        return NULL;
    if (rh_phrase_shares_lock(f->candidate))
        return rh_format("both sides hold a lock in common, so at least one of them holds it for "
                         "reading only: take it for writing around every write of %s",
                         f->subject);
    if (*a && *b && strcmp(a, b) == 0)
        return rh_format("both sides hold %s, but of different objects: use the lock that belongs "
                         "to %s",
                         a, f->subject);
    if (*a && *b)
        return rh_format("the sides hold different locks, %s and %s: choose one of them for %s", a,
                         b, f->subject);
    if (*a || *b)
        return rh_format("hold %s in %s too, as %s does", *a ? a : b, f->places[*a ? 1 : 0],
                         rh_phrase_place(f->candidate, *a ? 0 : 1)->function);
    return NULL;
}

static char *advise_guard(const struct facts *f)
{
    const struct rh_sidecar_site *a = f->sites[0], *b = f->sites[1];
    bool fits = !((a->flags | b->flags) & RH_SITE_SIZED) && a->size <= LARGEST_ATOMIC &&
                b->size <= LARGEST_ATOMIC;
    if (*f->locks[0] || *f->locks[1] || f->candidate->busy_wait || is_atomic(a) || is_atomic(b) ||
        rh_report_has_uninstrumented(f->candidate))
        return NULL;
    if (!fits)
        return rh_format("neither side holds a lock: guard %s with one on both sides", f->subject);
    return rh_format("neither side holds a lock: guard %s with one on both sides, or make it "
                     "atomic and every change of it a single atomic operation",
                     f->subject);
}

static char *advise_creator(const struct facts *f)
{
    const struct rh_report_finding *finding = f->candidate->finding;
    for (int i = 0; finding && i < 2; i++) {
        uint32_t creator = finding->sides[i].thread, created = finding->sides[!i].thread;
        if (creator != 0 && finding->sides[!i].parent == creator)
            return rh_format("T%u created T%u: if its access in %s is meant to come before T%u "
                             "starts, make it before the thread is created; if after T%u's work, "
                             "join T%u first",
                             creator, created, f->places[i], created, created, created);
    }
    return NULL;
}

static char *advise_stack(const struct facts *f)
{
    const struct rh_report_finding *finding = f->candidate->finding;
    static const char start[] = "the stack of ";
    if (!finding || strncmp(finding->block, start, strlen(start)) != 0)
        return NULL;
    return rh_format("the memory is on %s: its function must not go on, or return, before the "
                     "other thread is done with it",
                     finding->block);
}

static char *advise_volatile(const struct facts *f)
{
    if (!((f->sites[0]->flags | f->sites[1]->flags) & RH_SITE_VOLATILE))
        return NULL;
    return rh_format("volatile does not order threads: %s needs an atomic type instead",
                     f->subject);
}

static char *(*const rules[])(const struct facts *) = {
    advise_flag,  advise_mixed,   advise_uninstrumented, advise_lock,
    advise_guard, advise_creator, advise_stack,          advise_volatile,
};

void rh_phrase_advise(const struct rh_report_candidate *candidate,
                      const struct rh_locations *locations, struct rh_phrase_list *list)
{
    struct facts facts;
    learn(candidate, locations, &facts);
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        char *advice = rules[i](&facts);
        if (advice)
            rh_vec_push(list, advice);
    }
    forget(&facts);
}

void rh_phrase_list_release(struct rh_phrase_list *list)
{
    rh_vec_each (char *, it, list)
        free(*it);
    rh_vec_free(list);
}
