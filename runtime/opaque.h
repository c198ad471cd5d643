/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why this process may hold synchronisation that is not seen (the reasons of control.h): then it is
 * no proof of a race that two accesses seem unordered.
 */
#ifndef RH_RUNTIME_OPAQUE_H
#define RH_RUNTIME_OPAQUE_H

#include "racehive/control.h"
#include "rt.h"

/* Notes a reason, for good. May run anywhere. */
RT_HIDDEN void rt_opaque(enum rh_opaque why);
/* The reasons so far, 1 << enum rh_opaque. May run in hooks. */
RT_HIDDEN uint32_t rt_opaque_reasons(void);

/* Whether OpenMP's library, if there is one, has taken us for its tool and tells of all that it
 * does: it does so before it starts its first thread, or never. */
RT_HIDDEN void rt_opaque_follow_openmp(bool all);
/* Is the code at that address LLVM's OpenMP? */
RT_HIDDEN bool rt_opaque_is_openmp(uintptr_t code);

/* An image gives memory back by functions that are not seen (RH_IMAGE_FREES). */
RT_HIDDEN void rt_opaque_frees(void);

/* Notes LIBRARY if a library is loaded that neither has keys nor is known to leave synchronisation
 * to the functions we wrap. Not in hooks or signal handlers: it calls dl_iterate_phdr. */
RT_HIDDEN void rt_opaque_check_images(void);
/* The calling thread is about to load a library. Nobody tells us when it has, so LIBRARY holds
 * until the thread next checks, unless the name is known to be harmless. */
RT_HIDDEN void rt_opaque_loading(const char *path);
/* The calling thread is not loading anything now: it checks what it has loaded, if it has. For
 * libraries that look for others when they begin. Not in hooks or signal handlers. */
RT_HIDDEN void rt_opaque_loaded(void);

#endif
