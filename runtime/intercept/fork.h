/* SPDX-License-Identifier: Apache-2.0 */
/* Forks, and which process we are in. */
#ifndef RH_RUNTIME_INTERCEPT_FORK_H
#define RH_RUNTIME_INTERCEPT_FORK_H

#include "rt.h"

/* Has forks tell us from now on. Before any constructor, so that our handlers run closest to the
 * fork: nothing of the program's runs between rt_fork_before and rt_fork_parent or _child. */
RT_HIDDEN void rt_fork_start(void);

/* False in a child that shares our memory (vfork), or was made without libc: what we hold is the
 * parent's there, and ends with the parent. */
RT_HIDDEN bool rt_fork_is_home(void);
/* The process in which it is true. */
RT_HIDDEN int32_t rt_fork_home(void);

#endif
