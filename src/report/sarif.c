/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports as SARIF 2.1.0, for code hosts and editors: one result per true race, the second access
 * as a related location, the two stacks as the thread flows of one code flow.
 */
#include "base/hash.h"
#include "report/members.h"
#include "report/phrases.h"
#include "report/renderers.h"

#include <ctype.h>
#include <string.h>

#define SCHEMA "https://json.schemastore.org/sarif-2.1.0.json"
/* What paths below the current folder are relative to. */
#define BASE_ID "SRCROOT"
/* The one rule. */
#define RULE_ID "data-race"
/* Changes when the ids of candidates are made differently. */
#define FINGERPRINT "racehiveCandidate/v1"

struct writer {
    struct rh_json json;
    struct rh_locations locations;
    struct rh_strbuf text; /* empty between uses */
};

/* Puts what was collected, and empties it. */
static void put_collected(struct writer *w, const char *name)
{
    rh_members_text(&w->json, name, rh_strbuf_text(&w->text));
    rh_strbuf_reset(&w->text);
}

static void put_message(struct writer *w, const char *name, const char *text)
{
    rh_json_key(&w->json, name);
    rh_json_begin_object(&w->json);
    rh_members_text(&w->json, "text", text);
    rh_json_end_object(&w->json);
}

static void put_collected_message(struct writer *w, const char *name)
{
    put_message(w, name, rh_strbuf_text(&w->text));
    rh_strbuf_reset(&w->text);
}

/* Percent-encodes all that a path in a URI cannot hold as it is. */
static void add_uri_path(const char *path, struct rh_strbuf *out)
{
    for (; *path; path++) {
        unsigned char c = (unsigned char)*path;
        if (isascii(c) && (isalnum(c) || strchr("/-._~", c)))
            rh_strbuf_addc(out, (char)c);
        else
            rh_strbuf_addf(out, "%%%02X", c);
    }
}

static void put_artifact(struct writer *w, const char *path)
{
    const char *shortened = rh_locations_shorten(&w->locations, path);
    rh_json_key(&w->json, "artifactLocation");
    rh_json_begin_object(&w->json);
    if (*shortened == '/')
        rh_strbuf_add(&w->text, "file://");
    add_uri_path(shortened, &w->text);
    put_collected(w, "uri");
    if (*shortened != '/' && w->locations.folder)
        rh_members_text(&w->json, "uriBaseId", BASE_ID);
    rh_json_end_object(&w->json);
}

static void put_physical(struct writer *w, const struct rh_symbols_frame *frame)
{
    if (!frame->file)
        return;
    rh_json_key(&w->json, "physicalLocation");
    rh_json_begin_object(&w->json);
    put_artifact(w, frame->file);
    if (frame->line > 0) {
        rh_json_key(&w->json, "region");
        rh_json_begin_object(&w->json);
        rh_members_number(&w->json, "startLine", frame->line);
        if (frame->column > 0)
            rh_members_number(&w->json, "startColumn", frame->column);
        rh_json_end_object(&w->json);
    }
    rh_json_end_object(&w->json);
}

static void put_logical(struct writer *w, const char *function)
{
    if (!function)
        return;
    rh_json_key(&w->json, "logicalLocations");
    rh_json_begin_array(&w->json);
    rh_json_begin_object(&w->json);
    rh_members_text(&w->json, "fullyQualifiedName", function);
    rh_members_text(&w->json, "kind", "function");
    rh_json_end_object(&w->json);
    rh_json_end_array(&w->json);
}

/* The members of a location, but for its id. The message is what was collected, if anything. */
static void put_location(struct writer *w, const struct rh_symbols_frame *frame)
{
    struct rh_strbuf message = w->text;
    w->text = (struct rh_strbuf)RH_STRBUF_INIT;
    put_physical(w, frame);
    put_logical(w, frame->function);
    if (message.len > 0)
        put_message(w, "message", rh_strbuf_text(&message));
    rh_strbuf_release(&message);
    if (frame->is_near || frame->image) {
        rh_json_key(&w->json, "properties");
        rh_json_begin_object(&w->json);
        rh_members_near(&w->json, frame->is_near);
        if (frame->image)
            rh_members_text(&w->json, "image", frame->image);
        rh_json_end_object(&w->json);
    }
}

static struct rh_symbols_frame place_frame(const struct rh_report_candidate *candidate, int side)
{
    const struct rh_own_place *place = rh_phrase_place(candidate, side);
    const struct rh_sidecar_location *at = place->at;
    return (struct rh_symbols_frame){
        .function = place->function,
        .file = at ? at->file : NULL,
        .line = at ? at->line : 0,
        .column = at ? at->column : 0,
        .image = rh_phrase_site(candidate, side)->image,
        .is_near = at && at->is_near,
    };
}

