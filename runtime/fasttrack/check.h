/* SPDX-License-Identifier: Apache-2.0 */
/* What checks in instrumented code read: see racehive/check.h. */
#ifndef RH_RUNTIME_FASTTRACK_CHECK_H
#define RH_RUNTIME_FASTTRACK_CHECK_H

#include "racehive/check.h"
#include "rt.h"

extern RT_EXPORT uintptr_t *__rh_directory;
extern RT_EXPORT _Thread_local uint64_t __rh_epoch __attribute__((tls_model("initial-exec")));

/* An epoch that no cell has: every check fails. */
#define RT_CHECK_NO_EPOCH (~0ull << RT_CELL_TAG_BITS)

#endif
