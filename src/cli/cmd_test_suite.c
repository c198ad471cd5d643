/* SPDX-License-Identifier: Apache-2.0 */
/* `racehive test`: a whole test suite under a detector, and one report of all its processes. */
#include "base/args.h"
#include "base/log.h"
#include "campaign/suite.h"
#include "cli/cli.h"
#include "cli/results.h"
#include "cli/suppressions.h"
#include "racehive/detectors.h"
#include "report/report.h"
#include "report/table.h"

#include <inttypes.h>
#include <string.h>

enum { LISTED = 10000 };

struct options {
    const char *detector, *store, *json;
    uint64_t exitcode;
    struct rh_cli_suppressions suppressions;
};

struct report_vec RH_VEC_BODY(struct rh_report);

static enum rh_status check_options(const struct options *o)
{
    for (size_t i = 0; i < RH_DETECTOR_COUNT; i++)
        if (rh_detectors[i].work == RH_WORK_FIND && strcmp(rh_detectors[i].name, o->detector) == 0)
            return RH_OK;
    return rh_fail(RH_ERR_USAGE,
                   "no detector '%s' for test suites in this version; use fasttrack, literace or "
                   "atexrace",
                   o->detector);
}

/* --- reports --- */

/* The rules of the command, and those of all its programs. */
static enum rh_status read_suppressions(const struct options *o,
                                        const struct rh_suite_result *result,
                                        struct rh_suppressions *rules)
{
    enum rh_status status = rh_cli_read_suppressions(&o->suppressions, NULL, rules);
    for (size_t p = 0; p < result->programs.len && status == RH_OK; p++)
        status = rh_cli_add_suppressions(&o->suppressions,
                                         rh_process_at(result->programs.data[p], 0)->path, rules);
    return status;
}

/* Of each image of each program. */
static enum rh_status load_reports(const struct rh_suite_result *result,
                                   struct rh_suppressions *rules, struct report_vec *reports)
{
    for (size_t p = 0; p < result->programs.len; p++) {
        const struct rh_process *process = result->programs.data[p];
        for (size_t i = 0; i < rh_process_count(process); i++) {
            const struct rh_process_image *image = rh_process_at(process, i);
            if (image->why_not)
                continue;
            const struct rh_report_options options = {
                .untried_until = LISTED,
                .program = rh_process_at(process, 0)->path,
                .library = i ? image->path : NULL,
                .suppressions = rules,
            };
            struct rh_report made = {0};
            enum rh_status status = rh_report_load(image->runs, image->sidecar, &options, &made);
            rh_report_keep_true_races(&made);
            rh_vec_push(reports, made);
            if (status != RH_OK)
                return status;
        }
    }
    return RH_OK;
}

static void print_reports(const struct report_vec *reports, uint64_t processes, uint64_t *races)
{
    bool coloured = rh_cli_coloured(stdout);
    uint64_t hidden = 0;
    *races = 0;
    for (size_t i = 0; i < reports->len; i++) {
        const struct rh_report *r = &reports->data[i];
        *races += r->candidates.len;
        hidden += r->suppressed_races;
        if (r->candidates.len)
            rh_report_write(r, RH_REPORT_TEXT, stdout, coloured);
    }
    printf("racehive: %" PRIu64 " instrumented %s, %" PRIu64 " true %s", processes,
           rh_table_choose(processes, "process", "processes"), *races,
           rh_table_choose(*races, "race", "races"));
    if (hidden)
        printf(", %" PRIu64 " more hidden by suppressions", hidden);
    printf("\n");
}

/* --- the command --- */

static enum rh_status conclude(const struct options *o, const struct rh_suite_result *result)
{
    struct report_vec reports = RH_VEC_INIT;
    struct rh_suppressions rules = {0};
    uint64_t races = 0;
    enum rh_status status = read_suppressions(o, result, &rules);
    if (status == RH_OK)
        status = load_reports(result, &rules, &reports);
    if (status == RH_OK)
        print_reports(&reports, result->processes, &races);
    if (status == RH_OK && o->json)
        status = rh_cli_write_reports(reports.data, reports.len, o->detector, o->json);
    rh_cli_show_losses(result->losses);
    if (status == RH_OK)
        rh_cli_show_unused(&rules);
    if (status == RH_OK && !result->processes)
        rh_log_warn("no process of the command is instrumented: build it with racehive-cc "
                    "--rh-profile=testing");
    rh_vec_each (struct rh_report, r, &reports)
        rh_report_release(r);
    rh_vec_free(&reports);
    rh_suppressions_release(&rules);
    rh_cli_exit_status = rh_cli_choose_exit(races > 0, o->exitcode, result->exit_status);
    return status;
}

static enum rh_status test(const struct rh_args *args, const struct options *o)
{
    if (args->argc == 0)
        return rh_fail(RH_ERR_USAGE, "which command? (see 'racehive test --help')");
    enum rh_status status = check_options(o);
    if (status == RH_OK)
        status = rh_cli_check_exitcode(o->exitcode);
    if (status != RH_OK)
        return status;
    const struct rh_suite_options options = {
        .argv = (const char *const *)args->argv, .detector = o->detector, .store = o->store};
    struct rh_suite_result result;
    status = rh_suite_run(&options, &result);
    if (status == RH_OK)
        status = conclude(o, &result);
    rh_suite_release(&result);
    return status;
}

enum rh_status rh_cmd_test(int argc, char **argv)
{
    struct options options = {.detector = "fasttrack", .exitcode = RH_CLI_NO_EXITCODE};
    const struct rh_option table[] = {
        RH_OPTION_STRING("detector", &options.detector, "NAME",
                         "fasttrack (default), literace or atexrace"),
        RH_OPTION_STRING("store", &options.store, "PATH",
                         "keep the results in PATH instead of the user's data folder"),
        RH_OPTION_STRING("json", &options.json, "FILE", "write the report as JSON to FILE"),
        RH_CLI_SUPPRESSIONS(&options.suppressions),
        RH_OPTION_UINT("exitcode", &options.exitcode, "N",
                       "exit status if there is a true race (default 66); 0: the command's"),
        RH_OPTION_END,
    };
    const struct rh_command command = {
        .name = "racehive test",
        .synopsis = "[OPTIONS] -- COMMAND...",
        .summary =
            "Runs COMMAND, such as a test suite, with a detector in every process of it that "
            "was\nbuilt with racehive-cc --rh-profile=testing, and reports all races at the "
            "end.",
        .examples = "  racehive test -- make check\n"
                    "  racehive test --json=races.json -- ./run-tests --fast",
        .options = table,
        .stop_at_operand = true,
    };
    struct rh_args args;
    enum rh_status status;
    return rh_cli_parse(&command, argc, argv, &args, &status) ? test(&args, &options) : status;
}
