/* SPDX-License-Identifier: Apache-2.0 */
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
#include "base/vec.h"
#include "store/runs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A candidate, and the part of the results that it belongs to: what is kept in one store. */
struct rh_execution_name {
    uint32_t part; /* below RH_MAX_KEYED */
    struct rh_runs_candidate candidate;
    bool is_reversed; /* the later of the two sites is the candidate's first */
};

/* Which images a run had, and which candidate two of their sites are. */
struct rh_execution_namer {
    /* Called once before the others: the RH_MAX_KEYED rows of the run. */
    void (*meet)(void *context, const struct rh_keyed_image *images);
    /* Two sites in the order in which they came, of which one may be of RH_NO_IMAGE, an
     * uninstrumented access: for findings that are of no task. False if there are no such sites. */
    bool (*name)(void *context, struct rh_site_name a, struct rh_site_name b,
                 struct rh_execution_name *name);
    /* The part that an image's own sites belong to. False if there is none. */
    bool (*place)(void *context, uint32_t image, uint32_t *part);
    void *context;
};

/* An image that the run may load; its position is its number in the run. */
struct rh_execution_image {
    const char *build_id; /* lower-case hexadecimal; NULL only of the program: not known */
    uint32_t site_count;
    const uint8_t *wishes; /* enum rh_scout_wish for each site; NULL: none */
};

/* What a run is asked about a candidate, and where its two sites are. */
struct rh_execution_task {
    struct rh_runs_task task;
    struct rh_site_name first, second;
    uint32_t skip; /* executions to let pass before its pause */
};

/* The program is killed if the caller dies before it. */
struct rh_execution_request {
    const char *const *argv; /* NULL-terminated; argv[0] is a path, or looked up in PATH */
    const char *options;     /* more of RACEHIVE_OPTIONS, "" for none; the last word counts */
    const char *detector;
    const struct rh_execution_image *images; /* the program first; RH_MAX_KEYED at most */
    size_t image_count;
    const struct rh_execution_task *tasks;
    size_t task_count;
    uint32_t part;                    /* that the tasks are of */
    const struct rh_runs_pair *pairs; /* of functions that earlier runs have often seen at once */
    size_t pair_count;
    uint32_t longest_pause_us; /* a pause of this length that times out is exhausted */
    int input;                 /* its standard input; -1: the caller's */
    bool is_quiet;             /* its output goes nowhere */
    bool is_apart;             /* in a process group of its own */
    struct rh_execution_namer namer;
};

/* What a run came to, as far as one store keeps it. */
struct rh_execution_part {
    RH_VEC(struct rh_runs_answer) answers; /* to the tasks that are of this part, then to `found` */
    RH_VEC(struct rh_runs_task) found;     /* candidates with findings that were no tasks */
    RH_VEC(struct rh_runs_finding) findings;
    RH_VEC(struct rh_runs_meeting) met; /* by rising id */
    RH_VEC(struct rh_runs_ran) ran;     /* by rising number */
    struct rh_runs_escaped_vec escaped; /* likewise, without fingerprints */
};

/* What a run came to. Release it with rh_execution_ending_release. */
struct rh_execution_ending {
    struct rh_runs_end end;
    struct rh_execution_part parts[RH_MAX_KEYED];
    struct rh_runs_pair_vec pairs; /* of functions that ran at the same time; one may be twice */
    bool started; /* the runtime was there: the program is instrumented and not switched off */
};

struct rh_execution;

/* RH_ERR_NOT_FOUND if there is no such program. */
enum rh_status rh_execution_start(const struct rh_execution_request *request,
                                  struct rh_execution **execution);

struct rh_page;
/* An execution that is over, by the page that its runtime made itself. It takes the page, which is
 * then empty. How the program ended is not known: it counts as 0. */
void rh_execution_of_page(struct rh_page *page, struct rh_execution_namer namer,
                          struct rh_execution **execution);

/* Becomes readable when the program has ended. */
int rh_execution_fd(const struct rh_execution *execution);

/* When the program has ended: whether it has left processes that still run, a daemon for instance.
 * What these find belongs to the run. The caller must be their reaper (PR_SET_CHILD_SUBREAPER). */
bool rh_execution_lingers(struct rh_execution *execution);

/* Nanoseconds since it started. */
uint64_t rh_execution_age(const struct rh_execution *execution);

/* Sends a signal to it, to its whole group if it has one, or to the processes that it has left. */
void rh_execution_signal(const struct rh_execution *execution, int signal);

/* Waits for the end of the program and reads its answers. `hung`: the caller ended it because it
 * did not come to an end. What the findings point to lives until the execution is freed. */
void rh_execution_finish(struct rh_execution *execution, bool hung,
                         struct rh_execution_ending *ending);

void rh_execution_ending_release(struct rh_execution_ending *ending);

/* Frees it; a program that still runs is killed. */
void rh_execution_free(struct rh_execution *execution);

#endif
