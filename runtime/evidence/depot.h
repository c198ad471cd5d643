/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Witnesses of recent accesses, so that a race shows both stacks: a ring in which the oldest makes
 * room. Whoever comes for a witness that is gone, or is being replaced, does without.
 */
#ifndef RH_RUNTIME_DEPOT_H
#define RH_RUNTIME_DEPOT_H

#include "evidence/witness.h"

RT_HIDDEN bool rt_depot_start(void);

/* Takes down who accesses what from where; the number to come back with, or 0 if there
 * was no slot. */
RT_HIDDEN uint16_t rt_depot_put(const struct rt_thread *self, const struct rt_access *a);

/* Copies the witness of that number if it is still of this site and of some of these bytes. */
RT_HIDDEN bool rt_depot_get(uint16_t number, const struct rh_site_name *site, uintptr_t start,
                            size_t size, struct rt_witness *w);

#endif
