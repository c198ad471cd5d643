/* SPDX-License-Identifier: Apache-2.0 */
/* Registers of x86-64 for walks over the stack: see registers.h. */
#include "arch/x86_64/registers.h"

#include <ucontext.h>

#include "keys.h"

void rt_arch_registers_at_key(const struct rh_hook_frame *frame, struct rt_registers *r)
{
    const uint64_t values[RT_REGISTER_COUNT] = {
        [0] = frame->rax,
        [1] = frame->rdx,
        [2] = frame->rcx,
        [3] = frame->rbx,
        [4] = frame->rsi,
        [5] = frame->rdi,
        [6] = frame->rbp,
        [7] = rt_arch_stack(frame),
        [8] = frame->r8,
        [9] = frame->r9,
        [10] = frame->r10,
        [11] = frame->r11,
        [16] = rt_arch_resume(frame),
    };
    for (int i = 0; i < RT_REGISTER_COUNT; i++)
        r->value[i] = values[i];
    r->known = 0x10fff;
}

void rt_arch_registers_at_signal(const void *context, struct rt_registers *r)
{
    static const uint8_t order[RT_REGISTER_COUNT] = {
        REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
        REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP,
    };
    const ucontext_t *u = context;
    for (int i = 0; i < RT_REGISTER_COUNT; i++)
        r->value[i] = (uint64_t)u->uc_mcontext.gregs[order[i]];
    r->known = (1u << RT_REGISTER_COUNT) - 1;
}
