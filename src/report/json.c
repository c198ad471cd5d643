/* SPDX-License-Identifier: Apache-2.0 */
/* Reports as JSON, in the form that all detectors share. */
#include "base/hash.h"
#include "report/members.h"
#include "report/phrases.h"
#include "report/renderers.h"

#include <string.h>

static void put_id(struct rh_json *json, uint64_t id)
{
    char text[RH_HASH_HEX_SIZE];
    rh_hash_format(id, text);
    rh_members_text(json, "id", text);
}

/* Where the access is in the program's own source, if that is another line than the site's. */
static void put_place(struct rh_json *json, const struct rh_own_place *place,
                      const struct rh_sidecar_site *site)
{
    if (!place->at || place->at == site->location)
        return;
    rh_json_key(json, "place");
    rh_json_begin_object(json);
    rh_members_text(json, "file", place->at->file);
    rh_members_number(json, "line", place->at->line);
    rh_members_number(json, "column", place->at->column);
    rh_members_near(json, place->at->is_near);
    rh_members_text(json, "function", place->function);
    rh_members_text(json, "calls", place->callee);
    rh_json_end_object(json);
}

static void put_site(struct rh_json *json, const struct rh_report_candidate *it, int which)
{
    const struct rh_sidecar_site *site = which == 0 ? it->first : it->second;
    rh_json_key(json, which == 0 ? "first" : "second");
    rh_json_begin_object(json);
    rh_members_site(json, site);
    if (site->location && site->location->inlined_at)
        rh_members_chain(json, "inlined", site);
    put_place(json, &it->places[which], site);
    if (site->number == RH_RUNS_UNINSTRUMENTED) {
        rh_json_key(json, "uninstrumented");
        rh_json_bool(json, true);
    }
    rh_members_text(json, "locks", which == 0 ? it->first_locks : it->second_locks);
    rh_members_text(json, "threads", which == 0 ? it->first_threads : it->second_threads);
    rh_json_end_object(json);
}

static void put_outcomes(struct rh_json *json, const struct rh_tally *tally)
{
    rh_json_key(json, "outcomes");
    rh_json_begin_object(json);
    for (enum rh_outcome i = 0; i < RH_OUTCOME_COUNT; i++)
        rh_members_number(json, rh_outcome_name(i), tally->outcomes[i]);
    rh_json_end_object(json);
}

/* "deposit bank.c:41": short, for people; the frames of `threads` have all there is. */
static void put_stack_words(struct rh_json *json, const struct rh_report_side *side)
{
    struct rh_strbuf text = RH_STRBUF_INIT;
    rh_json_begin_array(json);
    rh_vec_each (const struct rh_symbols_frame, it, &side->frames) {
        const char *slash = it->file ? strrchr(it->file, '/') : NULL;
        rh_strbuf_add(&text, it->function ? it->function : "?");
        if (it->file)
            rh_strbuf_addf(&text, " %s:%u", slash ? slash + 1 : it->file, it->line);
        else if (it->image)
            rh_strbuf_addf(&text, " %s", it->image);
        rh_json_string(json, rh_strbuf_text(&text));
        rh_strbuf_reset(&text);
    }
    rh_json_end_array(json);
    rh_strbuf_release(&text);
}

static void put_frames(struct rh_json *json, const struct rh_report_side *side)
{
    rh_json_key(json, "frames");
    rh_json_begin_array(json);
    rh_vec_each (const struct rh_symbols_frame, it, &side->frames) {
        rh_json_begin_object(json);
        rh_members_text(json, "function", it->function);
        rh_members_text(json, "file", it->file);
        rh_members_number(json, "line", it->line);
        rh_members_number(json, "column", it->column);
        rh_members_near(json, it->is_near);
        rh_members_text(json, "library", it->image);
        rh_json_key(json, "inlined");
        rh_json_bool(json, it->inlined);
        rh_json_end_object(json);
    }
    rh_json_end_array(json);
}

