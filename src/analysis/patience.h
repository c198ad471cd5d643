/*
 * How long the analysis of one program may take. What does not end in time gives up, and the build
 * goes on without candidates: a link that hangs helps nobody.
 */
#ifndef RH_ANALYSIS_PATIENCE_H
#define RH_ANALYSIS_PATIENCE_H

#include <stdbool.h>
#include <time.h>

struct rh_patience {
    double deadline; /* in seconds of processor time, which does not depend on who else works; 0:
                        none */
    bool lost;
};

static inline double rh_patience_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* True once time is up, and from then on. NULL is endless patience. */
static inline bool rh_patience_is_lost(struct rh_patience *p)
{
    if (p && !p->lost && p->deadline > 0)
        p->lost = rh_patience_now() > p->deadline;
    return p && p->lost;
}

#endif
