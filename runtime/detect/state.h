/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the detectors that work on tasks (racemob, racechaser, litehb) keep of a thread: the struct
 * that `self->detector` points to. It is made of the structs of their parts, so that a detector can
 * combine parts freely; a new part adds its own here. Zeroed when a thread begins.
 */
#ifndef RH_RUNTIME_STATE_H
#define RH_RUNTIME_STATE_H

#include "judge.h"
#include "order.h"
#include "racehive/random.h"
#include "scout/scout.h"

struct rt_state {
    struct rt_knowledge knowledge;     /* order.h */
    struct rt_open_access open_access; /* judge.h */
    struct rt_entered entered;         /* judge.h */
    uint64_t random;                   /* see rt_state_random */
    struct rt_scout scout;             /* scout/scout.h */
    uint64_t visits;                   /* racechaser: of sites where the thread may be paused */
};

static inline struct rt_state *rt_state_of(const struct rt_thread *thread)
{
    return thread->detector;
}

static inline struct rt_knowledge *rt_knowledge_of(const struct rt_thread *thread)
{
    return &rt_state_of(thread)->knowledge;
}

/* The thread's own random numbers; `salt` makes them differ from run to run, if it does. */
static inline uint64_t *rt_state_random(const struct rt_thread *thread, uint64_t salt)
{
    uint64_t *random = &rt_state_of(thread)->random;
    if (!*random)
        *random = rh_random_seed(thread->id ^ salt);
    return random;
}

#endif
