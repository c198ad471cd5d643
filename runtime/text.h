/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of text without libc's printf, and where they go: the log the user asked for, or standard
 * error. Usable in signal handlers and in a process that is about to die.
 */
#ifndef RH_RUNTIME_TEXT_H
#define RH_RUNTIME_TEXT_H

#include "rt.h"

/* A line being made. What does not fit is cut. */
struct rt_line {
    size_t length;
    char bytes[480];
};

RT_HIDDEN void rt_line_text(struct rt_line *line, const char *text);
RT_HIDDEN void rt_line_number(struct rt_line *line, uint64_t number);
RT_HIDDEN void rt_line_hex(struct rt_line *line, uint64_t number);

/* Adds the line to the log (log_path.PID), prefixed "racehive: ". A log that cannot be opened is
 * reported once on standard error, which then takes its place. */
RT_HIDDEN void rt_log(struct rt_line *line);
/* The same for many lines: a descriptor for rt_log_line, to be closed by rt_log_close. Not kept
 * longer: the program may close it (daemons close all) and reuse its number for a file of its own.
 */
RT_HIDDEN int rt_log_open(void);
RT_HIDDEN void rt_log_line(int log, struct rt_line *line);
RT_HIDDEN void rt_log_close(int log);
/* A plain message. */
RT_HIDDEN void rt_say(const char *text);
/* The same on standard error, whatever the log: for trouble with the options themselves. */
RT_HIDDEN void rt_complain(const char *before, const char *what, const char *after);
RT_HIDDEN bool rt_equal(const char *a, const char *b);
RT_HIDDEN size_t rt_length(const char *text);

#endif
