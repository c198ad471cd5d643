/*
 * One execution of a program under a control page: starts it with its tasks, and reads what it
 * answered when it has ended, however it did.
 *
 *     status = rh_execution_start(&request, &execution);
 *     ... poll rh_execution_fd(execution) for reading: the program has ended ...
 *     rh_execution_finish(execution, &ending);      // reaps it; answers and races are in `ending`
 *     rh_execution_free(execution);
 */
#ifndef RH_AGENT_EXECUTION_H
#define RH_AGENT_EXECUTION_H

#include "base/status.h"
#include "store/runs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The program is killed if the caller dies before it. */
struct rh_execution_request {
    const char *const *argv; /* NULL-terminated; argv[0] is a path, or looked up in PATH */
    const char *options;     /* more of RACEHIVE_OPTIONS, "" for none; the last word counts */
    const char *detector;
    const char *build_id; /* of the program, lower-case hexadecimal; NULL: not known */
    const struct rh_runs_task *tasks;
    const uint32_t *skips; /* for each task: executions to let pass before its pause */
    /* For each task's two sites: the id of what it may have with an uninstrumented access. NULL:
     * not wanted. */
    const uint64_t (*uninstrumented)[2];
    size_t task_count;
    uint32_t longest_pause_us; /* a pause of this length that times out is exhausted */
    int input;                 /* its standard input; -1: the caller's */
    bool is_quiet;             /* its output goes nowhere */
    bool is_apart;             /* in a process group of its own */
};

struct rh_execution_ending {
    struct rh_runs_end end;
    /* Behind those to the tasks, the answers to what was found beside them. */
    struct rh_runs_answer answers[RH_MAX_TASKS + RH_MAX_FINDINGS];
    struct rh_runs_task found[RH_MAX_FINDINGS];
    size_t found_count;
    struct rh_runs_finding races[RH_MAX_FINDINGS];
    size_t race_count;
    bool started; /* the runtime was there: the program is instrumented and not switched off */
};

struct rh_execution;

/* RH_ERR_NOT_FOUND if there is no such program. */
enum rh_status rh_execution_start(const struct rh_execution_request *request,
                                  struct rh_execution **execution);

/* Becomes readable when the program has ended. */
int rh_execution_fd(const struct rh_execution *execution);

/* Nanoseconds since it started. */
uint64_t rh_execution_age(const struct rh_execution *execution);

/* Whether the order asked for was brought about in this execution so far, or a race happened. */
bool rh_execution_is_steered(const struct rh_execution *execution);

/* Sends a signal to it, to its whole group if it has one. */
void rh_execution_signal(const struct rh_execution *execution, int signal);

/* Waits for the end of the program and reads its answers. `hung`: the caller ended it because it
 * did not come to an end. What the races point to lives until the execution is freed. */
void rh_execution_finish(struct rh_execution *execution, bool hung,
                         struct rh_execution_ending *ending);

/* Frees it; a program that still runs is killed. */
void rh_execution_free(struct rh_execution *execution);

#endif
