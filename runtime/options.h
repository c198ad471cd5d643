/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options a user gives a program through RACEHIVE_OPTIONS, as `name=value`, separated by
 * colons. One table (options.def) makes the struct, the parser and the help.
 */
#ifndef RH_RUNTIME_OPTIONS_H
#define RH_RUNTIME_OPTIONS_H

#include "rt.h"

struct rt_options {
    bool off; /* RACEHIVE_OPTIONS=off: the runtime does nothing at all */
#define RT_OPTION_TEXT(name, value, help)   const char *name;
#define RT_OPTION_NUMBER(name, value, help) uint64_t name;
#define RT_OPTION_SHARE(name, value, help)  uint64_t name; /* parts per million */
#define RT_OPTION_BOOL(name, value, help)   bool name;
#include "options.def"
};

/* Reads `text` (NULL: none). Names and numbers that make no sense are reported, one line each, and
 * otherwise ignored: a program must not fail to start because of us. Values are kept in memory of
 * our own. */
RT_HIDDEN void rt_options_parse(struct rt_options *options, const char *text);
RT_HIDDEN void rt_options_help(void);

extern RT_HIDDEN struct rt_options rt_options;

#endif
