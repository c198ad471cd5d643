/* SPDX-License-Identifier: Apache-2.0 */
/* The run's side of the control page and the event ring (racehive/control.h). */
#ifndef RH_RUNTIME_SHARED_H
#define RH_RUNTIME_SHARED_H

#include "racehive/control.h"
#include "rt.h"

/* Maps the file named by the option; on any trouble says so once and leaves the run without. An
 * empty path is no trouble: the run then keeps what it finds in memory of its own. */
RT_HIDDEN void rt_shared_open(const char *path, const char *folder);
/* NULL only before the start, or if there is no memory. */
RT_HIDDEN struct rh_shared *rt_shared(void);
/* NULL without tasks to follow. */
RT_HIDDEN struct rh_control *rt_control(void);
/* The run has no controller: from now on it follows a control page of its own. */
RT_HIDDEN struct rh_control *rt_shared_control_self(void);
/* The calling process is one of the run's, or is no more. */
RT_HIDDEN void rt_shared_enter(void);
RT_HIDDEN void rt_shared_leave(void);
/* Someone reads what the run writes. */
RT_HIDDEN bool rt_shared_is_read(void);
/* Posts an event; drops and counts it when there is no room. Safe in hooks and signal handlers. */
RT_HIDDEN void rt_post(enum rh_event_kind kind, uint32_t thread, uint64_t a, uint64_t b, uint64_t c,
                       uint64_t d);

#endif