/* An uninstrumented access often has no location, and the first location must have one. */
static void put_sites(struct writer *w, const struct rh_report_candidate *candidate)
{
    int main =
        rh_report_has_uninstrumented(candidate) && rh_phrase_site(candidate, 0) != candidate->first;
    struct rh_symbols_frame first = place_frame(candidate, main);
    struct rh_symbols_frame second = place_frame(candidate, !main);
    rh_json_key(&w->json, "locations");
    rh_json_begin_array(&w->json);
    rh_json_begin_object(&w->json);
    put_location(w, &first);
    rh_json_end_object(&w->json);
    rh_json_end_array(&w->json);
    rh_json_key(&w->json, "relatedLocations");
    rh_json_begin_array(&w->json);
    rh_json_begin_object(&w->json);
    rh_members_number(&w->json, "id", 1);
    rh_strbuf_add(&w->text, "the other access: ");
    rh_phrase_access(candidate, !main, &w->text);
    put_location(w, &second);
    rh_json_end_object(&w->json);
    rh_json_end_array(&w->json);
}

/* A flow goes the way of the execution: from the thread's beginning to the access. */
static void put_flow(struct writer *w, const struct rh_report_candidate *candidate, int side)
{
    const struct rh_report_side *who = &candidate->finding->sides[side];
    rh_json_begin_object(&w->json);
    if (who->thread != 0)
        rh_strbuf_addf(&w->text, "T%u", who->thread);
    else
        rh_strbuf_add(&w->text, "unknown");
    put_collected(w, "id");
    rh_phrase_thread(candidate, side, &w->text);
    rh_strbuf_add(&w->text, ", holding ");
    rh_phrase_locks(candidate, side, &w->text);
    put_collected_message(w, "message");
    rh_json_key(&w->json, "locations");
    rh_json_begin_array(&w->json);
    for (size_t i = who->frames.len; i-- > 0;) {
        rh_json_begin_object(&w->json);
        rh_json_key(&w->json, "location");
        rh_json_begin_object(&w->json);
        if (i == 0)
            rh_phrase_access(candidate, side, &w->text);
        put_location(w, &who->frames.data[i]);
        rh_json_end_object(&w->json);
        if (rh_place_is_library(&who->frames.data[i]))
            rh_members_text(&w->json, "importance", "unimportant");
        rh_members_number(&w->json, "nestingLevel", who->frames.len - 1 - i);
        if (i == 0)
            rh_members_number(&w->json, "executionOrder", (uint64_t)side + 1);
        rh_json_end_object(&w->json);
    }
    rh_json_end_array(&w->json);
    rh_json_end_object(&w->json);
}

static void put_flows(struct writer *w, const struct rh_report_candidate *candidate)
{
    if (!candidate->finding)
        return;
    rh_json_key(&w->json, "codeFlows");
    rh_json_begin_array(&w->json);
    rh_json_begin_object(&w->json);
    rh_phrase_proof(candidate, &w->text);
    put_collected_message(w, "message");
    rh_json_key(&w->json, "threadFlows");
    rh_json_begin_array(&w->json);
    put_flow(w, candidate, 0);
    put_flow(w, candidate, 1);
    rh_json_end_array(&w->json);
    rh_json_end_object(&w->json);
    rh_json_end_array(&w->json);
}

static void add_message(struct writer *w, const struct rh_report_candidate *candidate)
{
    struct rh_phrase_list advice = RH_VEC_INIT;
    rh_phrase_title(candidate, &w->text);
    if (candidate->finding) {
        rh_strbuf_add(&w->text, ". ");
        rh_phrase_proof(candidate, &w->text);
    }
    rh_phrase_advise(candidate, &w->locations, &advice);
    rh_vec_each (char *, it, &advice)
        rh_strbuf_addf(&w->text, ". Try: %s", *it);
    rh_strbuf_addc(&w->text, '.');
    rh_phrase_list_release(&advice);
}

static void put_properties(struct writer *w, const struct rh_report_candidate *candidate)
{
    rh_json_key(&w->json, "properties");
    rh_json_begin_object(&w->json);
    rh_members_text(&w->json, "kind", rh_phrase_kind(candidate));
    rh_members_text(&w->json, "ground", rh_ground_words(candidate->ground));
    rh_members_text(&w->json, "consequence", candidate->consequence);
    rh_members_number(&w->json, "score", candidate->score);
    rh_json_end_object(&w->json);
}

