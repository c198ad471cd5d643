/*
 * Whether the process may hold synchronisation that we do not see: then that no order was seen
 * between two accesses does not prove that there is none.
 */
#ifndef RH_RUNTIME_OPAQUE_H
#define RH_RUNTIME_OPAQUE_H

#include "racehive/control.h"
#include "rt.h"

/* Notes a reason, for the rest of the run. Safe in hooks and signal handlers. */
RT_HIDDEN void rt_opaque(enum rh_opaque why);
/* The reasons so far, 1 << enum rh_opaque. */
RT_HIDDEN uint32_t rt_opaque_reasons(void);

#endif
