/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel, without libc: raw system calls that leave errno and the vector registers alone, so
 * that hooks may use them, and memory from mmap.
 */
#ifndef RH_RUNTIME_SYS_H
#define RH_RUNTIME_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/x86_64/syscall.h"
#include "rt.h"

/* Results are the kernel's: negative errno on failure. */
RT_HIDDEN long rt_sys_write(int fd, const void *bytes, size_t size);
RT_HIDDEN long rt_sys_open(const char *path, int flags, int mode);
RT_HIDDEN long rt_sys_close(int fd);
RT_HIDDEN long rt_sys_mprotect(void *start, size_t size, int prot);
RT_HIDDEN long rt_sys_pwrite(int fd, const void *bytes, size_t size, uint64_t offset);
RT_HIDDEN int32_t rt_sys_gettid(void);
RT_HIDDEN int32_t rt_sys_getpid(void);
/* Waits while *word == expected, at most timeout_ns (negative: for ever). */
RT_HIDDEN long rt_sys_futex_wait(_Atomic uint32_t *word, uint32_t expected, int64_t timeout_ns);
RT_HIDDEN long rt_sys_futex_wake(_Atomic uint32_t *word, int count);
/* The same for a word that other processes share; all who wait are woken. */
RT_HIDDEN long rt_sys_futex_wait_shared(_Atomic uint32_t *word, uint32_t expected,
                                        int64_t timeout_ns);
RT_HIDDEN long rt_sys_futex_wake_shared(_Atomic uint32_t *word);
RT_HIDDEN void rt_sys_yield(void);
RT_HIDDEN int64_t rt_sys_monotonic_ns(void);
/* Processor time of the calling thread. */
RT_HIDDEN int64_t rt_sys_thread_ns(void);

/* Asks for the pages of zeroed memory, 16 to 4096 bytes of it, that a file shares. False if the
 * file system has no room for them: a store would then be a fatal SIGBUS. The first and the last 16
 * bytes are not zero for a moment. */
RT_HIDDEN bool rt_sys_make_present(void *start, size_t size);

/* Zeroed memory of our own, NULL when there is none. */
RT_HIDDEN void *rt_map(size_t size);
RT_HIDDEN void rt_unmap(void *start, size_t size);

/* Every thread of the process has executed a serialising instruction when this returns 0: what was
 * written to the text before is what they execute after. Negative errno where the kernel refuses.
 */
RT_HIDDEN long rt_sys_sync_cores(void);

/* Blocks all signals, also those libc keeps for itself, but not the ones that a thread brings upon
 * itself: they cannot come out of our code. Returns the mask to restore. */
RT_HIDDEN uint64_t rt_signals_block(void);
RT_HIDDEN void rt_signals_restore(uint64_t mask);

#endif
