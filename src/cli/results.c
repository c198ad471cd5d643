/* SPDX-License-Identifier: Apache-2.0 */
/* How commands that report races end: see results.h. */
#include "cli/results.h"

#include "base/fs.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "report/phrases.h"

enum { EXIT_RACE = 66 };

static enum rh_status close_file(struct rh_file *file, enum rh_status status)
{
    if (status == RH_OK)
        return rh_file_commit(file);
    rh_file_abort(file);
    return status;
}

enum rh_status rh_cli_write_report(const struct rh_report *report, enum rh_report_format format,
                                   const char *path)
{
    struct rh_file file;
    enum rh_status status = rh_file_begin(&file, path, 0666);
    if (status != RH_OK)
        return status;
    return close_file(&file, rh_report_write(report, format, file.stream, false));
}

static enum rh_status write_list(const struct rh_report *reports, size_t count,
                                 const char *detector, FILE *out)
{
    enum rh_status status = RH_OK;
    fprintf(out,
            "{\n\"tool\": \"racehive\",\n\"version\": \"" RH_VERSION
            "\",\n\"detector\": \"%s\",\n\"programs\": [\n",
            detector);
    for (size_t i = 0; status == RH_OK && i < count; i++) {
        fputs(i ? ",\n" : "", out);
        status = rh_report_write(&reports[i], RH_REPORT_JSON, out, false);
    }
    fputs("]\n}\n", out);
    return status;
}

enum rh_status rh_cli_write_reports(const struct rh_report *reports, size_t count,
                                    const char *detector, const char *path)
{
    if (count == 1)
        return rh_cli_write_report(&reports[0], RH_REPORT_JSON, path);
    struct rh_file file;
    enum rh_status status = rh_file_begin(&file, path, 0666);
    if (status != RH_OK)
        return status;
    return close_file(&file, write_list(reports, count, detector, file.stream));
}

void rh_cli_show_losses(const uint64_t *losses)
{
    struct rh_strbuf text = RH_STRBUF_INIT;
    rh_phrase_losses(losses, &text);
    if (text.len > 0)
        rh_log_warn("%s (LOSSES in racehive-report(1) says what this means)",
                    rh_strbuf_text(&text));
    rh_strbuf_release(&text);
}

enum rh_status rh_cli_check_exitcode(uint64_t exitcode)
{
    if (exitcode != RH_CLI_NO_EXITCODE && exitcode > 255)
        return rh_fail(RH_ERR_USAGE, "--exitcode must be 0 to 255");
    return RH_OK;
}

int rh_cli_choose_exit(bool raced, uint64_t exitcode, int otherwise)
{
    if (!raced || exitcode == 0)
        return otherwise;
    return exitcode == RH_CLI_NO_EXITCODE ? EXIT_RACE : (int)exitcode;
}
