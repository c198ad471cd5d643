/* SPDX-License-Identifier: Apache-2.0 */
/* The sentences of a report: what raced, how that was proved, in how many runs. */
#include "report/phrases.h"

#include "racehive/access.h"
#include "report/stacks.h"
#include "report/table.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>

const char *rh_phrase_verdict(enum rh_verdict verdict)
{
    static const char *const words[] = {
        [RH_VERDICT_UNKNOWN] = "unknown",
        [RH_VERDICT_TRUE_RACE] = "true race",
        [RH_VERDICT_LIKELY_FALSE_POSITIVE] = "likely false positive",
    };
    return words[verdict];
}

const char *rh_phrase_kind(const struct rh_report_candidate *candidate)
{
    const struct rh_tally *tally = &candidate->tally;
    if (tally->collisions > 0)
        return "collision";
    return tally->raced[0] > 0 && tally->raced[1] > 0 ? "both-orders" : "unordered";
}

const char *rh_phrase_order(enum rh_race_order order)
{
    return order == RH_ORDER_PRIMARY ? "primary" : "alternate";
}

/* Whether a side is the candidate's first site. */
static bool is_first(const struct rh_report_candidate *candidate, int side)
{
    bool is_swapped = candidate->finding && candidate->finding->order == RH_ORDER_ALTERNATE;
    return (side == 0) != is_swapped;
}

const struct rh_sidecar_site *rh_phrase_site(const struct rh_report_candidate *candidate, int side)
{
    return is_first(candidate, side) ? candidate->first : candidate->second;
}

const struct rh_own_place *rh_phrase_place(const struct rh_report_candidate *candidate, int side)
{
    return &candidate->places[!is_first(candidate, side)];
}

static void add_subject(const struct rh_report_candidate *candidate, struct rh_strbuf *out)
{
    const char *a = candidate->places[0].expression, *b = candidate->places[1].expression;
    if (a && b && strcmp(a, b) != 0)
        rh_strbuf_addf(out, "%s, there %s", a, b);
    else if (a || b)
        rh_strbuf_add(out, a ? a : b);
    else
        rh_strbuf_add(out, candidate->object ? candidate->object : "the same memory");
}

static void add_who(const struct rh_report_candidate *candidate, int which, struct rh_strbuf *out)
{
    const struct rh_sidecar_site *site = which == 0 ? candidate->first : candidate->second;
    rh_strbuf_addf(out, "%s in %s", rh_sidecar_access_name(site->access),
                   candidate->places[which].function);
    if (site->image)
        rh_strbuf_addf(out, " of %s", site->image);
}

void rh_phrase_title(const struct rh_report_candidate *candidate, struct rh_strbuf *out)
{
    const struct rh_sidecar_site *first = candidate->first, *second = candidate->second;
    add_who(candidate, 0, out);
    if (first == second) {
        rh_strbuf_add(out, " races with itself on ");
    } else {
        rh_strbuf_add(out, " and ");
        add_who(candidate, 1, out);
        rh_strbuf_add(out, " race on ");
    }
    add_subject(candidate, out);
}

void rh_phrase_access(const struct rh_report_candidate *candidate, int side, struct rh_strbuf *out)
{
    const struct rh_sidecar_site *site = rh_phrase_site(candidate, side);
    const char *expression = rh_phrase_place(candidate, side)->expression;
    /* One writes to a place, but reads or updates it. */
    bool only_writes = rh_kind_writes(site->access) && site->access != RH_ACCESS_ATOMIC_UPDATE;
    rh_strbuf_add(out, rh_sidecar_access_name(site->access));
    if (!(site->flags & RH_SITE_SIZED) && site->size > 0)
        rh_strbuf_addf(out, " of %s%u %s",
                       site->flags & RH_SITE_PARTIAL    ? "at most "
                       : site->flags & RH_SITE_AT_LEAST ? "at least "
                                                        : "",
                       site->size, rh_table_choose(site->size, "byte", "bytes"));
    if (expression)
        rh_strbuf_addf(out, " %s %s", only_writes ? "to" : "of", expression);
}

