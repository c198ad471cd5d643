/* SPDX-License-Identifier: Apache-2.0 */
/* A clock that costs a few nanoseconds to read: for measuring what hooks take. */
#ifndef RH_RUNTIME_TICKS_H
#define RH_RUNTIME_TICKS_H

#include <stdint.h>

static inline uint64_t rt_arch_ticks(void)
{
    return __builtin_ia32_rdtsc();
}

#endif