static void put_locks(struct rh_json *json, const struct rh_report_side *side)
{
    rh_json_key(json, "locks");
    rh_json_begin_array(json);
    rh_vec_each (const struct rh_report_lock, it, &side->locks) {
        rh_json_begin_object(json);
        rh_members_text(json, "name", it->name);
        rh_members_number(json, "tag", it->tag);
        rh_json_end_object(json);
    }
    rh_json_end_array(json);
}

static void put_threads(struct rh_json *json, const struct rh_report_finding *finding)
{
    rh_json_key(json, "threads");
    rh_json_begin_array(json);
    for (int i = 0; i < 2; i++) {
        const struct rh_report_side *side = &finding->sides[i];
        bool is_first = (i == 0) == (finding->order == RH_ORDER_PRIMARY);
        rh_json_begin_object(json);
        rh_members_number_if(json, "id", side->thread != 0, side->thread);
        rh_members_number_if(json, "creator", side->parent != 0, side->parent);
        rh_members_text(json, "access", is_first ? "first" : "second");
        put_locks(json, side);
        put_frames(json, side);
        rh_json_end_object(json);
    }
    rh_json_end_array(json);
}

/* Members of `evidence`, which proves a race, and of `suspicion`, which does not. */
static void put_race(struct rh_json *json, const struct rh_report_candidate *candidate)
{
    const struct rh_report_finding *finding = candidate->finding;
    rh_json_begin_object(json);
    rh_members_text(json, "order", rh_phrase_order(finding->order));
    rh_members_text(json, "kind", finding->proved ? rh_phrase_kind(candidate) : "unordered");
    rh_members_text(json, "consequence", candidate->consequence);
    rh_members_number_if(json, "signal", candidate->crash_signal != 0,
                         (uint64_t)candidate->crash_signal);
    rh_members_number_if(json, "pause_us", finding->proof != RH_PROOF_UNORDERED, finding->pause_us);
    rh_members_text(json, "block", finding->block);
    rh_json_key(json, "stacks");
    rh_json_begin_array(json);
    put_stack_words(json, &finding->sides[0]);
    put_stack_words(json, &finding->sides[1]);
    rh_json_end_array(json);
    put_threads(json, finding);
    rh_json_end_object(json);
}

static void put_race_if(struct rh_json *json, const char *name,
                        const struct rh_report_candidate *candidate, bool wanted)
{
    rh_json_key(json, name);
    if (wanted)
        put_race(json, candidate);
    else
        rh_json_null(json);
}

static void put_end(struct rh_json *json, const char *name, const struct rh_ends *ends)
{
    rh_json_key(json, name);
    rh_json_begin_object(json);
    rh_members_number(json, "runs", ends->runs);
    rh_members_number(json, "crashes", ends->crashes);
    rh_members_number(json, "hangs", ends->hangs);
    rh_json_end_object(json);
}

/* How runs with and without each order of a race ended. */
static void put_ends(struct rh_json *json, const struct rh_report_candidate *candidate)
{
    const struct rh_tally *tally = &candidate->tally;
    rh_json_key(json, "ends");
    if (candidate->verdict != RH_VERDICT_TRUE_RACE) {
        rh_json_null(json);
        return;
    }
    rh_json_begin_object(json);
    for (int order = 0; order < 2; order++) {
        struct rh_ends without = rh_verdict_without(tally, order);
        rh_json_key(json, rh_phrase_order((enum rh_race_order)order));
        rh_json_begin_object(json);
        put_end(json, "with", &tally->with[order]);
        put_end(json, "without", &without);
        rh_json_end_object(json);
    }
    rh_json_end_object(json);
}

