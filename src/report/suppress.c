/* SPDX-License-Identifier: Apache-2.0 */
/* Leaves races out of reports by rules: see suppress.h. */
#include "report/suppress.h"

#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "report/evidence.h"

#include <stdlib.h>
#include <string.h>

enum rh_status rh_suppressions_read(struct rh_suppressions *rules, const char *path)
{
    struct rh_strbuf text = RH_STRBUF_INIT;
    struct rh_suppressions_file file = {0};
    enum rh_status status = rh_fs_read(path, &text);
    if (status == RH_OK)
        status = rh_config_parse(&file.config, rh_strbuf_text(&text), path);
    rh_strbuf_release(&text);
    if (status != RH_OK)
        return status;
    if (file.config.expired)
        rh_log_warn("%s:%u: this rule has expired (%u in all) and no longer applies", path,
                    file.config.first_expired, file.config.expired);
    file.path = rh_strdup(path);
    rh_vec_push(&rules->files, file);
    return RH_OK;
}

void rh_suppressions_release(struct rh_suppressions *rules)
{
    rh_vec_each (struct rh_suppressions_file, it, &rules->files) {
        rh_config_release(&it->config);
        free(it->path);
    }
    rh_vec_free(&rules->files);
}

/* --- what a rule matches --- */

static bool matches_any(const struct rh_config_rule *rule, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (rh_config_rule_matches(rule, names[i]))
            return true;
    return false;
}

static bool matches_frame(const struct rh_config_rule *rule, const struct rh_symbols_frame *frame)
{
    const char *const names[] = {frame->function, frame->linkage, frame->file, frame->image};
    return matches_any(rule, names, sizeof names / sizeof names[0]);
}

static bool matches_location(const struct rh_config_rule *rule,
                             const struct rh_sidecar_location *at)
{
    const char *const names[] = {at->function, at->linkage, at->file};
    return matches_any(rule, names, sizeof names / sizeof names[0]);
}

/* The function of the access, and those that it was inlined into. */
static bool matches_site(const struct rh_config_rule *rule, const struct rh_sidecar_site *site,
                         const struct rh_own_place *place)
{
    const char *const names[] = {site->function->name, site->function->linkage, place->function};
    bool is_top = rule->kind == RH_CONFIG_RACE_TOP;
    if (is_top && site->location)
        return matches_location(rule, site->location) ||
               rh_config_rule_matches(rule, place->function);
    for (const struct rh_sidecar_location *at = site->location; at; at = at->inlined_at)
        if (matches_location(rule, at))
            return true;
    return matches_any(rule, names, sizeof names / sizeof names[0]);
}

/* "global counter" and "counter+8" are the variable counter. */
static bool matches_variable(const struct rh_config_rule *rule, const char *object)
{
    static const char prefix[] = "global ";
    if (!object || strncmp(object, prefix, strlen(prefix)) != 0)
        return false;
    const char *name = object + strlen(prefix);
    char *plain = rh_strndup(name, strcspn(name, "+"));
    bool found = rh_config_rule_matches(rule, plain);
    free(plain);
    return found;
}

static bool matches_stacks(const struct rh_config_rule *rule,
                           const struct rh_report_finding *finding)
{
    for (int i = 0; finding && rule->kind == RH_CONFIG_RACE && i < 2; i++)
        rh_vec_each (const struct rh_symbols_frame, it, &finding->sides[i].frames)
            if (matches_frame(rule, it))
                return true;
    return false;
}

static bool hides(const struct rh_config_rule *rule, const struct rh_report_candidate *candidate)
{
    return matches_site(rule, candidate->first, &candidate->places[0]) ||
           matches_site(rule, candidate->second, &candidate->places[1]) ||
           matches_variable(rule, candidate->object) ||
           (candidate->finding && matches_variable(rule, candidate->finding->block)) ||
           matches_stacks(rule, candidate->finding);
}

static bool is_suppression(const struct rh_config_rule *rule)
{
    return rule->kind == RH_CONFIG_RACE || rule->kind == RH_CONFIG_RACE_TOP;
}

/* --- applying --- */

static bool is_hidden(struct rh_suppressions *rules, const struct rh_report_candidate *candidate)
{
    bool hidden = false;
    rh_vec_each (struct rh_suppressions_file, file, &rules->files) {
        rh_vec_each (struct rh_config_rule, rule, &file->config.rules) {
            if (!is_suppression(rule) || !hides(rule, candidate))
                continue;
            rule->matched++;
            hidden = true;
        }
    }
    return hidden;
}

void rh_suppressions_apply(struct rh_suppressions *rules, struct rh_report *report)
{
    size_t kept = 0;
    for (size_t i = 0; i < report->candidates.len; i++) {
        struct rh_report_candidate *it = &report->candidates.data[i];
        if (!is_hidden(rules, it)) {
            report->candidates.data[kept++] = *it;
            continue;
        }
        report->suppressed++;
        report->suppressed_races += it->verdict == RH_VERDICT_TRUE_RACE;
        report->candidate_count--;
        report->by_ground[it->ground]--;
        if (it->finding)
            rh_evidence_release(it->finding);
    }
    report->candidates.len = kept;
}

bool rh_suppressions_hide_frames(struct rh_suppressions *rules,
                                 const struct rh_symbols_frames *frames, bool is_top)
{
    bool hidden = false;
    rh_vec_each (struct rh_suppressions_file, file, &rules->files) {
        rh_vec_each (struct rh_config_rule, rule, &file->config.rules) {
            size_t count = rule->kind == RH_CONFIG_RACE ? frames->len : is_top && frames->len > 0;
            for (size_t i = 0; is_suppression(rule) && i < count; i++) {
                if (!matches_frame(rule, &frames->data[i]))
                    continue;
                rule->matched++;
                hidden = true;
                break;
            }
        }
    }
    return hidden;
}

void rh_suppressions_add_unused(const struct rh_suppressions *rules, struct rh_strbuf *out)
{
    rh_vec_each (const struct rh_suppressions_file, file, &rules->files)
        rh_vec_each (const struct rh_config_rule, rule, &file->config.rules)
            if (is_suppression(rule) && rule->matched == 0)
                rh_strbuf_addf(out, "%s:%u: %s:%s matched nothing\n", file->path, rule->line,
                               rh_config_kind_name(rule->kind), rule->pattern);
}
