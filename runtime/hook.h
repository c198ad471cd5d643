/* SPDX-License-Identifier: Apache-2.0 */
/* Where every key that is on arrives. */
#ifndef RH_RUNTIME_HOOK_H
#define RH_RUNTIME_HOOK_H

#include "rt.h"

/* Hands the key's armed sites, one by one, to the detector. */
RT_HIDDEN void rt_hook(struct rh_image *image, struct rh_hook_frame *frame);

/* Sites that only the scout watches are passed over: its window is over, and their keys will soon be
 * off. Until then they cost next to nothing. */
extern RT_HIDDEN _Atomic bool rt_hook_scout_muted;

/* True when no thread is inside a hook or an event that it entered before the call. Waits a little
 * for those that are; not for the program's threads. */
RT_HIDDEN bool rt_hooks_drain(void);

#endif