void rh_phrase_where(const struct rh_report_candidate *candidate, int side, struct rh_strbuf *out)
{
    const struct rh_own_place *place = rh_phrase_place(candidate, side);
    rh_strbuf_addf(out, " in %s", place->function);
    if (place->callee)
        rh_strbuf_addf(out, ", by %s", place->callee);
}

static void add_thread(uint32_t thread, struct rh_strbuf *out)
{
    if (thread == 0) {
        rh_strbuf_add(out, "an unknown thread");
        return;
    }
    rh_strbuf_addf(out, "T%u%s", thread, thread == 1 ? " (main)" : "");
}

void rh_phrase_thread(const struct rh_report_candidate *candidate, int side, struct rh_strbuf *out)
{
    if (!candidate->finding) {
        rh_strbuf_add(out, is_first(candidate, side) ? candidate->first_threads
                                                     : candidate->second_threads);
        return;
    }
    const struct rh_report_side *who = &candidate->finding->sides[side];
    add_thread(who->thread, out);
    if (who->parent == 0)
        return;
    rh_strbuf_add(out, ", created by ");
    add_thread(who->parent, out);
}

/* Locks without a name are numbered as they come up in the race: L1, L2. */
static size_t number_lock(const struct rh_report_finding *finding, uint32_t tag)
{
    size_t number = 0;
    for (int i = 0; i < 2; i++) {
        rh_vec_each (const struct rh_report_lock, it, &finding->sides[i].locks) {
            number++;
            if (it->tag == tag)
                return number;
        }
    }
    return number;
}

static void add_seen_locks(const struct rh_report_finding *finding,
                           const struct rh_report_side *side, const char *known,
                           struct rh_strbuf *out)
{
    const struct rh_report_lock *only = side->locks.data;
    if (side->locks.len == 1 && *known && !strstr(known, ", ")) {
        rh_strbuf_add(out, known);
        if (only->name && strcmp(only->name, known) != 0 && strcmp(only->name, known + 1) != 0)
            rh_strbuf_addf(out, " (in %s)", only->name);
        return;
    }
    rh_vec_each (const struct rh_report_lock, it, &side->locks) {
        rh_strbuf_add(out, it == side->locks.data ? "" : ", ");
        if (it->name)
            rh_strbuf_add(out, it->name);
        else
            rh_strbuf_addf(out, "lock L%zu", number_lock(finding, it->tag));
    }
}

void rh_phrase_locks(const struct rh_report_candidate *candidate, int side, struct rh_strbuf *out)
{
    const char *known =
        is_first(candidate, side) ? candidate->first_locks : candidate->second_locks;
    if (candidate->finding && candidate->finding->sides[side].locks.len > 0)
        add_seen_locks(candidate->finding, &candidate->finding->sides[side], known, out);
    else if (!is_first(candidate, side) && rh_report_has_uninstrumented(candidate))
        rh_strbuf_add(out, "locks that are not known");
    else
        rh_strbuf_add(out, *known ? known : "no lock");
}

bool rh_phrase_is_one_place(const struct rh_report_candidate *candidate)
{
    const struct rh_sidecar_location *a = candidate->places[0].at, *b = candidate->places[1].at;
    return a && b && a->file && b->file && a->line == b->line && a->column == b->column &&
           strcmp(a->file, b->file) == 0;
}

bool rh_phrase_shares_lock(const struct rh_report_candidate *candidate)
{
    if (!candidate->finding)
        return false;
    rh_vec_each (const struct rh_report_lock, a, &candidate->finding->sides[0].locks)
        rh_vec_each (const struct rh_report_lock, b, &candidate->finding->sides[1].locks)
            if (a->tag != 0 && a->tag == b->tag)
                return true;
    return false;
}

void rh_phrase_guards(const struct rh_report_candidate *candidate, struct rh_strbuf *out)
{
    if (!candidate->finding || rh_report_has_uninstrumented(candidate))
        return;
    struct rh_strbuf held[2] = {RH_STRBUF_INIT, RH_STRBUF_INIT};
    bool none[2];
    for (int i = 0; i < 2; i++) {
        rh_phrase_locks(candidate, i, &held[i]);
        none[i] = strcmp(rh_strbuf_text(&held[i]), "no lock") == 0;
    }
    if (none[0] && none[1])
        rh_strbuf_add(out, "neither thread holds a lock, and nothing else orders the two");
    else if (none[0] || none[1])
        rh_strbuf_addf(out, "only the %s access is made under a lock (%s)",
                       none[0] ? "second" : "first", rh_strbuf_text(&held[none[0]]));
    else if (rh_phrase_shares_lock(candidate))
        rh_strbuf_add(out, "both threads hold a lock in common, at least one of them for reading "
                           "only");
    else
        rh_strbuf_addf(out, "the threads hold different locks, %s and %s", rh_strbuf_text(&held[0]),
                       rh_strbuf_text(&held[1]));
    rh_strbuf_release(&held[0]);
    rh_strbuf_release(&held[1]);
}

