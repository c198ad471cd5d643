/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long the analysis of one program may take. What does not end in time gives up, and the build
 * goes on without candidates: a link that hangs helps nobody.
 */
#ifndef RH_ANALYSIS_DEADLINE_H
#define RH_ANALYSIS_DEADLINE_H

#include <stdbool.h>
#include <time.h>

struct rh_deadline {
    double at;      /* in seconds of processor time, whatever else the machine does; 0: never */
    bool passed;    /* once it was seen to be */
    unsigned asked; /* the clock is a system call: not every question reads it */
};

static inline double rh_deadline_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* True once time is up, and from then on. NULL never passes. */
static inline bool rh_deadline_passed(struct rh_deadline *d)
{
    enum { QUESTIONS = 32 };
    if (d && !d->passed && d->at > 0 && d->asked++ % QUESTIONS == 0)
        d->passed = rh_deadline_now() > d->at;
    return d && d->passed;
}

#endif
