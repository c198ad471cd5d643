/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What samplers keep of each thread, and the functions of the images by number
 * (racehive/sampled.h).
 *
 * A thread that begins takes over what one that is gone has left, with its counts of calls at zero.
 * Its map of pairs goes on: pairs are known for the whole run.
 */
#ifndef RH_RUNTIME_SAMPLING_THREADS_H
#define RH_RUNTIME_SAMPLING_THREADS_H

#include "racehive/sampled.h"
#include "rt.h"
#include "sampling/pairs.h"

struct rt_image;

struct rt_sampled {
    struct rh_sampled shared;
    int32_t notes[RH_SAMPLED_FUNCTIONS]; /* the sampler's own, by function */
    bool is_busy;                        /* a signal handler that comes now is not sampled */
    uint32_t turn;                       /* where the next look at other threads begins */
    struct rt_pair_map *map;             /* NULL without pairs */
};

extern RT_EXPORT _Thread_local struct rt_sampled *__rh_sampled
    __attribute__((tls_model("initial-exec")));

/* The calling thread begins; it is not sampled, but watched, if there is no memory. `id` tells it
 * from all others. */
RT_HIDDEN void rt_sampled_begin(uint32_t id, bool has_pairs);
RT_HIDDEN void rt_sampled_end(uint32_t id);
/* In the child of a fork. */
RT_HIDDEN void rt_sampled_after_fork(void);
/* Tells the control page of all pairs. */
RT_HIDDEN void rt_sampled_tell(void);
/* Gives the functions of an image their numbers. */
RT_HIDDEN void rt_sampled_image(struct rt_image *image);

/* Calls `visit` for threads other than `self` that are in some function: for 64 at most, and for
 * others the next time. */
RT_HIDDEN void
rt_sampled_each(struct rt_sampled *self,
                void (*visit)(struct rt_sampled *other, uint32_t function, void *arg), void *arg);

#endif
