/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions we stand in front of, and how a wrapper reaches the real one.
 *
 * A dynamic executable exports our definitions, which then come before libc's for the program and
 * for every library; the real ones are found with dlsym. They are all looked up before the first
 * constructor, because later dlsym may have to wait for a dlopen in another thread, whose
 * constructors may wait for a lock that our caller holds; a call that comes even earlier meets a
 * pointer that looks up its own function.
 *
 * A static executable has no such order of libraries: the linker is told --wrap=SYM for each symbol
 * (the file wrapped-symbols, made from real.def) and calls our __wrap_SYM, which calls
 * __real_SYM. Those references are weak, so that a link without --wrap for some symbols still
 * works. The runtime is then compiled with RT_STATIC.
 */
#ifndef RH_RUNTIME_INTERCEPT_REAL_H
#define RH_RUNTIME_INTERCEPT_REAL_H

#include <aio.h>
#include <mqueue.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "rt.h"

/* The oldest version of condition variables has another layout; dlsym may return that one. */
#if defined(__x86_64__)
#define RT_COND_VERSION "GLIBC_2.3.2"
#else
#define RT_COND_VERSION NULL
#endif

/* What stands in for the heap while its own functions are looked up: nothing is lost but memory. */
RT_HIDDEN void rt_free_nothing(void *block);
RT_HIDDEN void *rt_realloc_nothing(void *block, size_t size);

/* The version under which programs ask for the heap's functions: libc's own debugging allocator,
 * loaded before libc, answers to no other. */
#if defined(__x86_64__)
#define RT_HEAP_VERSION "GLIBC_2.2.5"
#else
#define RT_HEAP_VERSION NULL
#endif

#ifndef RT_STATIC
/* Looks a function up behind us, without leaving an error for the program to find. */
RT_HIDDEN void *rt_real_find(const char *name, const char *version);
/* What tells images apart: the same for all functions of one. NULL if it is in none. */
RT_HIDDEN const void *rt_real_image(const void *function);
#endif

RT_HIDDEN int rt_guard_acquire(uint64_t *guard);
RT_HIDDEN void rt_guard_release(uint64_t *guard);
RT_HIDDEN void rt_guard_abort(uint64_t *guard);

#ifdef RT_STATIC

#define RT_REAL_ROW(result, name, parameters, arguments, version)                                  \
    extern result __real_##name parameters __attribute__((weak));
#define RT_LIBC_ROW(result, name, parameters, arguments, failure)                                  \
    RT_REAL_ROW(result, name, parameters, , )
#define RT_MORE_ROW(result, name, parameters, last, arguments)                                     \
    RT_REAL_ROW(result, name, parameters, , )
#define RT_HEAP_ROW  RT_REAL_ROW
#define RT_GUARD_ROW RT_REAL_ROW
#include "intercept/real.def"
#define RT_REAL(name) __real_##name
#define RT_WRAPPER(ret, name, params)                                                              \
    ret __wrap_##name params;                                                                      \
    ret __wrap_##name params

#else

struct rt_reals {
#define RT_REAL_ROW(result, name, parameters, arguments, version) result(*name) parameters;
#define RT_LIBC_ROW(result, name, parameters, arguments, failure) result(*name) parameters;
#define RT_MORE_ROW(result, name, parameters, last, arguments)    result(*name) parameters;
#define RT_HEAP_ROW                                               RT_REAL_ROW
#define RT_GUARD_ROW                                              RT_REAL_ROW
#include "intercept/real.def"
};
extern RT_HIDDEN struct rt_reals rt_real;
#define RT_REAL(name) rt_real.name
/* Weak: a program that defines the function itself keeps its own. */
#define RT_WRAPPER(ret, name, params)                                                              \
    RT_EXPORT __attribute__((weak)) ret name params;                                               \
    ret name params

#endif

#endif
