/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A campaign: many runs of one program, each with the tasks that the pool of one of its images
 * gives it, until the runs or the simulated users that were asked for are through.
 *
 * How it works: a loop keeps as many executions under way as there are jobs, gives each the tasks
 * that the pool assigns and the sites that its scout shall look at, and completes each in the
 * stores of its images when it has ended, with what met in it. A run that does not come to an end
 * is ended. An interrupt stops the loop: executions under way are ended and forgotten, what is
 * complete stays.
 */
#ifndef RH_CAMPAIGN_CAMPAIGN_H
#define RH_CAMPAIGN_CAMPAIGN_H

#include "campaign/process.h"

/* How far a campaign has come. */
struct rh_campaign_progress {
    uint64_t completed;     /* runs */
    uint64_t users_started; /* 0 when runs are counted */
    uint32_t active;        /* runs under way */
    struct rh_pool_counts counts;
};

struct rh_campaign_options {
    const char *const *argv; /* the program and its arguments, NULL-terminated */
    const char *program;     /* its name, for messages */
    const char *detector;
    size_t only;             /* the image that all tasks are of, if not 0 */
    const char *run_options; /* more of RACEHIVE_OPTIONS, "" for none */
    uint64_t runs;           /* 0: by users */
    uint64_t users;
    uint32_t jobs;
    uint32_t longest_pause_us;
    uint64_t time_limit_ns; /* of a run; 0: derived from the first runs */
    bool shows_output;      /* of every run, not only of the first */
    /* Called before each wait when there are many runs; NULL: nobody watches. */
    void (*shows_progress)(const struct rh_campaign_options *options,
                           const struct rh_campaign_progress *progress);
    /* Called when a single run was interrupted at the terminal; true: it hung or did something
     * wrong. NULL: nobody is asked. */
    bool (*misbehaved)(const char *program);
};

struct rh_campaign_result {
    uint64_t completed;
    int exit_status; /* of the first run that did not end well, as a shell shows it; else 0 */
    int interrupted; /* the signal, or 0 */
    uint64_t losses[RH_LOSS_COUNT];
};

enum rh_status rh_campaign_run(struct rh_process *process,
                               const struct rh_campaign_options *options,
                               struct rh_campaign_result *result);

#endif
