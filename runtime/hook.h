/* SPDX-License-Identifier: Apache-2.0 */
/* Where every key that is on arrives. */
#ifndef RH_RUNTIME_HOOK_H
#define RH_RUNTIME_HOOK_H

#include "rt.h"

/* Hands the key's armed sites, one by one, to the detector. */
RT_HIDDEN void rt_hook(struct rh_image *image, struct rh_hook_frame *frame);

/* The scout's window whose keys are on, by number, or 0, and the last one that was found to be
 * over. While both are the same, sites that only the scout watches are passed over: their keys will
 * soon be off, and until then they cost next to nothing. Numbers, and not a flag: whoever finds a
 * window over may say so late, and must not mute the next one, in which atomics have to be seen. */
extern RT_HIDDEN _Atomic uint32_t rt_hook_scout_window, rt_hook_scout_over;

/* True when no thread is inside a hook or an event that it entered before the call. Waits a little
 * for those that are; not for the program's threads. */
RT_HIDDEN bool rt_hooks_drain(void);

#endif
