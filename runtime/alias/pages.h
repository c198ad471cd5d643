/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every access of every granule of memory that differs from the others in site, thread, locks,
 * bytes or kind: the exact counterpart of scout/recent.h, as large as it becomes.
 *
 * How it works: pages of memory that were touched are found by hash; a page has a list for each of
 * its granules. A page is locked while one of its lists is looked at or changed; the holder calls
 * nothing that waits. What is forgotten is kept for use again.
 */
#ifndef RH_RUNTIME_ALIAS_PAGES_H
#define RH_RUNTIME_ALIAS_PAGES_H

#include "scout/recent.h"

RT_HIDDEN bool rt_alias_start(void);

/* Enters the access, unless its epoch is 0. If it is new, `meet` is called with it and each earlier
 * one that it conflicts with; it must not wait. */
RT_HIDDEN void rt_alias_visit(uintptr_t granule, const struct rt_recent *access,
                              void (*meet)(const struct rt_recent *later,
                                           const struct rt_recent *earlier));
RT_HIDDEN void rt_alias_forget(uintptr_t start, size_t size);
RT_HIDDEN void rt_alias_after_fork(void);

#endif
