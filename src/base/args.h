/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table-driven parser for the options of one command, and the help made from the same table.
 *
 *     bool json = false;
 *     uint64_t runs = 1;
 *     const struct rh_option options[] = {
 *         RH_OPTION_FLAG("json", &json, "print JSON"),
 *         RH_OPTION_UINT("runs", &runs, "N", "execute the program N times"),
 *         RH_OPTION_END,
 *     };
 *     const struct rh_command command = {
 *         .name = "racehive run",
 *         .synopsis = "[OPTIONS] PROG [ARGS...]",
 *         .summary = "Runs a program under a detector.",
 *         .options = options,
 *         .stop_at_operand = true,
 *     };
 *     struct rh_args args;
 *     status = rh_args_parse(&command, argc - 1, argv + 1, &args);
 *     if (status == RH_OK && args.help)
 *         rh_args_print_help(&command, stdout);
 *
 * Understood: --name, --name=value, --name value, -h and --help; "--" ends the options; "-" is an
 * operand. The last of repeated options wins. Targets keep their value, the default, when their
 * option is absent.
 */
#ifndef RH_BASE_ARGS_H
#define RH_BASE_ARGS_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum rh_option_kind {
    RH_OPTION_KIND_FLAG,   /* bool, set to true */
    RH_OPTION_KIND_STRING, /* const char *, pointing into argv */
    RH_OPTION_KIND_UINT,   /* uint64_t, decimal */
    RH_OPTION_KIND_DOUBLE  /* double, finite */
};

struct rh_option {
    const char *name; /* without the dashes */
    enum rh_option_kind kind;
    void *target;
    const char *value_name; /* what help calls the value; NULL for flags */
    const char *help;
};

/* Rows of the table; the conditional makes the compiler check the target's type. */
#define RH_OPTION_TARGET(T, target) (1 ? (target) : (T *)0)
#define RH_OPTION_FLAG(name, target, help)                                                         \
    {                                                                                              \
        (name), RH_OPTION_KIND_FLAG, RH_OPTION_TARGET(bool, target), NULL, (help)                  \
    }
#define RH_OPTION_STRING(name, target, value_name, help)                                           \
    {                                                                                              \
        (name), RH_OPTION_KIND_STRING, RH_OPTION_TARGET(const char *, target), (value_name),       \
            (help)                                                                                 \
    }
#define RH_OPTION_UINT(name, target, value_name, help)                                             \
    {                                                                                              \
        (name), RH_OPTION_KIND_UINT, RH_OPTION_TARGET(uint64_t, target), (value_name), (help)      \
    }
#define RH_OPTION_DOUBLE(name, target, value_name, help)                                           \
    {                                                                                              \
        (name), RH_OPTION_KIND_DOUBLE, RH_OPTION_TARGET(double, target), (value_name), (help)      \
    }
#define RH_OPTION_END                                                                              \
    {                                                                                              \
        NULL, RH_OPTION_KIND_FLAG, NULL, NULL, NULL                                                \
    }

/* A command as its options and its help see it. */
struct rh_command {
    const char *name;     /* "racehive sites" */
    const char *synopsis; /* "PROG [--json]" */
    const char *summary;  /* a sentence or more, may be NULL */
    const char *examples; /* lines shown as they are, the last without a newline; or NULL */
    const struct rh_option *options; /* ends with RH_OPTION_END; may be NULL */
    bool stop_at_operand; /* the first operand and all behind it belong to someone else */
};

/* What is left when the options are taken: operands in their order, at the front of argv. */
struct rh_args {
    int argc;
    char **argv;
    bool help; /* -h or --help was given: nothing behind it was looked at */
};

/*
 * Parses `argv[0..argc)`, which does not include the command's name, and reorders it; operands end
 * with NULL, for which argv[argc] must be there. An unknown option, a missing, superfluous or
 * malformed value is RH_ERR_USAGE.
 */
enum rh_status rh_args_parse(const struct rh_command *command, int argc, char **argv,
                             struct rh_args *args);

void rh_args_print_help(const struct rh_command *command, FILE *out);

/* The name most like `word`, or NULL if none is near enough to be meant; names end with NULL. */
const char *rh_args_nearest(const char *word, const char *const *names);

#endif
