/* SPDX-License-Identifier: Apache-2.0 */
/* The test that wrappers make of a word when they have nothing else to do. */
#ifndef RH_RUNTIME_ARCH_X86_64_IS_SET_H
#define RH_RUNTIME_ARCH_X86_64_IS_SET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A relaxed load and a comparison with 0 as one instruction and without a register, which compilers
 * do not make of an atomic load. */
static inline bool rt_arch_is_set(const _Atomic uint32_t *word)
{
    bool is_set;
    __asm__ volatile("cmpl $0, %1" : "=@ccne"(is_set) : "m"(*word));
    return is_set;
}

#endif
