/*
 * Many runs of a program with an embedded hive: the work of `racehive run`, without its words.
 *
 * How it works: a loop keeps as many executions under way as there are jobs, gives each the tasks
 * that the pool assigns, and completes each in the store when it has ended. A run that does not
 * come to an end is ended. An interrupt stops the loop: executions under way are ended and
 * forgotten, what is complete stays.
 */
#ifndef RH_CLI_CROWD_H
#define RH_CLI_CROWD_H

#include "hive/pool.h"

struct rh_crowd_options {
    const char *const *argv; /* the program and its arguments, NULL-terminated */
    const char *program;     /* its name, for messages */
    const char *detector;
    const char *build_id;
    const char *run_options; /* more of RACEHIVE_OPTIONS, "" for none */
    uint64_t runs;           /* 0: by users */
    uint64_t users;
    uint32_t jobs;
    uint32_t longest_pause_us;
    uint64_t time_limit_ns; /* of a run; 0: found out by the first ones */
    bool shows_output;      /* of every run, not only of the first */
    bool asks;              /* whoever interrupts a single run, whether it misbehaved */
};

struct rh_crowd_result {
    uint64_t completed;
    int exit_status; /* of the first run that did not end well, as a shell shows it; else 0 */
    int interrupted; /* the signal, or 0 */
    uint64_t losses[RH_LOSS_COUNT];
};

enum rh_status rh_crowd_run(struct rh_pool *pool, struct rh_runs *runs,
                            const struct rh_crowd_options *options, struct rh_crowd_result *result);

#endif
