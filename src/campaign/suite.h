/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole test suite under a detector that needs no tasks: one command, and every instrumented
 * process that it starts, children of children and short-lived ones too.
 *
 * How it works: the command finds in RACEHIVE_OPTIONS a folder, in which the runtime of each
 * process makes a control page of its own. When the command has ended, each page is read like that
 * of a run and kept in the store of its program.
 */
#ifndef RH_CAMPAIGN_SUITE_H
#define RH_CAMPAIGN_SUITE_H

#include "campaign/process.h"

struct rh_suite_options {
    const char *const *argv; /* the command, NULL-terminated */
    const char *detector;
    const char *store; /* of the first program; others have theirs beside it. NULL: data folder */
};

struct rh_suite_result {
    RH_VEC(struct rh_process *) programs; /* in the order in which they were met */
    uint64_t processes;                   /* that reported */
    uint64_t losses[RH_LOSS_COUNT];
    int exit_status; /* of the command, as a shell has it */
};

/* Runs the command to its end. Release the result also after a failure. */
enum rh_status rh_suite_run(const struct rh_suite_options *options, struct rh_suite_result *result);
void rh_suite_release(struct rh_suite_result *result);

#endif
