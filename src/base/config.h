/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a user says of a program beyond its code: the file behind --rh-config, and files of
 * suppressions.
 *
 * Empty lines and comments, which begin with #, say nothing. Any other line is a rule:
 *
 *     race:PATTERN      no race in a function or file of such a name, or on such a global variable,
 *                       is reported. At link time, no access there is a site; in a report, every
 *                       frame of both stacks counts
 *     race_top:PATTERN  the same, but of the stacks only the accesses' own functions count
 *     entry:PATTERN     such functions are called by threads that the program's code does not
 *                       start: by a library, a plugin, a script
 *     acquire:NAME:ARG  a call of NAME has, when it returns, seen all that was done before any
 *     release:NAME:ARG  call of a release on the same object, to which argument ARG points
 *     lock:NAME:ARG     a call of NAME takes the lock to which argument ARG points
 *     unlock:NAME:ARG   a call of NAME gives it back
 *     thread:NAME:ARG   a call of NAME starts a thread in the function that is argument ARG; the
 *                       argument behind it is what the function is called with
 *
 * Functions with NAME:ARG are not inlined. For C++, NAME is the mangled name.
 *
 * A pattern matches any part of a name. In it, * stands for any characters, and ^ before and $
 * behind it for the name's beginning and end. NAME is the whole name of a function; arguments count
 * from 0.
 *
 * A comment behind a rule may say until when it holds and why:
 *
 *     race:legacy_log  # until=2027-01-31 why=rewritten in the next release
 *
 * From the day after, the rule no longer applies, and whoever reads the file says so.
 *
 * These are ThreadSanitizer's suppression files with some kinds added. Its other kinds (mutex,
 * signal, deadlock, called_from_lib, and thread with a pattern) are for reports that Racehive does
 * not make, so there is nothing for them to suppress.
 */
#ifndef RH_BASE_CONFIG_H
#define RH_BASE_CONFIG_H

#include "base/status.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

/* Kinds of rules: enum suffix, name, whether it is NAME:ARG and not a pattern. */
#define RH_CONFIG_KINDS(X)                                                                         \
    X(RACE, "race", false)                                                                         \
    X(RACE_TOP, "race_top", false)                                                                 \
    X(ENTRY, "entry", false)                                                                       \
    X(ACQUIRE, "acquire", true)                                                                    \
    X(RELEASE, "release", true)                                                                    \
    X(LOCK, "lock", true)                                                                          \
    X(UNLOCK, "unlock", true)                                                                      \
    X(THREAD, "thread", true)

enum rh_config_kind {
#define RH_CONFIG_ENUM(id, name, has_argument) RH_CONFIG_##id,
    RH_CONFIG_KINDS(RH_CONFIG_ENUM)
#undef RH_CONFIG_ENUM
        RH_CONFIG_KIND_COUNT
};

struct rh_config_rule {
    enum rh_config_kind kind;
    const char *pattern; /* or the name, for kinds with an argument */
    unsigned argument;
    unsigned line;
    const char *why;   /* or NULL */
    const char *until; /* or NULL */
    uint64_t matched;  /* counted by whoever applies the rule */
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

/* Is it a kind with NAME:ARG? */
bool rh_config_is_named(enum rh_config_kind kind);
const char *rh_config_kind_name(enum rh_config_kind kind);
bool rh_config_has(const struct rh_config *config, enum rh_config_kind kind);
/* Does the rule's pattern match the name? NULL matches nothing. */
bool rh_config_rule_matches(const struct rh_config_rule *rule, const char *name);
/* Does a rule of the kind match the name? */
bool rh_config_matches(const struct rh_config *config, enum rh_config_kind kind, const char *name);

#endif
