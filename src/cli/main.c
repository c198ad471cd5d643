/* SPDX-License-Identifier: Apache-2.0 */
/* The command `racehive`: finds the subcommand, calls it, reports how it ended. */
#include "base/args.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "cli/cli.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct subcommand {
    const char *name;
    const char *summary;
    enum rh_status (*run)(int argc, char **argv);
} subcommands[] = {
    {"candidates", "list the pairs of accesses that may race", rh_cmd_candidates},
    {"doctor", "say what this machine can do, and what to install", rh_cmd_doctor},
    {"report", "report what the runs of a program have shown", rh_cmd_report},
    {"run", "run a program and find out which candidates are races", rh_cmd_run},
    {"sites", "list the accesses that may touch shared memory", rh_cmd_sites},
    {"symbolize", "put names into the log of a program that was run directly", rh_cmd_symbolize},
    {"test", "run a test suite with a detector in all its processes", rh_cmd_test},
};

#define SUBCOMMAND_COUNT (sizeof subcommands / sizeof subcommands[0])

/* Announced, so that whoever read of them learns that nothing is wrong with the installation. */
static const char *const announced[] = {"hive", "agent", "classify", "sketch"};

int rh_cli_exit_status;

bool rh_cli_coloured(FILE *stream)
{
    const char *term = getenv("TERM");
    return isatty(fileno(stream)) && !getenv("NO_COLOR") && !(term && strcmp(term, "dumb") == 0);
}

static enum rh_status fail_unknown(const char *name)
{
    for (size_t i = 0; i < sizeof announced / sizeof announced[0]; i++)
        if (strcmp(name, announced[i]) == 0)
            return rh_fail(RH_ERR_USAGE, "'%s' is not part of this version (racehive %s)", name,
                           RH_VERSION);
    const char *names[SUBCOMMAND_COUNT + 1] = {0};
    for (size_t i = 0; i < SUBCOMMAND_COUNT; i++)
        names[i] = subcommands[i].name;
    const char *nearest = rh_args_nearest(name, names);
    if (nearest)
        return rh_fail(RH_ERR_USAGE, "unknown subcommand '%s': did you mean '%s'?", name, nearest);
    return rh_fail(RH_ERR_USAGE, "unknown subcommand '%s' (see 'racehive --help')", name);
}

static enum rh_status run_subcommand(int argc, char **argv)
{
    if (argc == 0)
        return rh_fail(RH_ERR_USAGE, "which subcommand? (see 'racehive --help')");
    for (size_t i = 0; i < SUBCOMMAND_COUNT; i++)
        if (strcmp(argv[0], subcommands[i].name) == 0)
            return subcommands[i].run(argc - 1, argv + 1);
    return fail_unknown(argv[0]);
}

bool rh_cli_parse(const struct rh_command *command, int argc, char **argv, struct rh_args *args,
                  enum rh_status *status)
{
    *status = rh_args_parse(command, argc, argv, args);
    if (*status == RH_OK && args->help)
        rh_args_print_help(command, stdout);
    return *status == RH_OK && !args->help;
}

static void print_help(const struct rh_command *command)
{
    struct rh_strbuf text = RH_STRBUF_INIT;
    rh_strbuf_add(&text, "Finds data races in C and C++ programs built with racehive-cc.\n\n"
                         "Subcommands:\n");
    for (size_t i = 0; i < SUBCOMMAND_COUNT; i++)
        rh_strbuf_addf(&text, "  %-10s  %s\n", subcommands[i].name, subcommands[i].summary);
    rh_strbuf_add(&text, "'racehive SUBCOMMAND --help' shows the options of each.");
    struct rh_command complete = *command;
    complete.summary = rh_strbuf_text(&text);
    rh_args_print_help(&complete, stdout);
    rh_strbuf_release(&text);
}

static enum rh_status run(int argc, char **argv)
{
    bool version = false;
    const struct rh_option options[] = {
        RH_OPTION_FLAG("version", &version, "show the version"),
        RH_OPTION_END,
    };
    const struct rh_command command = {
        .name = "racehive",
        .synopsis = "SUBCOMMAND [ARGUMENTS...]",
        .options = options,
        .stop_at_operand = true,
    };
    struct rh_args args;
    enum rh_status status = rh_args_parse(&command, argc, argv, &args);
    if (status != RH_OK)
        return status;
    if (args.help)
        print_help(&command);
    else if (version)
        printf("racehive %s\n", RH_VERSION);
    else
        status = run_subcommand(args.argc, args.argv);
    return status;
}

/* Output counts as written only once the last byte was accepted: a full disk shows here. */
static enum rh_status close_output(void)
{
    bool failed_before = ferror(stdout);
    errno = 0;
    bool failed_now = fclose(stdout) != 0;
    if (failed_now && errno)
        return rh_fail_errno(RH_ERR_IO, "cannot write to standard output");
    if (failed_before || failed_now)
        return rh_fail(RH_ERR_IO, "cannot write to standard output");
    return RH_OK;
}

int main(int argc, char **argv)
{
    /* `racehive ... | head` ends quietly, also below a parent that ignores SIGPIPE. */
    signal(SIGPIPE, SIG_DFL);
    rh_log_set_program("racehive");
    enum rh_status status = run(argc - 1, argv + 1);
    if (status == RH_OK)
        status = close_output();
    if (status != RH_OK)
        rh_log_error("%s", rh_error_text());
    return status == RH_OK ? rh_cli_exit_status : rh_exit_status(status);
}
