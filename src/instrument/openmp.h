/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenMP in a module: leads the calls that order threads through the runtime (racehive/openmp.h),
 * and says whether there are others, whose order nobody would see.
 */
#ifndef RH_INSTRUMENT_OPENMP_H
#define RH_INSTRUMENT_OPENMP_H

#include "ir/ir.h"

/* Whether the module uses functions of OpenMP that neither the runtime nor the library's tool
 * interface follows. With `can_lead` false (a library, or a static program, where the runtime's
 * functions may not be there), none is followed. */
bool rh_openmp_is_opaque(const struct rh_module *m, bool can_lead);

/* Makes the module call the runtime's functions; after the analysis, which knows them by the names
 * they have. */
void rh_openmp_lead(struct rh_module *m);

#endif
