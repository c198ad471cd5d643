/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the runtime could not do or keep, counted by reason (RH_LOSSES): nothing is dropped
 * silently. The counters are our own until there is shared memory, and the run's from then on.
 */
#ifndef RH_RUNTIME_LOSS_H
#define RH_RUNTIME_LOSS_H

#include "racehive/control.h"
#include "rt.h"

/* RH_LOSS_COUNT counters. */
extern RT_HIDDEN _Atomic uint64_t *_Atomic rt_losses;

/* Safe in hooks, wrappers and signal handlers. */
static inline void rt_lose(enum rh_loss loss)
{
    _Atomic uint64_t *losses = atomic_load_explicit(&rt_losses, memory_order_relaxed);
    atomic_fetch_add_explicit(&losses[loss], 1, memory_order_relaxed);
}

/* From now on they are counted there; what was counted so far is added. Before other threads run.
 */
RT_HIDDEN void rt_losses_move(_Atomic uint64_t *to);

RT_HIDDEN const char *rt_loss_words(enum rh_loss loss);

#endif
