/* SPDX-License-Identifier: Apache-2.0 */
/* What the wrappers of pthread_cond_wait and of cnd_wait share. */
#ifndef RH_RUNTIME_INTERCEPT_COND_H
#define RH_RUNTIME_INTERCEPT_COND_H

#include <pthread.h>

#include "rt.h"

/* Not inlined, because a wait with a cleanup handler is a setjmp in C: what the compiler keeps in
 * registers across that would be in doubt. */
#define RT_COND_STEP RT_HIDDEN __attribute__((noinline))

/* Before a wait; true if the release of the mutex was told. */
RT_COND_STEP bool rt_cond_waiting(const void *cond, size_t size, const pthread_mutex_t *mutex,
                                  uintptr_t caller);
/* After it, with the result as pthread_cond_wait gives it. */
RT_COND_STEP void rt_cond_woken(const void *cond, const pthread_mutex_t *mutex, int result,
                                bool told_unlock, uintptr_t caller);
/* Cleanup handler around it, with the mutex. */
RT_HIDDEN void rt_cond_cancelled(void *mutex);

#endif
