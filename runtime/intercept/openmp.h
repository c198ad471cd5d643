/* SPDX-License-Identifier: Apache-2.0 */
/* OpenMP's library (libomp): whether its order is followed. */
#ifndef RH_RUNTIME_INTERCEPT_OPENMP_H
#define RH_RUNTIME_INTERCEPT_OPENMP_H

#include "rt.h"

/* Whether the library has taken us for its tool, so that it tells of regions, barriers and tasks.
 * It does so before it starts its first thread, or not at all. May run in hooks. */
RT_HIDDEN bool rt_openmp_is_followed(void);
/* What tasks with dependences give to when they are complete, and take from when they begin. */
RT_HIDDEN const volatile void *rt_openmp_dependences(void);
/* In the child after fork: the library begins anew there, and may not ask again. */
RT_HIDDEN void rt_openmp_fork_child(void);

#endif
