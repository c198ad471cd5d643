/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The registers of x86-64 under the numbers that call frame information gives them, and the three
 * places where a walk over the stack gets its first values: a key, a signal, and here.
 */
#ifndef RH_RUNTIME_ARCH_REGISTERS_H
#define RH_RUNTIME_ARCH_REGISTERS_H

#include "rt.h"

enum {
    RT_REGISTER_B = 3,
    RT_REGISTER_FRAME = 6,
    RT_REGISTER_STACK = 7,
    RT_REGISTER_12 = 12,
    RT_REGISTER_15 = 15,
    RT_REGISTER_PC = 16,
    RT_REGISTER_COUNT = 17,
};

/* Registers that a called function hands back as it found them. */
#define RT_SAVED_REGISTERS                                                                         \
    {                                                                                              \
        3, 6, 12, 13, 14, 15                                                                       \
    }
enum {
    RT_SAVED_COUNT = 6,
    RT_SAVED_MASK = 1 << 3 | 1 << 6 | 0xf << 12,
};

/* Where a call leaves its return address, from the stack pointer of the caller. */
#define RT_RETURN_OFFSET (-8)
/* Bytes below the stack pointer that belong to the code that runs, and that signals step over. */
#define RT_RED_ZONE 128

struct rt_registers {
    uint64_t value[RT_REGISTER_COUNT];
    uint32_t known; /* a bit for each value that is there */
};

/* Of the code at a key. r12 to r15 are not in the frame (the hook's C code keeps them, somewhere on
 * its own stack) and so are not known. */
RT_HIDDEN void rt_arch_registers_at_key(const struct rh_hook_frame *frame, struct rt_registers *r);
/* Of the interrupted code, from a ucontext_t. */
RT_HIDDEN void rt_arch_registers_at_signal(const void *context, struct rt_registers *r);

/* Of the function this is inlined into; those that a call may change are left out. */
__attribute__((always_inline)) static inline void rt_arch_registers_here(struct rt_registers *r)
{
    __asm__ volatile("movq %%rbx, 24(%0)\n\t"
                     "movq %%rbp, 48(%0)\n\t"
                     "movq %%rsp, 56(%0)\n\t"
                     "movq %%r12, 96(%0)\n\t"
                     "movq %%r13, 104(%0)\n\t"
                     "movq %%r14, 112(%0)\n\t"
                     "movq %%r15, 120(%0)\n\t"
                     "leaq 1f(%%rip), %%rax\n"
                     "1:\n\t"
                     "movq %%rax, 128(%0)"
                     :
                     : "D"(r->value)
                     : "rax", "memory");
    r->known = RT_SAVED_MASK | 1u << RT_REGISTER_STACK | 1u << RT_REGISTER_PC;
}

#endif
