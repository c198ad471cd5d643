/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a user says of a program beyond its code: the file behind --rh-config.
 *
 * Empty lines and comments, which begin with #, say nothing. Any other line is a rule:
 *
 *     race:PATTERN     no access in a function or file of such a name, or to such a global
 *                      variable, is a site; race_top: means the same
 *     entry:PATTERN    such functions are called by threads that the program's code does not start:
 *                      by a library, a plugin, a script
 *
 * A pattern matches any part of a name. In it, * stands for any characters, and ^ before and $
 * behind it for the name's beginning and end.
 *
 * A comment behind a rule may say until when it holds and why:
 *
 *     race:legacy_log  # until=2027-01-31 why=rewritten in the next release
 *
 * From the day after, the rule no longer applies, and the link says so.
 *
 * These are ThreadSanitizer's suppression files with one kind added. Its other kinds (mutex,
 * signal, deadlock, called_from_lib, and thread with a pattern) are for reports that Racehive does
 * not make, so there is nothing for them to suppress. Kinds that name synchronisation (acquire,
 * release, lock, unlock, and thread with NAME:ARG) are not part of this version and are refused.
 */
#ifndef RH_BASE_CONFIG_H
#define RH_BASE_CONFIG_H

#include "base/status.h"
#include "base/vec.h"

#include <stdbool.h>

enum rh_config_kind {
    RH_CONFIG_RACE,
    RH_CONFIG_ENTRY,
};

struct rh_config_rule {
    enum rh_config_kind kind;
    const char *pattern;
};

struct rh_config {
    char *text; /* what the rules point into */
    RH_VEC(struct rh_config_rule) rules;
    unsigned expired;       /* rules that no longer apply */
    unsigned first_expired; /* the line of the first of them */
};

/* `shown` is the file's name, for messages. A line that is none of the above is RH_ERR_USAGE; the
 * message has the file, the line and what was expected. */
enum rh_status rh_config_parse(struct rh_config *config, const char *text, const char *shown);
void rh_config_release(struct rh_config *config);

bool rh_config_has(const struct rh_config *config, enum rh_config_kind kind);
/* Does a rule of the kind match the name? NULL matches nothing. */
bool rh_config_matches(const struct rh_config *config, enum rh_config_kind kind, const char *name);

#endif
