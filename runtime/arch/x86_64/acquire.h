/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shortest wrapper of a function that takes one pointer and acquires: six instructions while
 * idle. Compilers need two more, because they keep the pointer in a register that they must save
 * first; the one that is pushed here also aligns the stack for the call.
 *
 * The wrapper is a naked function with this as its body. `slow` is the name of a hidden function;
 * it gets the pointer, the result, and the address that the wrapper returns to, and returns the
 * result in its place.
 */
#ifndef RH_RUNTIME_ARCH_X86_64_ACQUIRE_H
#define RH_RUNTIME_ARCH_X86_64_ACQUIRE_H

#include <stddef.h>

/* clang-format off */
#ifdef RT_STATIC
/* Weak, as in real.h. */
#define RT_ARCH_CALL_REAL(name)                                                                    \
    ".weak __real_" #name "\n\t"                                                                   \
    "call __real_" #name "@PLT\n\t"
#define RT_ARCH_REAL_PLACE(name)
#else
#define RT_ARCH_CALL_REAL(name)  "call *rt_real+%c[place](%%rip)\n\t"
#define RT_ARCH_REAL_PLACE(name) [place] "i"(offsetof(struct rt_reals, name))
#endif

#define RT_ARCH_ACQUIRE(name, slow)                                                                \
    __asm__("pushq %%rdi\n\t"                                                                      \
            ".cfi_adjust_cfa_offset 8\n\t"                                                         \
            RT_ARCH_CALL_REAL(name)                                                                \
            "cmpl $0, rt_sync_live(%%rip)\n\t"                                                     \
            "popq %%rdi\n\t" /* leaves the flags alone */                                          \
            ".cfi_adjust_cfa_offset -8\n\t"                                                        \
            "jne 1f\n\t"                                                                           \
            "ret\n"                                                                                \
            "1:\n\t"                                                                               \
            "movl %%eax, %%esi\n\t"                                                                \
            "movq (%%rsp), %%rdx\n\t"                                                              \
            "jmp " #slow                                                                           \
            : : RT_ARCH_REAL_PLACE(name))
/* clang-format on */

#endif