void rh_phrase_memory(const struct rh_report_candidate *candidate, struct rh_strbuf *out)
{
    const char *block = candidate->finding ? candidate->finding->block : NULL;
    bool is_vague = !block || strcmp(block, "heap") == 0 || strcmp(block, "global memory") == 0;
    if (is_vague && candidate->object)
        rh_strbuf_add(out, candidate->object);
    else if (block)
        rh_strbuf_add(out, block);
}

void rh_phrase_proof(const struct rh_report_candidate *candidate, struct rh_strbuf *out)
{
    const struct rh_report_finding *finding = candidate->finding;
    uint32_t first = finding->sides[0].thread, then = finding->sides[1].thread;
    switch (finding->proof) {
    case RH_PROOF_COLLISION:
        rh_strbuf_addf(out,
                       "collision: T%u was paused for %.1f ms before its access, and T%u made its "
                       "own meanwhile; nothing orders the two",
                       then, finding->pause_us / 1000.0, first);
        break;
    case RH_PROOF_CHANGED:
        rh_strbuf_addf(out,
                       "collision: T%u was paused for %.1f ms before its access, and the value "
                       "changed meanwhile; the writer was not seen",
                       then, finding->pause_us / 1000.0);
        break;
    case RH_PROOF_WATCHPOINT:
        rh_strbuf_addf(out,
                       "collision: T%u was paused for %.1f ms before its access, and the value "
                       "changed meanwhile; the processor saw ",
                       then, finding->pause_us / 1000.0);
        add_thread(first, out);
        rh_strbuf_add(out, " write it");
        break;
    default:
        rh_strbuf_add(out, "unordered: no chain of synchronisation was seen from the access of ");
        rh_strbuf_addf(out, first ? "T%u" : "an unknown thread", first);
        rh_strbuf_addf(out, then ? " to that of T%u" : " to that of an unknown thread", then);
    }
    if (!finding->proved)
        rh_strbuf_add(out, "; not proved, because some synchronisation is not seen here");
}

static uint64_t count_runs(const struct rh_tally *tally)
{
    uint64_t count = 0;
    for (int i = 0; i < RH_OUTCOME_COUNT; i++)
        count += tally->outcomes[i];
    return count;
}

void rh_phrase_runs(const struct rh_report_candidate *candidate, struct rh_strbuf *out)
{
    const struct rh_tally *tally = &candidate->tally;
    uint64_t asked = count_runs(tally);
    if (rh_report_has_uninstrumented(candidate)) {
        rh_strbuf_addf(out, "seen in %" PRIu64 " %s", asked, rh_table_choose(asked, "run", "runs"));
        return;
    }
    rh_strbuf_addf(out, "raced in %" PRIu64 " of %" PRIu64 " %s that had it as a task",
                   tally->outcomes[RH_OUTCOME_RACE], asked, rh_table_choose(asked, "run", "runs"));
    if (tally->raced[0] > 0 && tally->raced[1] > 0)
        rh_strbuf_add(out, ", in both orders");
    if (tally->collisions > 0)
        rh_strbuf_addf(out, ", by collision in %" PRIu64, tally->collisions);
    if (tally->suspected > 0)
        rh_strbuf_addf(out, ", unordered without proof in %" PRIu64, tally->suspected);
}

/* "3 of 4 runs with the write first hung, 0 of 9 others": the order to blame, or the one with the
 * larger number. */
