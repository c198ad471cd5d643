/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and applies what users say of their programs: see config.h. */
#include "base/config.h"

#include "base/mem.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Most arguments that a call is looked at for, as in the language of library models. */
enum { MOST_ARGUMENTS = 10 };

static const struct {
    const char *name;
    bool has_argument;
} kinds[RH_CONFIG_KIND_COUNT] = {
#define KIND(id, name, has_argument) [RH_CONFIG_##id] = {name, has_argument},
    RH_CONFIG_KINDS(KIND)
#undef KIND
};

/* ThreadSanitizer's kinds for reports other than races: nothing to suppress. */
static const char *const others[] = {"mutex", "signal", "deadlock", "called_from_lib"};

#define EXPECTED                                                                                   \
    "expected race:PATTERN, race_top:PATTERN, entry:PATTERN, or acquire, release, lock, unlock "   \
    "or thread with :NAME:ARG"

const char *rh_config_kind_name(enum rh_config_kind kind)
{
    return kinds[kind].name;
}

bool rh_config_is_named(enum rh_config_kind kind)
{
    return kinds[kind].has_argument;
}

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

static bool is_for_other_reports(const char *name, const char *value)
{
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcmp(name, others[i]) == 0)
            return true;
    /* With a pattern, it is ThreadSanitizer's rule about threads that leak. */
    return strcmp(name, "thread") == 0 && !strchr(value, ':');
}

static enum rh_status find_kind(const char *name, enum rh_config_kind *kind)
{
    for (*kind = 0; *kind < RH_CONFIG_KIND_COUNT; (*kind)++)
        if (strcmp(kinds[*kind].name, name) == 0)
            return RH_OK;
    return rh_fail(RH_ERR_USAGE, EXPECTED "; '%s' is no kind of rule", name);
}

/* Takes the number behind NAME: off the rule's value. */
static enum rh_status parse_argument(struct rh_config_rule *rule, char *value)
{
    char *colon = strrchr(value, ':'), *end = NULL;
    unsigned long number = colon ? strtoul(colon + 1, &end, 10) : 0;
    if (!colon || colon == value || !isdigit((unsigned char)colon[1]) || *end ||
        number >= MOST_ARGUMENTS)
        return rh_fail(
            RH_ERR_USAGE,
            "expected %s:NAME:ARG, where ARG is the number of an argument, from 0 to %d, "
            "not '%s'",
            kinds[rule->kind].name, MOST_ARGUMENTS - 1, value);
    *colon = '\0';
    rule->argument = (unsigned)number;
    return RH_OK;
}

/* What a comment says behind a word such as "why=", up to the next blank or the end; NULL if it
 * does not. */
static const char *find_word(char *comment, const char *word, bool to_end)
{
    char *at = comment ? strstr(comment, word) : NULL;
    if (!at)
        return NULL;
    at += strlen(word);
    if (!to_end)
        at[strcspn(at, " \t")] = '\0';
    return trim(at);
}

static enum rh_status parse_rule(struct rh_config *config, char *line, unsigned number)
{
    char *comment = cut_comment(line), *colon = strchr(line, ':');
    bool over = false;
    if (!colon || !*trim(colon + 1))
        return rh_fail(RH_ERR_USAGE, EXPECTED ", not '%s'", trim(line));
    *colon = '\0';
    char *value = trim(colon + 1);
    struct rh_config_rule rule = {.pattern = value, .line = number};
    if (is_for_other_reports(line, value))
        return RH_OK;
    enum rh_status status = find_kind(line, &rule.kind);
    if (status == RH_OK && kinds[rule.kind].has_argument)
        status = parse_argument(&rule, value);
    if (status == RH_OK)
        status = is_over(comment, &over);
    if (status != RH_OK)
        return status;
    rule.why = find_word(comment, "why=", true);
    rule.until = find_word(comment, "until=", false);
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

bool rh_config_rule_matches(const struct rh_config_rule *rule, const char *name)
{
    return name && *name && matches(rule->pattern, name);
}

bool rh_config_matches(const struct rh_config *config, enum rh_config_kind kind, const char *name)
{
    rh_vec_each (const struct rh_config_rule, rule, &config->rules)
        if (rule->kind == kind && rh_config_rule_matches(rule, name))
            return true;
    return false;
}