static void put_result(struct writer *w, const struct rh_report_candidate *candidate)
{
    char id[RH_HASH_HEX_SIZE];
    rh_hash_format(candidate->id, id);
    rh_json_begin_object(&w->json);
    rh_members_text(&w->json, "ruleId", RULE_ID);
    rh_members_number(&w->json, "ruleIndex", 0);
    rh_members_text(&w->json, "level", "error");
    add_message(w, candidate);
    put_collected_message(w, "message");
    put_sites(w, candidate);
    put_flows(w, candidate);
    rh_json_key(&w->json, "partialFingerprints");
    rh_json_begin_object(&w->json);
    rh_members_text(&w->json, FINGERPRINT, id);
    rh_json_end_object(&w->json);
    put_properties(w, candidate);
    rh_json_end_object(&w->json);
}

static void put_rule(struct writer *w)
{
    rh_json_begin_object(&w->json);
    rh_members_text(&w->json, "id", RULE_ID);
    rh_members_text(&w->json, "name", "DataRace");
    put_message(w, "shortDescription", "Two threads touch the same memory without an order.");
    put_message(w, "fullDescription",
                "Two threads touch the same memory, at least one of them writes, not both accesses "
                "are atomic, and no synchronisation orders them. The behaviour of such a program "
                "is undefined in C and C++.");
    put_message(w, "help",
                "Guard both accesses with the same lock, make them atomic, or order them by the "
                "creation or the join of a thread.");
    rh_json_key(&w->json, "defaultConfiguration");
    rh_json_begin_object(&w->json);
    rh_members_text(&w->json, "level", "error");
    rh_json_end_object(&w->json);
    rh_json_end_object(&w->json);
}

static void put_tool(struct writer *w)
{
    rh_json_key(&w->json, "tool");
    rh_json_begin_object(&w->json);
    rh_json_key(&w->json, "driver");
    rh_json_begin_object(&w->json);
    rh_members_text(&w->json, "name", "racehive");
    rh_members_text(&w->json, "version", RH_VERSION);
    rh_members_text(&w->json, "semanticVersion", RH_VERSION);
    rh_json_key(&w->json, "rules");
    rh_json_begin_array(&w->json);
    put_rule(w);
    rh_json_end_array(&w->json);
    rh_json_end_object(&w->json);
    rh_json_end_object(&w->json);
}

static void put_base(struct writer *w)
{
    if (!w->locations.folder)
        return;
    rh_json_key(&w->json, "originalUriBaseIds");
    rh_json_begin_object(&w->json);
    rh_json_key(&w->json, BASE_ID);
    rh_json_begin_object(&w->json);
    rh_strbuf_add(&w->text, "file://");
    add_uri_path(w->locations.folder, &w->text);
    put_collected(w, "uri");
    rh_json_end_object(&w->json);
    rh_json_end_object(&w->json);
}

static void put_run(struct writer *w, const struct rh_report *report)
{
    rh_json_begin_object(&w->json);
    put_tool(w);
    put_base(w);
    rh_members_text(&w->json, "columnKind", "unicodeCodePoints");
    rh_json_key(&w->json, "results");
    rh_json_begin_array(&w->json);
    rh_vec_each (const struct rh_report_candidate, it, &report->candidates)
        if (it->verdict == RH_VERDICT_TRUE_RACE)
            put_result(w, it);
    rh_json_end_array(&w->json);
    rh_json_key(&w->json, "properties");
    rh_json_begin_object(&w->json);
    rh_members_text(&w->json, "program", report->program);
    rh_members_text(&w->json, "build_id", report->build_id);
    rh_members_text(&w->json, "detector", report->detector);
    rh_members_number(&w->json, "runs", report->totals.runs);
    rh_json_end_object(&w->json);
    rh_json_end_object(&w->json);
}

enum rh_status rh_render_sarif(const struct rh_report *report, FILE *out)
{
    struct writer w = {.text = RH_STRBUF_INIT};
    rh_locations_init(&w.locations);
    rh_json_init_file(&w.json, out);
    rh_json_begin_object(&w.json);
    rh_members_text(&w.json, "$schema", SCHEMA);
    rh_members_text(&w.json, "version", "2.1.0");
    rh_json_key(&w.json, "runs");
    rh_json_begin_array(&w.json);
    put_run(&w, report);
    rh_json_end_array(&w.json);
    rh_json_end_object(&w.json);
    rh_strbuf_release(&w.text);
    rh_locations_release(&w.locations);
    return rh_json_finish(&w.json);
}
