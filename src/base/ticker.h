/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells who waits at a terminal what takes so long: a progress line (log.h) that appears after two
 * seconds, is renewed every second, and is gone when the work ends.
 *
 * A thread of its own writes it, so that the work need not know about it. One work at a time.
 */
#ifndef RH_BASE_TICKER_H
#define RH_BASE_TICKER_H

/* Begins work on `subject`, which must live until it ends. */
void rh_ticker_begin(const char *subject);
/* What is being done now; the text must live until the next one. */
void rh_ticker_say(const char *what);
/* Ends it; without a begin it does nothing. */
void rh_ticker_end(void);

#endif
