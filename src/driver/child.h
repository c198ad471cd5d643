/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The children of racehive-ld: linkers whose output is held back until it is known to count, and
 * racehive-instrument, which is talked to while a linker runs.
 *
 * Children overlap, and a signal must never end the tool before its temporary files are gone: from
 * rh_child_guard() on, SIGINT, SIGQUIT, SIGTERM and SIGHUP are passed on to the linkers, start no
 * new children, and wait for the tool to end itself with rh_child_end_by_signal().
 *
 * A child that is talked to does not see those signals. It is killed outright as long as it has
 * nothing to clean up; from rh_child_spare() on it is left to notice that its input ends.
 */
#ifndef RH_DRIVER_CHILD_H
#define RH_DRIVER_CHILD_H

#include "base/status.h"
#include "base/strbuf.h"
#include "driver/wordlist.h"

/* How a child ended. */
struct rh_child_end {
    int exit_status; /* 0..255, meaningful when signal is 0 */
    int signal;      /* the signal that killed it, or 0 */
    int interrupted; /* the signal that the tool got meanwhile, or 0 */
};

struct rh_child {
    int place;    /* in the table of children */
    int out, err; /* what it says, held in memory; -1: not held */
    int from, to; /* pipes from its standard output and to its standard input; -1: closed */
};

enum rh_child_mode {
    RH_CHILD_HOLD, /* hold back standard output and standard error */
    RH_CHILD_TALK  /* pipes for standard input and output; hold back standard error */
};

void rh_child_guard(void);

/* The signal that came, or 0. */
int rh_child_interrupted(void);

/* Ends the process by the signal that came; returns if none did. */
void rh_child_end_by_signal(void);

/* Starts a child whose command line is `argv`, which need not end in NULL. */
enum rh_status rh_child_start(struct rh_child *child, const struct rh_wordlist *argv,
                              enum rh_child_mode mode);

/* From now on no signal kills the child: closing its input must end it. */
void rh_child_spare(struct rh_child *child);

/* Adds the next line of a child that is talked to, without its end; RH_ERR_INPUT at the end. */
enum rh_status rh_child_read_line(struct rh_child *child, struct rh_strbuf *line);

/* Sends text to a child that is talked to. */
enum rh_status rh_child_write(struct rh_child *child, const char *text);

/* Closes the pipes, waits for the child's end, and adds what was held to `out` and `err`. */
enum rh_status rh_child_wait(struct rh_child *child, struct rh_child_end *end,
                             struct rh_strbuf *out, struct rh_strbuf *err);

/* RH_OK if the child ended with status 0, else RH_ERR_INPUT and a message naming `what`. */
enum rh_status rh_child_check(const struct rh_child_end *end, const char *what);

/* The end as a shell shows it: the exit status, or 128 plus the signal. */
int rh_child_exit_status(const struct rh_child_end *end);

#endif
