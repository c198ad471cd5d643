/* SPDX-License-Identifier: Apache-2.0 */
/* System calls on x86-64 without libc. */
#ifndef RH_RUNTIME_ARCH_SYSCALL_H
#define RH_RUNTIME_ARCH_SYSCALL_H

static inline long rt_arch_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

#endif
