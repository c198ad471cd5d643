/* Reads and applies what users say of their programs: see config.h. */
#include "base/config.h"

#include "base/mem.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    int kind; /* enum rh_config_kind, or -1 for what means nothing here */
} kinds[] = {
    {"race", RH_CONFIG_RACE},
    {"race_top", RH_CONFIG_RACE},
    {"entry", RH_CONFIG_ENTRY},
    {"thread", -1},
    {"mutex", -1},
    {"signal", -1},
    {"deadlock", -1},
    {"called_from_lib", -1},
};

static char *trim(char *line)
{
    while (isspace((unsigned char)*line))
        line++;
    for (char *end = line + strlen(line); end > line && isspace((unsigned char)end[-1]); end--)
        end[-1] = '\0';
    return line;
}

static enum rh_status parse_line(struct rh_config *config, char *line, const char *shown,
                                 unsigned number)
{
    line = trim(line);
    if (!*line || *line == '#')
        return RH_OK;
    char *colon = strchr(line, ':');
    if (!colon || !colon[1])
        return rh_fail(RH_ERR_INPUT, "%s:%u: a line is KIND:PATTERN, not '%s'", shown, number,
                       line);
    *colon = '\0';
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(kinds[i].name, line) != 0)
            continue;
        struct rh_config_rule rule = {(enum rh_config_kind)kinds[i].kind, trim(colon + 1)};
        if (kinds[i].kind >= 0)
            rh_vec_push(&config->rules, rule);
        return RH_OK;
    }
    return rh_fail(RH_ERR_INPUT, "%s:%u: '%s' is no kind of rule: race and entry are", shown,
                   number, line);
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
