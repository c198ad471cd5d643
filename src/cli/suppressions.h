/* SPDX-License-Identifier: Apache-2.0 */
/* Where commands find suppressions: an option, the environment, a file beside the program. */
#ifndef RH_CLI_SUPPRESSIONS_H
#define RH_CLI_SUPPRESSIONS_H

#include "base/args.h"
#include "report/suppress.h"

struct rh_cli_suppressions {
    const char *path;
    bool off;
};

/* The options of every command that obeys suppressions. */
#define RH_CLI_SUPPRESSIONS(options)                                                               \
    RH_OPTION_STRING("suppressions", &(options)->path, "FILE",                                     \
                     "hide the races that the rules in FILE match"),                               \
        RH_OPTION_FLAG("no-suppressions", &(options)->off, "show what rules would hide")

/* Reads --suppressions=FILE, suppressions=FILE in RACEHIVE_OPTIONS, and PROG.suppressions if it is
 * there; `program` may be NULL. */
enum rh_status rh_cli_read_suppressions(const struct rh_cli_suppressions *options,
                                        const char *program, struct rh_suppressions *rules);

/* Adds those of PROG.suppressions of one more program, if it is there. */
enum rh_status rh_cli_add_suppressions(const struct rh_cli_suppressions *options,
                                       const char *program, struct rh_suppressions *rules);

/* Says on standard error which rules matched nothing. */
void rh_cli_show_unused(const struct rh_suppressions *rules);

#endif
