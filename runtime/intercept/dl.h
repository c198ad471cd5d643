/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries that are loaded while the program runs: what the wrappers of arch/ do before. */
#ifndef RH_RUNTIME_INTERCEPT_DL_H
#define RH_RUNTIME_INTERCEPT_DL_H

#include <dlfcn.h>

#include "rt.h"

/* Before dlopen and dlmopen; where the wrapper goes on to. */
RT_HIDDEN void *rt_dl_opening(const char *path, int flags);
RT_HIDDEN void *rt_dl_opening_apart(Lmid_t space, const char *path, int flags);

#endif
