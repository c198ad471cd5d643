/*
 * Child processes: run one, wait for it, say how it ended.
 *
 * While a child runs, SIGINT, SIGQUIT, SIGTERM and SIGHUP do not end the tool, so that it can clean
 * up and report: one that came from the terminal has reached the child already, one that was sent
 * to the tool alone is passed on to the child. Signals the tool ignores or handles itself are left
 * alone. Several threads may run children at the same time.
 */
#ifndef RH_BASE_PROC_H
#define RH_BASE_PROC_H

#include "base/status.h"
#include "base/strbuf.h"

#include <stdbool.h>

/* What to run; zero members mean the obvious. */
struct rh_proc {
    const char *const *argv; /* NULL-terminated; argv[0] is looked up in PATH */
    const char *const *env;  /* NULL-terminated "NAME=value", on top of the tool's environment */
    struct rh_strbuf *out;   /* gets the child's standard output; NULL: the tool's own */
    struct rh_strbuf *err;   /* the same for standard error; may be the same strbuf as `out` */
};

/* How it ended. */
struct rh_proc_result {
    int exit_status; /* 0..255, meaningful when signal is 0 */
    int signal;      /* the signal that killed the child, or 0 */
    int interrupted; /* the signal from the list above that the tool got meanwhile, or 0 */
};

/*
 * Runs a child and waits for it. Fails only if it could not be run or its output not be read;
 * RH_ERR_NOT_FOUND if there is no such program. With capture, it also waits until everyone who
 * inherited the captured output has closed it.
 */
enum rh_status rh_proc_run(const struct rh_proc *proc, struct rh_proc_result *result);

/* RH_OK if the child ended with status 0, else RH_ERR_INPUT and a message naming `what`. */
enum rh_status rh_proc_check(const struct rh_proc_result *result, const char *what);

/* The result as a shell shows it: the exit status, or 128 plus the signal. */
int rh_proc_exit_status(const struct rh_proc_result *result);

#endif