static void add_ends(const struct rh_report_candidate *candidate, int blamed, bool hangs,
                     struct rh_strbuf *out)
{
    const struct rh_tally *tally = &candidate->tally;
    const char *name = candidate->crash_signal > 0 ? sigabbrev_np(candidate->crash_signal) : NULL;
    uint64_t failed[2];
    for (int i = 0; i < 2; i++)
        failed[i] = hangs ? tally->with[i].hangs : tally->with[i].crashes;
    int order = blamed >= 0 ? blamed : failed[1] > failed[0];
    struct rh_ends without = rh_verdict_without(tally, order);
    const struct rh_sidecar_site *first = order == 0 ? candidate->first : candidate->second;
    const char *function = candidate->places[order].function;
    rh_strbuf_addf(out, "%" PRIu64 " of %" PRIu64 " %s with ", failed[order],
                   tally->with[order].runs,
                   rh_table_choose(tally->with[order].runs, "run", "runs"));
    if (candidate->first == candidate->second)
        rh_strbuf_add(out, "it");
    else if (strcmp(function, candidate->places[!order].function) != 0)
        rh_strbuf_addf(out, "%s first", function);
    else
        rh_strbuf_addf(out, "the %s first", rh_sidecar_access_name(first->access));
    rh_strbuf_add(out, hangs ? " hung" : " crashed");
    if (!hangs && name)
        rh_strbuf_addf(out, " (SIG%s)", name);
    rh_strbuf_addf(out, ", %" PRIu64 " of %" PRIu64 " %s", hangs ? without.hangs : without.crashes,
                   without.runs, rh_table_choose(without.runs, "other", "others"));
    if (blamed < 0)
        rh_strbuf_add(out, ", which may be chance");
}

void rh_phrase_consequence(const struct rh_report_candidate *candidate, struct rh_strbuf *out)
{
    const struct rh_tally *tally = &candidate->tally;
    if (tally->hangs > 0)
        add_ends(candidate, rh_verdict_hang_order(tally), true, out);
    if (tally->hangs > 0 && tally->crashes > 0)
        rh_strbuf_add(out, "; ");
    if (tally->crashes > 0)
        add_ends(candidate, rh_verdict_crash_order(tally), false, out);
    if (tally->hangs == 0 && tally->crashes == 0)
        rh_strbuf_add(out, "none seen");
}

void rh_phrase_bound(const struct rh_report_candidate *candidate, struct rh_strbuf *out)
{
    if (candidate->verdict == RH_VERDICT_TRUE_RACE || candidate->bound >= 1)
        rh_strbuf_add(out, "-");
    else
        rh_strbuf_addf(out, "below %.3g %%", candidate->bound * 100);
}

void rh_phrase_opaque(uint32_t reasons, struct rh_strbuf *out)
{
    static const char *const words[RH_OPAQUE_COUNT] = {
#define RH_OPAQUE_WORDS(id, text) [RH_OPAQUE_##id] = text,
        RH_OPAQUES(RH_OPAQUE_WORDS)
#undef RH_OPAQUE_WORDS
    };
    const char *separator = "";
    for (int i = 0; i < RH_OPAQUE_COUNT; i++) {
        if (!(reasons & 1u << i))
            continue;
        rh_strbuf_addf(out, "%s%s", separator, words[i]);
        separator = "; ";
    }
}

const char *rh_phrase_loss(enum rh_loss loss)
{
    static const char *const phrases[RH_LOSS_COUNT] = {
#define RH_LOSS_PHRASE(id, text) [RH_LOSS_##id] = text,
        RH_LOSSES(RH_LOSS_PHRASE)
#undef RH_LOSS_PHRASE
    };
    return phrases[loss];
}

void rh_phrase_losses(const uint64_t *losses, struct rh_strbuf *out)
{
    const char *separator = "";
    for (enum rh_loss i = 0; i < RH_LOSS_COUNT; i++) {
        if (!losses[i])
            continue;
        rh_strbuf_addf(out, "%s%s: %" PRIu64, separator, rh_phrase_loss(i), losses[i]);
        separator = "; ";
    }
}

void rh_phrase_location(const struct rh_symbols_frame *frame, const struct rh_locations *locations,
                        struct rh_strbuf *out)
{
    const struct rh_sidecar_location at = rh_stack_location(frame);
    if (!frame->file && frame->image)
        rh_strbuf_add(out, frame->image);
    else
        rh_locations_add(locations, &at, out);
}
