/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a tool says on standard error: one-line messages and a progress line.
 *
 * Each message is one line, written at once, so that lines of parallel processes do not mix;
 * control characters inside it are made harmless. Colours appear only on a terminal, never when
 * NO_COLOR is set to anything or TERM is "dumb". Safe to call from several threads.
 */
#ifndef RH_BASE_LOG_H
#define RH_BASE_LOG_H

#include "base/status.h"

#include <stdbool.h>

/* The name before every message, "racehive" unless set; the string must outlive the messages. */
void rh_log_set_program(const char *name);
const char *rh_log_program(void);

/* Whether rh_log_step() shows anything; off at first. */
void rh_log_set_verbose(bool verbose);
bool rh_log_verbose(void);

void rh_log_error(const char *fmt, ...) RH_PRINTF(1, 2); /* racehive: error: ... */
void rh_log_warn(const char *fmt, ...) RH_PRINTF(1, 2);  /* racehive: warning: ... */
void rh_log_note(const char *fmt, ...) RH_PRINTF(1, 2);  /* racehive: note: ... */
void rh_log_step(const char *fmt, ...) RH_PRINTF(1, 2);  /* racehive: ..., when verbose */

/*
 * Shows or rewrites the progress line, cut to the terminal's width; does nothing when standard
 * error is not a terminal. Messages push it aside; rh_progress_end() takes it away.
 */
void rh_progress(const char *fmt, ...) RH_PRINTF(1, 2);
void rh_progress_end(void);

#endif
