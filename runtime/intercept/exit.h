/* SPDX-License-Identifier: Apache-2.0 */
/* The ends of a process that pass by atexit. */
#ifndef RH_RUNTIME_INTERCEPT_EXIT_H
#define RH_RUNTIME_INTERCEPT_EXIT_H

#include "rt.h"

/* Has quick_exit finish the detector. */
RT_HIDDEN void rt_exit_start(void);

#endif
