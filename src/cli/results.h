/* SPDX-License-Identifier: Apache-2.0 */
/* How commands that report races end: the files they write, what was lost, the exit status. */
#ifndef RH_CLI_RESULTS_H
#define RH_CLI_RESULTS_H

#include "report/report.h"

/* The value of --exitcode if it is not given. */
#define RH_CLI_NO_EXITCODE UINT64_MAX

/* Writes a report to a file, completely or not at all. */
enum rh_status rh_cli_write_report(const struct rh_report *report, enum rh_report_format format,
                                   const char *path);

/* The same as JSON for all programs of a command. One has the usual form; several are a list. */
enum rh_status rh_cli_write_reports(const struct rh_report *reports, size_t count,
                                    const char *detector, const char *path);

/* Says on standard error what could not be done or kept; nothing is dropped silently. */
void rh_cli_show_losses(const uint64_t *losses);

enum rh_status rh_cli_check_exitcode(uint64_t exitcode);

/* The exit status after a command that found a race or none, and would else end with `otherwise`.
 */
int rh_cli_choose_exit(bool raced, uint64_t exitcode, int otherwise);

#endif
