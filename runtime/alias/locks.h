/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of locks by number, for the detector `alias`: threads hold few different ones, so each set
 * is kept once and accesses name it.
 */
#ifndef RH_RUNTIME_ALIAS_LOCKS_H
#define RH_RUNTIME_ALIAS_LOCKS_H

#include "rt.h"

RT_HIDDEN bool rt_alias_locks_start(void);
/* The number of the set that the thread holds now: 0 if it holds none, RT_ALIAS_ANY if it is not
 * known. */
#define RT_ALIAS_ANY UINT32_MAX
RT_HIDDEN uint32_t rt_alias_locks(const struct rt_thread *self);
/* Whether two sets have a lock in common that at least one of the two holds exclusively. */
RT_HIDDEN bool rt_alias_share(uint32_t a, uint32_t b);

#endif
