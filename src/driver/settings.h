/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver's own options: one table, read from the environment and from --rh- words, and handed
 * on from racehive-cc through clang to racehive-ld in the environment.
 */
#ifndef RH_DRIVER_SETTINGS_H
#define RH_DRIVER_SETTINGS_H

#include "base/status.h"

#include <stdbool.h>
#include <stdio.h>

/* X(suffix, name, whether this version can build it) */
#define RH_PROFILES(X)                                                                             \
    X(PRODUCTION, "production", true)                                                              \
    X(TESTING, "testing", true)                                                                    \
    X(IFRIT, "ifrit", false)                                                                       \
    X(OFF, "off", true)

enum rh_profile {
#define RH_PROFILE_ENUM(suffix, name, built) RH_PROFILE_##suffix,
    RH_PROFILES(RH_PROFILE_ENUM)
#undef RH_PROFILE_ENUM
};

/* Strings point into the environment or into argv. */
struct rh_settings {
    enum rh_profile profile;
    const char *config;           /* NULL: none */
    const char *keys;             /* "patch", "flag" or "none" */
    const char *sites;            /* "candidates" or "all" */
    const char *trust;            /* what the search takes for granted */
    const char *escape;           /* "on" or "off" */
    const char *analysis_seconds; /* that the search may take; NULL: the default */
    const char *linker; /* the linker that clang would call for the user; NULL: its default */
    bool keep_temps;
    bool verbose;
    bool help;
};

/* Whether a word of the command line is one of ours. */
bool rh_settings_owns(const char *word);

/* The defaults, changed by the environment; an empty variable counts as unset. */
enum rh_status rh_settings_read_environment(struct rh_settings *settings);

/* Takes one word for which rh_settings_owns() holds. */
enum rh_status rh_settings_read_word(struct rh_settings *settings, const char *word);

/* Whether what they name is there and makes sense: the configuration must be as base/config.h has
 * it. */
enum rh_status rh_settings_check(const struct rh_settings *settings);

/* Puts the settings into the environment of the processes to come. */
/* The name of the profile. */
const char *rh_settings_profile(const struct rh_settings *settings);
void rh_settings_export(const struct rh_settings *settings);

void rh_settings_print_help(const char *program, FILE *out);

#endif
