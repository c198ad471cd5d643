/* SPDX-License-Identifier: Apache-2.0 */
/* What a signal handler's context says on x86-64. */
#ifndef RH_RUNTIME_ARCH_CONTEXT_H
#define RH_RUNTIME_ARCH_CONTEXT_H

#include <stdint.h>
#include <ucontext.h>

static inline uintptr_t rt_arch_context_pc(const void *context)
{
    return (uintptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
}

#endif
