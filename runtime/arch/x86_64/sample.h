/* SPDX-License-Identifier: Apache-2.0 */
/* What a sample of the kernel's perf events says of the registers on x86-64. */
#ifndef RH_RUNTIME_ARCH_SAMPLE_H
#define RH_RUNTIME_ARCH_SAMPLE_H

#include <asm/perf_regs.h>

#include "arch/x86_64/registers.h"

/* Under the kernel's numbers, which are also the order in which they come; and under ours. */
/* clang-format off */
#define RT_SAMPLE_REGISTERS(X)                                                                     \
    X(AX, 0) X(BX, 3) X(CX, 2) X(DX, 1) X(SI, 4) X(DI, 5) X(BP, 6) X(SP, 7)                        \
    X(IP, 16) X(R8, 8) X(R9, 9) X(R10, 10) X(R11, 11) X(R12, 12) X(R13, 13) X(R14, 14) X(R15, 15)
/* clang-format on */

#define RT_SAMPLE_BIT(name, number) | 1ull << PERF_REG_X86_##name
#define RT_SAMPLE_MASK              (0 RT_SAMPLE_REGISTERS(RT_SAMPLE_BIT))

static inline void rt_arch_registers_of_sample(const uint64_t *values, struct rt_registers *r)
{
#define RT_SAMPLE_TAKE(name, number) r->value[number] = *values++;
    RT_SAMPLE_REGISTERS(RT_SAMPLE_TAKE)
#undef RT_SAMPLE_TAKE
    r->known = (1u << RT_REGISTER_COUNT) - 1;
}

#endif
