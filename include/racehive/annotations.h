/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program can tell Racehive about itself. Everything here is empty unless the file is
 * compiled by racehive-cc, and does nothing if the program turns out to run without the runtime.
 *
 *   RH_HAPPENS_BEFORE(addr)   what this thread did until now happens before whatever follows a
 *   RH_HAPPENS_AFTER(addr)    later RH_HAPPENS_AFTER with the same address in another thread: for
 *                             synchronisation of the program's own that Racehive cannot see
 *   RH_BENIGN_RACE(addr, size, why)   races on these bytes are known and meant
 *   RH_IGNORE_FUNCTION        before a function's definition: its accesses are not sites
 */
#ifndef RACEHIVE_ANNOTATIONS_H
#define RACEHIVE_ANNOTATIONS_H

#ifdef __RACEHIVE__

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Weak: code built with racehive-cc still links, and runs, where there is no runtime. */
__attribute__((weak)) void __rh_happens_before(const volatile void *address);
__attribute__((weak)) void __rh_happens_after(const volatile void *address);
__attribute__((weak)) void __rh_benign_race(const volatile void *address, size_t size,
                                            const char *why);

#ifdef __cplusplus
}
#endif

#define RH_HAPPENS_BEFORE(addr) (__rh_happens_before ? __rh_happens_before(addr) : (void)0)
#define RH_HAPPENS_AFTER(addr)  (__rh_happens_after ? __rh_happens_after(addr) : (void)0)
#define RH_BENIGN_RACE(addr, size, why)                                                            \
    (__rh_benign_race ? __rh_benign_race(addr, size, why) : (void)0)
/* Inlined code may lose its place when it is merged with other code, so the function stays a
 * function. Where it is inlined all the same (always_inline), the annotation says where its code
 * is. */
#define RH_IGNORE_FUNCTION                                                                         \
    __attribute__((disable_sanitizer_instrumentation, noinline, annotate("racehive-ignore")))

#else

#define RH_HAPPENS_BEFORE(addr)         ((void)0)
#define RH_HAPPENS_AFTER(addr)          ((void)0)
#define RH_BENIGN_RACE(addr, size, why) ((void)0)
#define RH_IGNORE_FUNCTION

#endif

#endif
