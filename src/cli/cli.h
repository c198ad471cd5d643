/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the command line share. Each subcommand is one file that owns its options, its
 * help and its entry point; main.c only lists and calls them.
 */
#ifndef RH_CLI_CLI_H
#define RH_CLI_CLI_H

#include "base/args.h"
#include "base/status.h"

#include <stdbool.h>
#include <stdio.h>

/* Entry points take what follows the subcommand's name; main prints the message of a failure. */
enum rh_status rh_cmd_candidates(int argc, char **argv);
enum rh_status rh_cmd_report(int argc, char **argv);
enum rh_status rh_cmd_run(int argc, char **argv);
enum rh_status rh_cmd_sites(int argc, char **argv);
enum rh_status rh_cmd_symbolize(int argc, char **argv);
enum rh_status rh_cmd_doctor(int argc, char **argv);
enum rh_status rh_cmd_test(int argc, char **argv);

/* Parses what follows the name of a subcommand. False if there is nothing more to do: help was
 * asked for and shown, or *status says that the arguments are wrong. */
bool rh_cli_parse(const struct rh_command *command, int argc, char **argv, struct rh_args *args,
                  enum rh_status *status);

/* What racehive exits with after a command that did not fail; 0 unless the command sets it. */
extern int rh_cli_exit_status;

/* Whether to write colours to a stream: a terminal that has them, and nobody said NO_COLOR. */
bool rh_cli_coloured(FILE *stream);

#endif
