/* SPDX-License-Identifier: Apache-2.0 */
/* Applies the rules about functions that synchronise: see rules.h. */
#include "linkstep/rules.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/library.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "ir/rewrite/named.h"

static const struct {
    const char *event;
    bool after, with_next;
} events[RH_CONFIG_KIND_COUNT] = {
    [RH_CONFIG_ACQUIRE] = {"__rh_named_acquire", true, false},
    [RH_CONFIG_RELEASE] = {"__rh_named_release", false, false},
    [RH_CONFIG_LOCK] = {"__rh_named_lock", true, false},
    [RH_CONFIG_UNLOCK] = {"__rh_named_unlock", false, false},
    [RH_CONFIG_THREAD] = {"__rh_named_thread", false, true},
};

/* A lock of which only the name is known does nothing but lock; of other functions anything is
 * assumed. */
static void describe(struct rh_module *m, const struct rh_config_rule *rule)
{
    const struct rh_function *fn = rh_ir_find_function(m, rule->pattern);
    bool is_lock = rule->kind == RH_CONFIG_LOCK || rule->kind == RH_CONFIG_UNLOCK;
    if (fn && !fn->block_count && is_lock && !rh_library_find(rule->pattern))
        rh_library_add("--rh-config", rule->pattern);
}

/* --- functions that are inlined all the same --- */

static const struct rh_config_rule *find_inlined_at(const struct rh_config *config,
                                                    const struct rh_loc *loc)
{
    for (; loc && loc->inlined_at; loc = loc->inlined_at)
        rh_vec_each (const struct rh_config_rule, rule, &config->rules)
            if (rh_config_is_named(rule->kind) && loc->linkage &&
                strcmp(loc->linkage, rule->pattern) == 0)
                return rule;
    return NULL;
}

/* A rule of whose function some calls are not there any more; NULL if there is none. */
static const struct rh_config_rule *find_inlined(const struct rh_module *m,
                                                 const struct rh_config *config)
{
    const struct rh_config_rule *found = NULL;
    for (uint32_t i = 0; !found && i < rh_ir_function_count(m); i++) {
        const struct rh_function *fn = rh_ir_function(m, i);
        for (uint32_t b = 0; b < fn->block_count; b++)
            for (const struct rh_value *it = fn->blocks[b]->first; it && !found; it = it->next)
                found = find_inlined_at(config, it->loc);
    }
    return found;
}

/* --- all of it --- */

static struct rh_named_list list_rules(const struct rh_config *config)
{
    struct rh_named_list list = {rh_calloc(config->rules.len + 1, sizeof *list.rows), 0};
    rh_vec_each (const struct rh_config_rule, rule, &config->rules)
        if (rh_config_is_named(rule->kind))
            list.rows[list.count++] = (struct rh_named){.name = rule->pattern,
                                                        .argument = rule->argument,
                                                        .event = events[rule->kind].event,
                                                        .after = events[rule->kind].after,
                                                        .with_next = events[rule->kind].with_next};
    return list;
}

/* Says why the rules cannot be applied; false if they can. */
static bool is_refused(const struct rh_module *m, const struct rh_config *config,
                       const struct rh_named_list *list, const char *shown)
{
    const struct rh_config_rule *inlined = find_inlined(m, config);
    if (inlined) {
        rh_log_warn("%s:%u: %s is inlined, so no rule about functions that synchronise applies; "
                    "compile with the same --rh-config, and without always_inline at -O0",
                    shown, inlined->line, inlined->pattern);
        return true;
    }
    size_t at = 0;
    rh_vec_each (const struct rh_config_rule, rule, &config->rules) {
        if (!rh_config_is_named(rule->kind) || !list->rows[at++].refused)
            continue;
        rh_log_warn("%s:%u: %s has no pointer as argument %u, or the optimiser has removed it "
                    "because it is always the same, so no rule about functions that synchronise "
                    "applies; __attribute__((used)) keeps a function's arguments",
                    shown, rule->line, rule->pattern, rule->argument);
        return true;
    }
    return false;
}

static void note_matches(struct rh_module *m, const struct rh_config *config,
                         const struct rh_named_list *list, const char *shown)
{
    size_t at = 0;
    rh_vec_each (struct rh_config_rule, rule, &config->rules) {
        if (!rh_config_is_named(rule->kind))
            continue;
        rule->matched = list->rows[at++].wrapped;
        if (!rule->matched)
            rh_log_step("%s:%u: nothing calls %s", shown, rule->line, rule->pattern);
        describe(m, rule);
    }
}

/* All rules apply or none: with a lock but not its unlock, it would seem to be held for good. */
enum rh_status rh_rules_open(const char *path, const struct rh_config *config, const char *shown,
                             struct rh_module **out)
{
    struct rh_named_list list = list_rules(config);
    enum rh_status status = rh_ir_open_named(path, &list, out);
    if (status == RH_OK && list.count && is_refused(*out, config, &list, shown)) {
        rh_ir_close(*out);
        status = rh_ir_open(path, out);
    } else if (status == RH_OK) {
        note_matches(*out, config, &list, shown);
    }
    free(list.rows);
    return status;
}

bool rh_rules_name(const void *config, const char *function)
{
    const struct rh_config *c = config;
    rh_vec_each (const struct rh_config_rule, rule, &c->rules)
        if (rh_config_is_named(rule->kind) && rule->kind != RH_CONFIG_THREAD && rule->matched &&
            rh_named_is(function, rule->pattern))
            return true;
    return false;
}
