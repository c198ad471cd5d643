/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The number of an instrumented image in the run: its row in the shared memory
 * (racehive/control.h), found by its build id. All processes of a run share the rows, and no row is
 * ever given to another build: so a number says which image a site is of, whatever was loaded and
 * unloaded where.
 */
#ifndef RH_RUNTIME_STACK_NUMBERS_H
#define RH_RUNTIME_STACK_NUMBERS_H

#include <link.h>

#include "rt.h"

/* The row of an image, entered if it is new; RH_NO_IMAGE if it has no build id, or there is no
 * room. The program that a run begins with needs no build id. Not in hooks. */
RT_HIDDEN uint32_t rt_number_of(const struct dl_phdr_info *info, bool is_executable,
                                uint32_t site_count);

#endif
