/* What the wrappers of pthread_cond_wait and of cnd_wait share. */
#ifndef RH_RUNTIME_INTERCEPT_COND_H
#define RH_RUNTIME_INTERCEPT_COND_H

#include <pthread.h>

#include "rt.h"

/* Before a wait; true if the release of the mutex was told. */
RT_HIDDEN bool rt_cond_waiting(const pthread_mutex_t *mutex);
/* After it, with the result as pthread_cond_wait gives it. */
RT_HIDDEN void rt_cond_woken(const void *cond, const pthread_mutex_t *mutex, int result,
                             bool told_unlock);
/* Cleanup handler around it, with the mutex. */
RT_HIDDEN void rt_cond_cancelled(void *mutex);

#endif
