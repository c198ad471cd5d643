/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's own options, as words of the command line and as variables of the environment. */
#include "driver/settings.h"

#include "base/config.h"
#include "base/fs.h"
#include "base/strbuf.h"
#include "base/trust.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PREFIX "--rh-"

struct profile_row {
    const char *name;
    bool built;
};

static const struct profile_row profiles[] = {
#define PROFILE_ROW(suffix, name, built) [RH_PROFILE_##suffix] = {name, built},
    RH_PROFILES(PROFILE_ROW)
#undef PROFILE_ROW
};

#define PROFILE_COUNT (sizeof profiles / sizeof profiles[0])

static enum rh_status set_profile(struct rh_settings *settings, const char *value)
{
    for (size_t i = 0; i < PROFILE_COUNT; i++) {
        if (strcmp(profiles[i].name, value) != 0)
            continue;
        settings->profile = (enum rh_profile)i;
        if (profiles[i].built)
            return RH_OK;
        return rh_fail(RH_ERR_USAGE,
                       "profile '%s' is not in this version; use 'production', 'testing' or 'off'",
                       value);
    }
    return rh_fail(RH_ERR_USAGE, "unknown profile '%s'; use 'production', 'testing' or 'off'",
                   value);
}

static enum rh_status set_config(struct rh_settings *settings, const char *value)
{
    settings->config = value;
    return RH_OK;
}

static enum rh_status set_keys(struct rh_settings *settings, const char *value)
{
    if (strcmp(value, "patch") != 0 && strcmp(value, "flag") != 0 && strcmp(value, "none") != 0)
        return rh_fail(RH_ERR_USAGE, "unknown kind of keys '%s'; use 'patch', 'flag' or 'none'",
                       value);
    settings->keys = value;
    return RH_OK;
}

static enum rh_status set_sites(struct rh_settings *settings, const char *value)
{
    if (strcmp(value, "candidates") != 0 && strcmp(value, "all") != 0)
        return rh_fail(RH_ERR_USAGE, "unknown choice of sites '%s'; use 'candidates' or 'all'",
                       value);
    settings->sites = value;
    return RH_OK;
}

static enum rh_status set_trust(struct rh_settings *settings, const char *value)
{
    bool trusts[RH_TRUST_COUNT];
    if (!rh_trust_parse(value, trusts))
        return rh_fail(RH_ERR_USAGE,
                       "unknown trust '%s'; use all, none, no-cxx-library, no-declarations, or a "
                       "list of these two with a comma between",
                       value);
    settings->trust = value;
    return RH_OK;
}

static enum rh_status set_escape(struct rh_settings *settings, const char *value)
{
    if (strcmp(value, "on") != 0 && strcmp(value, "off") != 0)
        return rh_fail(RH_ERR_USAGE, "escape is on or off, not '%s'", value);
    settings->escape = value;
    return RH_OK;
}

static enum rh_status set_analysis_seconds(struct rh_settings *settings, const char *value)
{
    size_t digits = strspn(value, "0123456789");
    bool is_number = value[digits] == '\0' && digits < 8 && strspn(value, "0") < digits;
    if (!is_number)
        return rh_fail(RH_ERR_USAGE, "'%s' is no number of seconds above 0", value);
    settings->analysis_seconds = value;
    return RH_OK;
}

static enum rh_status set_linker(struct rh_settings *settings, const char *value)
{
    settings->linker = value;
    return RH_OK;
}

static enum rh_status set_keep_temps(struct rh_settings *settings, const char *value)
{
    settings->keep_temps = strcmp(value, "0") != 0;
    return RH_OK;
}

static enum rh_status set_verbose(struct rh_settings *settings, const char *value)
{
    settings->verbose = strcmp(value, "0") != 0;
    return RH_OK;
}

static enum rh_status set_help(struct rh_settings *settings, const char *value)
{
    (void)value;
    settings->help = true;
    return RH_OK;
}

const char *rh_settings_profile(const struct rh_settings *settings)
{
    return profiles[settings->profile].name;
}

static const char *get_config(const struct rh_settings *settings)
{
    return settings->config;
}

static const char *get_keys(const struct rh_settings *settings)
{
    return settings->keys;
}

static const char *get_sites(const struct rh_settings *settings)
{
    return settings->sites;
}

static const char *get_trust(const struct rh_settings *settings)
{
    return settings->trust;
}

static const char *get_escape(const struct rh_settings *settings)
{
    return settings->escape;
}

static const char *get_analysis_seconds(const struct rh_settings *settings)
{
    return settings->analysis_seconds;
}

static const char *get_linker(const struct rh_settings *settings)
{
    return settings->linker;
}

static const char *get_keep_temps(const struct rh_settings *settings)
{
    return settings->keep_temps ? "1" : NULL;
}

static const char *get_verbose(const struct rh_settings *settings)
{
    return settings->verbose ? "1" : NULL;
}

/* A row without a word is for the environment alone, one without a variable for the words alone. */
struct setting {
    const char *word;
    const char *variable;
    const char *value_name; /* NULL: a switch */
    enum rh_status (*set)(struct rh_settings *settings, const char *value);
    const char *(*get)(const struct rh_settings *settings);
    const char *help;
};

