/* SPDX-License-Identifier: Apache-2.0 */
/* `racehive report`: tells what runs of a program have shown, for people and for tools. */
#include "base/args.h"
#include "base/fs.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "cli/results.h"
#include "cli/suppressions.h"
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

/* Candidates that no run was asked about, listed up to this length; totals count them all. */
enum { LISTED = 10000 };

/* Races that a text shows in full. */
enum { SHOWN = 10 };

#define STORE_SUFFIX     ".runs"
#define DEFAULT_DETECTOR "racemob"

static const char *const formats[] = {
#define FORMAT_NAME(id, name) [RH_REPORT_##id] = name,
    RH_REPORT_FORMATS(FORMAT_NAME)
#undef FORMAT_NAME
        NULL,
};

struct options {
    const char *format;
    const char *output;
    const char *symbols;
    const char *store;
    const char *detector;
    uint64_t limit;
    bool full;
    struct rh_cli_suppressions suppressions;
};

/* What is to be told of: files found, then opened. */
struct subject {
    const char *program; /* as given; NULL if a store was */
    char *sidecar_path, *store_path;
    struct rh_sidecar *sidecar;
    struct rh_runs *runs;
};

static enum rh_status parse_format(const char *name, enum rh_report_format *format)
{
    for (int i = 0; i < RH_REPORT_FORMAT_COUNT; i++) {
        if (strcmp(name, formats[i]) == 0) {
            *format = (enum rh_report_format)i;
            return RH_OK;
        }
    }
    const char *nearest = rh_args_nearest(name, formats);
    return rh_fail(RH_ERR_USAGE, "there is no format '%s'%s%s%s (text, json, sarif or html)", name,
                   nearest ? ": did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

/* Where SQLite keeps the application_id, big-endian; set when either file is made. */
enum { ID_AT = 68, HEADER_SIZE = 100 };

static bool is_store(const char *path)
{
    size_t len = strlen(path), suffix = strlen(STORE_SUFFIX);
    struct rh_fs_mapping file;
    if (len > suffix && strcmp(path + len - suffix, STORE_SUFFIX) == 0)
        return true;
    if (rh_fs_map(path, &file) != RH_OK)
        return false;
    const unsigned char *bytes = file.data;
    bool is_database = file.len >= HEADER_SIZE && memcmp(bytes, "SQLite format 3", 16) == 0;
    const unsigned char *id = is_database ? bytes + ID_AT : NULL;
    bool found = is_database && ((uint32_t)id[0] << 24 | (uint32_t)id[1] << 16 |
                                 (uint32_t)id[2] << 8 | id[3]) == RH_RUNS_ID;
    rh_fs_unmap(&file);
    return found;
}

static enum rh_status open_store(struct subject *subject)
{
    enum rh_status status = rh_runs_open_existing(subject->store_path, &subject->runs);
    if (status == RH_ERR_NOT_FOUND && subject->program)
        return rh_fail(RH_ERR_NOT_FOUND,
                       "there are no runs of %s yet: make some with 'racehive run %s'",
                       subject->program, subject->program);
    uint64_t count = 0;
    if (status == RH_OK)
        status = rh_runs_count(subject->runs, &count);
    if (status == RH_OK && count == 0)
        status =
            rh_fail(RH_ERR_NOT_FOUND, "no run of %s has ended yet: make some with 'racehive run'",
                    rh_runs_program_of(subject->runs)->name);
    return status;
}

static enum rh_status check_build(const struct subject *subject)
{
    const char *id = rh_sidecar_get_meta(subject->sidecar, RH_SIDECAR_META_BUILD_ID);
    const struct rh_runs_program *program = rh_runs_program_of(subject->runs);
    if (id && strcmp(id, program->build_id) == 0)
        return RH_OK;
    return rh_fail(RH_ERR_INPUT,
                   "the runs in %s are of another build (build id %s) than %s (%s): run the "
                   "program again, or name the right file with --symbols=FILE",
                   subject->store_path, program->build_id, subject->sidecar_path, id ? id : "none");
}

/* From a program to its sidecar to its store. */
static enum rh_status open_program(struct subject *subject, const struct options *options)
{
    enum rh_status status =
        rh_sidecar_find(subject->program, options->symbols, &subject->sidecar_path);
    if (status == RH_OK)
        status = rh_sidecar_open(subject->sidecar_path, &subject->sidecar);
    if (status != RH_OK)
        return status;
    const char *id = rh_sidecar_get_meta(subject->sidecar, RH_SIDECAR_META_BUILD_ID);
    if (options->store)
        subject->store_path = rh_strdup(options->store);
    else if (id)
        status = rh_runs_default_path(id, options->detector, &subject->store_path);
    else
        status = rh_fail(RH_ERR_INPUT, "%s has no build id: name the store with --store=PATH",
                         subject->program);
    if (status == RH_OK)
        status = open_store(subject);
    return status == RH_OK ? check_build(subject) : status;
}

/* The sidecar that a store speaks of: where it was, else the copy of that build. */
static enum rh_status find_sidecar(struct subject *subject, const struct options *options)
{
    const struct rh_runs_program *program = rh_runs_program_of(subject->runs);
    const char *path = options->symbols ? options->symbols : program->sidecar;
    enum rh_status status = rh_sidecar_open(path, &subject->sidecar);
    if (status == RH_OK) {
        subject->sidecar_path = rh_strdup(path);
        status = check_build(subject);
    }
    if (status == RH_OK || options->symbols)
        return status;
    if (subject->sidecar)
        rh_sidecar_close(subject->sidecar);
    subject->sidecar = NULL;
    free(subject->sidecar_path);
    subject->sidecar_path = NULL;
    if (rh_sidecar_find_build(program->build_id, &subject->sidecar_path) != RH_OK)
        return rh_fail(RH_ERR_NOT_FOUND,
                       "the .racehive file of %s is neither at %s nor in the user's data folder: "
                       "name it with --symbols=FILE",
                       program->name, program->sidecar);
    status = rh_sidecar_open(subject->sidecar_path, &subject->sidecar);
    return status == RH_OK ? check_build(subject) : status;
}

static enum rh_status open_subject(struct subject *subject, const struct rh_args *args,
                                   const struct options *options)
{
    const char *operand = args->argc > 0 ? args->argv[0] : options->store;
    if (args->argc > 0 && (options->store || !is_store(operand))) {
        subject->program = operand;
        return open_program(subject, options);
    }
    subject->store_path = rh_strdup(operand);
    enum rh_status status = open_store(subject);
    return status == RH_OK ? find_sidecar(subject, options) : status;
}

static void close_subject(struct subject *subject)
{
    if (subject->runs)
        rh_runs_close(subject->runs);
    if (subject->sidecar)
        rh_sidecar_close(subject->sidecar);
    free(subject->sidecar_path);
    free(subject->store_path);
}

static enum rh_status write_report(const struct rh_report *report, enum rh_report_format format,
                                   const char *output)
{
    if (!output)
        return rh_report_write(report, format, stdout, rh_cli_coloured(stdout));
    return rh_cli_write_report(report, format, output);
}

static enum rh_status run(const struct rh_args *args, const struct options *options)
{
    enum rh_report_format format = RH_REPORT_TEXT;
    enum rh_status status = parse_format(options->format, &format);
    if (status != RH_OK)
        return status;
    if (args->argc > 1 || (args->argc == 0 && !options->store))
        return rh_fail(RH_ERR_USAGE, "%s (see 'racehive report --help')",
                       args->argc == 0 ? "which program, or which store of runs?"
                                       : "one program or store at a time");
    struct subject subject = {0};
    struct rh_report report = {0};
    struct rh_suppressions rules = {0};
    struct rh_report_options wishes = {
        .suppressions = &rules,
        .untried_until = format == RH_REPORT_JSON || format == RH_REPORT_HTML ? LISTED : 0,
        .full = options->full,
        .limit = (size_t)options->limit,
        .command = {.store = options->store,
                    .symbols = options->symbols,
                    .detector = strcmp(options->detector, DEFAULT_DETECTOR) == 0
                                    ? NULL
                                    : options->detector},
    };
    status = open_subject(&subject, args, options);
    wishes.program = subject.program;
    if (status == RH_OK)
        status = rh_cli_read_suppressions(&options->suppressions, subject.program, &rules);
    if (status == RH_OK)
        status = rh_report_load(subject.runs, subject.sidecar, &wishes, &report);
    if (status == RH_OK)
        status = write_report(&report, format, options->output);
    if (status == RH_OK)
        rh_cli_show_unused(&rules);
    rh_suppressions_release(&rules);
    rh_report_release(&report);
    close_subject(&subject);
    return status;
}

enum rh_status rh_cmd_report(int argc, char **argv)
{
    struct options options = {.format = "text", .detector = DEFAULT_DETECTOR, .limit = SHOWN};
    const struct rh_option table[] = {
        RH_OPTION_STRING("format", &options.format, "NAME",
                         "text (the default), json, sarif or html"),
        RH_OPTION_STRING("output", &options.output, "FILE",
                         "write the report to FILE, completely or not at all"),
        RH_OPTION_STRING("symbols", &options.symbols, "FILE",
                         "read sites and candidates from FILE, the program's .racehive file"),
        RH_OPTION_STRING("store", &options.store, "PATH",
                         "read the runs from PATH instead of the user's data folder"),
        RH_OPTION_STRING("detector", &options.detector, "NAME",
                         "report the runs with this detector (default racemob)"),
        RH_OPTION_UINT("limit", &options.limit, "N",
                       "races that a text shows (default 10); 0: all"),
        RH_OPTION_FLAG("full", &options.full,
                       "show every frame of the stacks, and names of C++ in full"),
        RH_CLI_SUPPRESSIONS(&options.suppressions),
        RH_OPTION_END,
    };
    const struct rh_command command = {
        .name = "racehive report",
        .synopsis = "[OPTIONS] [PROG | STORE]",
        .summary =
            "Tells what the runs of PROG, a program built with racehive-cc, have shown of its\n"
            "candidates: each true race with both stacks and its proof, and the verdict on all\n"
            "others. STORE is a file in which 'racehive run' kept the runs.",
        .examples = "  racehive report ./bank\n"
                    "  racehive report --format=html --output=bank.html ./bank\n"
                    "  racehive report --format=sarif --output=races.sarif ./bank\n"
                    "  racehive report --format=json --store=nightly.runs | jq '.totals'",
        .options = table,
    };
    struct rh_args args;
    enum rh_status status;
    return rh_cli_parse(&command, argc, argv, &args, &status) ? run(&args, &options) : status;
}
