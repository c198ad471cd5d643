/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and applies what users say of their programs: see config.h. */
#include "base/config.h"

#include "base/mem.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    SUPPRESSES_NOTHING = -1, /* a kind of ThreadSanitizer's for other reports than races */
    UNSUPPORTED = -2,        /* a kind that this version cannot honour */
};

static const struct {
    const char *name;
    int kind; /* enum rh_config_kind, or one of the above */
} kinds[] = {
    {"race", RH_CONFIG_RACE},
    {"race_top", RH_CONFIG_RACE},
    {"entry", RH_CONFIG_ENTRY},
    {"thread", SUPPRESSES_NOTHING},
    {"mutex", SUPPRESSES_NOTHING},
    {"signal", SUPPRESSES_NOTHING},
    {"deadlock", SUPPRESSES_NOTHING},
    {"called_from_lib", SUPPRESSES_NOTHING},
    {"acquire", UNSUPPORTED},
    {"release", UNSUPPORTED},
    {"lock", UNSUPPORTED},
    {"unlock", UNSUPPORTED},
};
enum { KIND_COUNT = sizeof kinds / sizeof kinds[0] };

static char *trim(char *line)
{
    while (isspace((unsigned char)*line))
        line++;
    for (char *end = line + strlen(line); end > line && isspace((unsigned char)end[-1]); end--)
        end[-1] = '\0';
    return line;
}

/* Cuts the comment off a rule, if it has one: a # behind a blank. A # in a name stays. */
static char *cut_comment(char *line)
{
    for (char *at = line; *at; at++)
        if (*at == '#' && at > line && isspace((unsigned char)at[-1])) {
            *at = '\0';
            return at + 1;
        }
    return NULL;
}

/* Is the date that the comment names over? RH_ERR_USAGE if it names one that is none. */
static enum rh_status is_over(const char *comment, bool *over)
{
    const char *until = comment ? strstr(comment, "until=") : NULL;
    struct tm now, date = {0};
    time_t seconds = time(NULL);
    *over = false;
    if (!until)
        return RH_OK;
    const char *end = strptime(until + strlen("until="), "%Y-%m-%d", &date);
    if (!end || (*end && !isspace((unsigned char)*end)))
        return rh_fail(RH_ERR_USAGE, "until= needs a date such as until=2027-01-31");
    gmtime_r(&seconds, &now);
    int today = (now.tm_year * 12 + now.tm_mon) * 31 + now.tm_mday;
    *over = today > (date.tm_year * 12 + date.tm_mon) * 31 + date.tm_mday;
    return RH_OK;
}

static enum rh_status find_kind(const char *name, const char *value, int *kind)
{
    for (size_t i = 0; i < KIND_COUNT; i++) {
        if (strcmp(kinds[i].name, name) != 0)
            continue;
        bool names_argument = strcmp(name, "thread") == 0 && strchr(value, ':');
        if (kinds[i].kind == UNSUPPORTED || names_argument)
            return rh_fail(RH_ERR_USAGE,
                           "'%s:' rules are not part of this version; use RH_HAPPENS_BEFORE and "
                           "RH_HAPPENS_AFTER in the code",
                           name);
        *kind = kinds[i].kind;
        return RH_OK;
    }
    return rh_fail(RH_ERR_USAGE, "expected race:PATTERN or entry:PATTERN; '%s' is no kind of rule",
                   name);
}

static enum rh_status parse_rule(struct rh_config *config, char *line, unsigned number)
{
    char *comment = cut_comment(line), *colon = strchr(line, ':');
    bool over = false;
    int kind = 0;
    if (!colon || !*trim(colon + 1))
        return rh_fail(RH_ERR_USAGE, "expected race:PATTERN or entry:PATTERN, not '%s'",
                       trim(line));
    *colon = '\0';
    struct rh_config_rule rule = {.pattern = trim(colon + 1)};
    enum rh_status status = find_kind(line, rule.pattern, &kind);
    if (status == RH_OK)
        status = is_over(comment, &over);
    if (status != RH_OK || kind == SUPPRESSES_NOTHING)
        return status;
    rule.kind = (enum rh_config_kind)kind;
    if (!over)
        rh_vec_push(&config->rules, rule);
    else if (config->expired++ == 0)
        config->first_expired = number;
    return RH_OK;
}

static enum rh_status parse_line(struct rh_config *config, char *line, const char *shown,
                                 unsigned number)
{
    line = trim(line);
    if (!*line || *line == '#')
        return RH_OK;
    enum rh_status status = parse_rule(config, line, number);
    if (status != RH_OK)
        return rh_fail(status, "%s:%u: %s", shown, number, rh_error_text());
    return RH_OK;
}

enum rh_status rh_config_parse(struct rh_config *config, const char *text, const char *shown)
{
    *config = (struct rh_config){.text = rh_strdup(text)};
    unsigned number = 1;
    for (char *line = config->text, *next; line; line = next, number++) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        enum rh_status status = parse_line(config, line, shown, number);
        if (status != RH_OK) {
            rh_config_release(config);
            return status;
        }
    }
    return RH_OK;
}

void rh_config_release(struct rh_config *config)
{
    rh_vec_free(&config->rules);
    free(config->text);
    *config = (struct rh_config){0};
}

bool rh_config_has(const struct rh_config *config, enum rh_config_kind kind)
{
    rh_vec_each (const struct rh_config_rule, rule, &config->rules)
        if (rule->kind == kind)
            return true;
    return false;
}

/* Does the pattern match from here on? Only * needs a second try: the last one that was met. */
static bool matches_here(const char *pattern, const char *name)
{
    const char *after_star = NULL, *retry = NULL;
    for (;;) {
        if (!*pattern || (pattern[0] == '$' && !pattern[1] && !*name))
            return true;
        if (*pattern == '*') {
            after_star = ++pattern;
            retry = name;
        } else if (*name && *pattern == *name) {
            pattern++;
            name++;
        } else if (after_star && *retry) {
            pattern = after_star;
            name = ++retry;
        } else {
            return false;
        }
    }
}

static bool matches(const char *pattern, const char *name)
{
    if (*pattern == '^')
        return matches_here(pattern + 1, name);
    for (;; name++) {
        if (matches_here(pattern, name))
            return true;
        if (!*name)
            return false;
    }
}

bool rh_config_matches(const struct rh_config *config, enum rh_config_kind kind, const char *name)
{
    if (!name || !*name)
        return false;
    rh_vec_each (const struct rh_config_rule, rule, &config->rules)
        if (rule->kind == kind && matches(rule->pattern, name))
            return true;
    return false;
}
