/*
 * What a user says of a program beyond its code: the file behind --rh-config.
 *
 * A line is KIND:PATTERN, a comment that begins with #, or empty.
 *
 *     race:PATTERN     no access in a function or file, or to a global variable, with such a name
 * is a site; race_top: means the same entry:PATTERN    such functions are called by threads that
 * the program's code does not start: by a library, a plugin, a script
 *
 * These are ThreadSanitizer's suppression files with one kind added; the kinds that it has for
 * other things than races are taken and mean nothing here. A pattern matches any part of a name; in
 * it * stands for any characters, and ^ before and $ behind it for the name's beginning and end.
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
};

/* `shown` is the file's name, for messages. A line that is none of the above is RH_ERR_INPUT. */
enum rh_status rh_config_parse(struct rh_config *config, const char *text, const char *shown);
void rh_config_release(struct rh_config *config);

bool rh_config_has(const struct rh_config *config, enum rh_config_kind kind);
/* Does a rule of the kind match the name? NULL matches nothing. */
bool rh_config_matches(const struct rh_config *config, enum rh_config_kind kind, const char *name);

#endif
