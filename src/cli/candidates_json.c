/* SPDX-License-Identifier: Apache-2.0 */
/* Prints candidates as JSON, one after the other: there may be more than memory holds. */
#include "base/hash.h"
#include "cli/cmd_candidates.h"
#include "report/members.h"
#include "report/symbols/names.h"

#include <stdlib.h>

static void put_id(struct rh_json *json, const char *name, uint64_t id)
{
    char text[RH_HASH_HEX_SIZE];
    rh_hash_format(id, text);
    rh_members_text(json, name, text);
}

/* A text of the analysis, with names of C++ as people read them. */
static void put_words(struct rh_json *json, const char *name, const char *words)
{
    char *readable = words ? rh_names_readable(words) : NULL;
    rh_members_text(json, name, readable);
    free(readable);
}

static void put_side(struct rh_json *json, const char *name, const struct rh_sidecar_site *site,
                     const struct rh_sidecar_class *row)
{
    rh_json_key(json, name);
    rh_json_begin_object(json);
    rh_members_site(json, site);
    if (site->location && site->location->inlined_at)
        rh_members_chain(json, "inlined", site);
    put_words(json, "locks", row->locks);
    put_words(json, "threads", row->threads);
    put_id(json, "fingerprint", site->fingerprint);
    rh_json_end_object(json);
}

static void put_met(struct rh_json *json, const struct rh_runs_met *met)
{
    rh_json_key(json, "met");
    rh_json_begin_object(json);
    rh_members_number(json, "runs", met->runs);
    rh_members_number(json, "locked", met->locked);
    rh_members_number(json, "unlocked", met->unlocked);
    rh_members_number(json, "ordered", met->ordered);
    rh_members_number(json, "unordered", met->unordered);
    rh_json_end_object(json);
}

/* A pair that the analysis ruled out has no group. */
static void put_candidate(struct rh_json *json, const struct rh_candidate *candidate,
                          const struct rh_runs_met *met)
{
    const struct rh_sidecar_group *group = candidate->group;
    struct rh_strbuf why = RH_STRBUF_INIT;
    if (group)
        rh_candidate_explain(group, candidate->first, candidate->second, &why);
    rh_json_begin_object(json);
    put_id(json, "id", candidate->id);
    rh_members_text(json, "verdict", "unknown");
    put_side(json, "first", candidate->first, candidate->first_class);
    put_side(json, "second", candidate->second, candidate->second_class);
    rh_members_number_if(json, "score", group, candidate->score);
    rh_members_text(json, "why", group ? rh_strbuf_text(&why) : NULL);
    put_words(json, "object", group ? group->object : NULL);
    rh_json_key(json, "busy_wait");
    rh_json_bool(json, group && group->flags & RH_GROUP_BUSY_WAIT);
    if (met)
        put_met(json, met);
    rh_json_end_object(json);
    rh_strbuf_release(&why);
}

static void put_candidates(struct rh_json *json, const struct rh_view *view)
{
    struct rh_candidate candidate;
    const struct rh_runs_met *met;
    rh_json_key(json, "candidates");
    rh_json_begin_array(json);
    for (uint64_t i = 0; i < view->limit && rh_view_next(view, i, &candidate, &met); i++)
        put_candidate(json, &candidate, met);
    rh_json_end_array(json);
}

static void put_totals(struct rh_json *json, const struct rh_view *view)
{
    struct rh_candidates_totals totals;
    rh_view_count(view, &totals);
    rh_json_key(json, "totals");
    rh_json_begin_object(json);
    rh_members_number(json, "candidates", totals.candidates);
    rh_members_number(json, "matching", totals.wanted);
    rh_members_number(json, "sites", totals.sites);
    rh_members_number(json, "groups", totals.groups);
    rh_json_end_object(json);
}

/* Each puts the members of the next row of a table; *more is false at the end. */
static enum rh_status put_filter(struct rh_json *json, struct rh_sidecar *sidecar, bool *more)
{
    struct rh_sidecar_filter filter;
    enum rh_status status = rh_sidecar_next_filter(sidecar, &filter, more);
    if (status != RH_OK || !*more)
        return status;
    rh_json_begin_object(json);
    rh_members_text(json, "name", filter.name);
    rh_members_number(json, "pairs", filter.pairs);
    rh_json_end_object(json);
    return RH_OK;
}

static enum rh_status put_phase(struct rh_json *json, struct rh_sidecar *sidecar, bool *more)
{
    struct rh_sidecar_phase phase;
    enum rh_status status = rh_sidecar_next_phase(sidecar, &phase, more);
    if (status != RH_OK || !*more)
        return status;
    rh_json_begin_object(json);
    rh_members_text(json, "name", phase.name);
    rh_members_number_if(json, "milliseconds", phase.milliseconds != RH_SIDECAR_NO_TIME,
                         phase.milliseconds);
    rh_json_end_object(json);
    return RH_OK;
}

static enum rh_status put_unknown(struct rh_json *json, struct rh_sidecar *sidecar, bool *more)
{
    struct rh_sidecar_unknown unknown;
    enum rh_status status = rh_sidecar_next_unknown(sidecar, &unknown, more);
    if (status != RH_OK || !*more)
        return status;
    rh_json_begin_object(json);
    rh_members_text(json, "name", unknown.name);
    rh_members_number(json, "calls", unknown.calls);
    rh_members_number(json, "objects", unknown.objects);
    rh_json_end_object(json);
    return RH_OK;
}

/* One row per array behind the candidates. */
static const struct table {
    const char *name;
    enum rh_status (*put_next)(struct rh_json *json, struct rh_sidecar *sidecar, bool *more);
} tables[] = {
    {"filters", put_filter},
    {"phases", put_phase},
    {"unknown_functions", put_unknown},
};

static enum rh_status put_table(struct rh_json *json, const struct rh_view *view,
                                const struct table *table)
{
    enum rh_status status;
    bool more;
    rh_json_key(json, table->name);
    rh_json_begin_array(json);
    do
        status = table->put_next(json, view->sidecar, &more);
    while (status == RH_OK && more);
    rh_json_end_array(json);
    return status;
}

enum rh_status rh_view_print_json(const struct rh_view *view)
{
    struct rh_json json;
    rh_json_init_file(&json, stdout);
    rh_json_begin_object(&json);
    rh_members_head(&json, view->program,
                    rh_sidecar_get_meta(view->sidecar, RH_SIDECAR_META_BUILD_ID));
    put_totals(&json, view);
    put_candidates(&json, view);
    enum rh_status status = RH_OK;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0] && status == RH_OK; i++)
        status = put_table(&json, view, &tables[i]);
    rh_json_end_object(&json);
    enum rh_status finished = rh_json_finish(&json);
    return status != RH_OK ? status : finished;
}
