/* SPDX-License-Identifier: Apache-2.0 */
/* OpenMP's library (libomp): what the two files that follow its order share. */
#ifndef RH_RUNTIME_INTERCEPT_OPENMP_H
#define RH_RUNTIME_INTERCEPT_OPENMP_H

#include "rt.h"

/* What tasks with dependences give to when they are complete, and take from when they begin. */
RT_HIDDEN const volatile void *rt_openmp_dependences(void);

#endif