static void put_candidate(struct rh_json *json, const struct rh_report_candidate *it)
{
    const struct rh_report_finding *finding = it->finding;
    rh_json_begin_object(json);
    put_id(json, it->id);
    rh_members_text(json, "verdict", rh_verdict_name(it->verdict));
    rh_members_text(json, "ground", rh_ground_words(it->ground));
    put_site(json, it, 0);
    put_site(json, it, 1);
    rh_members_number(json, "score", it->score);
    rh_members_text(json, "why", it->why);
    rh_members_text(json, "object", it->object);
    rh_json_key(json, "busy_wait");
    rh_json_bool(json, it->busy_wait);
    put_outcomes(json, &it->tally);
    rh_members_number(json, "suspected", it->tally.suspected);
    rh_json_key(json, "bound");
    if (it->verdict == RH_VERDICT_TRUE_RACE)
        rh_json_null(json);
    else
        rh_json_double(json, it->bound);
    put_ends(json, it);
    put_race_if(json, "evidence", it, finding && finding->proved);
    put_race_if(json, "suspicion", it, finding && !finding->proved);
    rh_json_end_object(json);
}

/* Only what is not zero: mostly there is nothing. */
static void put_losses(struct rh_json *json, const uint64_t *losses)
{
    rh_json_key(json, "losses");
    rh_json_begin_object(json);
    for (enum rh_loss i = 0; i < RH_LOSS_COUNT; i++)
        if (losses[i])
            rh_members_number(json, rh_phrase_loss(i), losses[i]);
    rh_json_end_object(json);
}

/* Counts of all candidates, also of those that are not listed. */
static void put_totals(struct rh_json *json, const struct rh_report *report)
{
    rh_json_key(json, "totals");
    rh_json_begin_object(json);
    rh_members_number(json, "candidates", report->candidate_count);
    rh_members_number(json, "listed", report->candidates.len);
    rh_members_number(json, "suppressed", report->suppressed);
    rh_members_number(json, "suppressed_true_races", report->suppressed_races);
    rh_members_number(json, "crashed_runs", report->totals.crashed);
    rh_members_number(json, "hung_runs", report->totals.hung);
    rh_members_number(json, "wall_ns", report->totals.wall_ns);
    rh_members_number(json, "hook_ns", report->totals.hook_ns);
    rh_members_number(json, "pause_ns", report->totals.pause_ns);
    put_losses(json, report->totals.losses);
    rh_json_key(json, "confidence");
    rh_json_double(json, RH_VERDICT_CONFIDENCE);
    rh_json_key(json, "grounds");
    rh_json_begin_object(json);
    for (enum rh_ground i = 0; i < RH_GROUND_COUNT; i++)
        rh_members_number(json, rh_ground_words(i), report->by_ground[i]);
    rh_json_end_object(json);
    rh_json_end_object(json);
}

/* The libraries that runs of the program have loaded. */
static void put_images(struct rh_json *json, const struct rh_report *report)
{
    rh_json_key(json, "images");
    rh_json_begin_array(json);
    rh_vec_each (const struct rh_images_library, it, &report->libraries) {
        rh_json_begin_object(json);
        rh_members_text(json, "name", it->row.name);
        rh_members_text(json, "path", it->row.path);
        rh_members_text(json, "build_id", it->row.build_id);
        rh_members_number(json, "runs", it->row.runs);
        rh_json_key(json, "takes_part");
        rh_json_bool(json, !it->why_not);
        if (it->why_not)
            rh_members_text(json, "why_not", it->why_not);
        rh_json_end_object(json);
    }
    rh_json_end_array(json);
}

enum rh_status rh_render_json(const struct rh_report *report, FILE *out)
{
    struct rh_json json;
    rh_json_init_file(&json, out);
    rh_json_begin_object(&json);
    rh_members_head(&json, report->program, report->build_id);
    rh_members_text(&json, "detector", report->detector);
    rh_members_number(&json, "runs", report->totals.runs);
    put_images(&json, report);
    put_totals(&json, report);
    rh_json_key(&json, "candidates");
    rh_json_begin_array(&json);
    rh_vec_each (const struct rh_report_candidate, it, &report->candidates)
        put_candidate(&json, it);
    rh_json_end_array(&json);
    rh_json_end_object(&json);
    return rh_json_finish(&json);
}