static const struct setting table[] = {
    {"profile", "RACEHIVE_PROFILE", "NAME", set_profile, rh_settings_profile,
     "production (keys at candidate sites, the default), testing (checks, for fasttrack and its "
     "like) or "
     "off (plain clang)"},
    {"config", "RACEHIVE_CONFIG", "FILE", set_config, get_config,
     "file of suppressions and thread entry points"},
    {"keys", "RACEHIVE_KEYS", "KIND", set_keys, get_keys,
     "patch (code patched at run time, the default), flag (a tested byte), none (to compare with)"},
    {"sites", "RACEHIVE_SITES", "WHICH", set_sites, get_sites,
     "candidates (keys where a race is possible, the default), all (no analysis, keys everywhere)"},
    {"trust", "RACEHIVE_TRUST", "WHICH", set_trust, get_trust,
     "what the search takes for granted: all (the default), none, no-cxx-library (that the C++ "
     "library orders what it does to its own objects), no-declarations (that pointers are what "
     "they "
     "are declared to be)"},
    {"escape", "RACEHIVE_ESCAPE", "on|off", set_escape, get_escape,
     "whether pointer stores have keys, too, which the detector caper needs (on)"},
    {"analysis-seconds", "RACEHIVE_ANALYSIS_SECONDS", "N", set_analysis_seconds,
     get_analysis_seconds,
     "processor time that the search for candidates may take (600); half of it for all detail"},
    {"keep-temps", "RACEHIVE_KEEP_TEMPS", NULL, set_keep_temps, get_keep_temps,
     "keep the intermediate files in PROG.racehive-temps"},
    {"help", NULL, NULL, set_help, NULL, "show these options"},
    {NULL, "RACEHIVE_LINKER", NULL, set_linker, get_linker, NULL},
    {NULL, "RACEHIVE_VERBOSE", NULL, set_verbose, get_verbose, NULL},
};

#define TABLE_COUNT (sizeof table / sizeof table[0])

bool rh_settings_owns(const char *word)
{
    return strncmp(word, PREFIX, strlen(PREFIX)) == 0;
}

enum rh_status rh_settings_read_environment(struct rh_settings *settings)
{
    *settings = (struct rh_settings){
        .profile = RH_PROFILE_PRODUCTION,
        .keys = "patch",
        .sites = "candidates",
        .escape = "on",
        .trust = "all",
    };
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        const char *value = table[i].variable ? getenv(table[i].variable) : NULL;
        if (!value || !*value)
            continue;
        enum rh_status status = table[i].set(settings, value);
        if (status != RH_OK)
            return rh_fail_prefix(status, "%s", table[i].variable);
    }
    return RH_OK;
}

enum rh_status rh_settings_read_word(struct rh_settings *settings, const char *word)
{
    const char *name = word + strlen(PREFIX);
    size_t len = strcspn(name, "=");
    const char *value = name[len] == '=' ? name + len + 1 : NULL;
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        const struct setting *row = &table[i];
        if (!row->word || strlen(row->word) != len || strncmp(row->word, name, len) != 0)
            continue;
        if (row->value_name && (!value || !*value))
            return rh_fail(RH_ERR_USAGE, "%s%s needs a value: %s%s=%s", PREFIX, row->word, PREFIX,
                           row->word, row->value_name);
        if (!row->value_name && value)
            return rh_fail(RH_ERR_USAGE, "%s%s takes no value", PREFIX, row->word);
        return row->set(settings, value ? value : "1");
    }
    return rh_fail(RH_ERR_USAGE, "unknown option '%s'; --rh-help lists the options", word);
}

enum rh_status rh_settings_check(const struct rh_settings *settings)
{
    if (!settings->config)
        return RH_OK;
    if (access(settings->config, R_OK) != 0)
        return rh_fail_errno(RH_ERR_USAGE, "cannot read the configuration %s", settings->config);
    struct rh_strbuf text = RH_STRBUF_INIT;
    struct rh_config config = {0};
    enum rh_status status = rh_fs_read(settings->config, &text);
    if (status == RH_OK)
        status = rh_config_parse(&config, rh_strbuf_text(&text), settings->config);
    rh_config_release(&config);
    rh_strbuf_release(&text);
    return status;
}

void rh_settings_export(const struct rh_settings *settings)
{
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        const char *value = table[i].get ? table[i].get(settings) : NULL;
        if (value)
            setenv(table[i].variable, value, 1);
        else if (table[i].variable)
            unsetenv(table[i].variable);
    }
}

void rh_settings_print_help(const char *program, FILE *out)
{
    fprintf(out,
            "Usage: %s [OPTIONS OF CLANG] [OPTIONS] FILE...\n"
            "Compiles and links as clang does, and puts keys before accesses that may race.\n\n"
            "Options, each with its environment variable:\n",
            program);
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        const struct setting *row = &table[i];
        if (!row->word)
            continue;
        int width = fprintf(out, "  %s%s%s%s", PREFIX, row->word, row->value_name ? "=" : "",
                            row->value_name ? row->value_name : "");
        fprintf(out, "%*s%-21s%s\n", width < 24 ? 24 - width : 1, "",
                row->variable ? row->variable : "", row->help);
    }
}
