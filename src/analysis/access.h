/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the instructions of a module do to memory: every load, store, atomic, fence, memory
 * intrinsic and described library call, as a list of accesses that all analyses share.
 *
 * How it works: each function is walked once, in the order of the code. An access is private, with
 * a reason, when its memory is certainly the thread's own or never written (stack slots whose
 * address never leaves the function, thread-local variables, constants); this needs no analysis of
 * the whole program, so that even a build that cannot afford one leaves them out. Later analyses
 * number what remains and find more reasons. An instruction has at most RH_ACCESS_MAX accesses, in
 * the order in which it makes them.
 */
#ifndef RH_ANALYSIS_ACCESS_H
#define RH_ANALYSIS_ACCESS_H

#include "base/config.h"
#include "base/vec.h"
#include "ir/ir.h"
#include "racehive/image.h"

enum { RH_ACCESS_MAX = 8 };

/* Why an access is no site: suffix, name shown to users. The first rows are found by looking at the
 * access alone, the rest by looking at the whole program. */
#define RH_SKIPS(X)                                                                                \
    X(STACK, "stack slot that stays in its function")                                              \
    X(CONSTANT, "constant data")                                                                   \
    X(THREAD_LOCAL, "thread-local variable")                                                       \
    X(BY_VALUE, "argument passed by value")                                                        \
    X(VECTOR_OF_POINTERS, "gather or scatter")                                                     \
    X(ADDRESS_SPACE, "pointer of another address space")                                           \
    X(ASSEMBLY, "inline assembly that touches memory")                                             \
    X(LIBRARY_INDIRECT, "memory that a library call reaches through other memory")                 \
    X(LIBRARY_ARGUMENT, "argument of a library call beyond those that are looked at")              \
    X(IGNORED_FUNCTION, "function that asks not to be instrumented")                               \
    X(SUPPRESSED, "the configuration says to leave it out")                                        \
    X(NAKED_FUNCTION, "function without prologue")                                                 \
    X(NEVER_RUN, "code that no thread reaches")                                                    \
    X(NO_OBJECT, "pointer to no known memory")                                                     \
    X(ONE_THREAD, "memory that only one thread reaches")                                           \
    X(LIBRARYS, "the C++ library's own, which it orders itself")                                   \
    X(DECLARED, "memory that others are not declared to point to")                                 \
    X(OWN, "each thread's own part of an array")                                                   \
    X(UNPUBLISHED, "memory not yet given to another thread")                                       \
    X(ONLY_READ, "memory that is never written while threads share it")                            \
    X(NOT_PARALLEL, "no conflicting access at the same time")                                      \
    X(GUARDED, "a common lock guards every conflicting access")                                    \
    X(ATOMIC, "every conflicting access is atomic")

enum rh_skip {
#define RH_SKIP_ENUM(id, name) RH_SKIP_##id,
    RH_SKIPS(RH_SKIP_ENUM)
#undef RH_SKIP_ENUM
        RH_SKIP_COUNT /* as a reason: the access is a site */
};

const char *rh_skip_name(enum rh_skip skip);

struct rh_access {
    struct rh_value *inst;
    struct rh_value *pointer; /* NULL for fences */
    struct rh_value *length;  /* bytes, where only the run knows; else NULL */
    uint64_t size;            /* 0 if `length` says, and for strings, whose end nobody knows */
    uint8_t kind;             /* enum rh_access_kind */
    uint8_t order;            /* enum rh_memory_order */
    uint16_t flags;           /* enum rh_site_flags */
    bool acquires;            /* atomic or fence, acquires by itself or with a fence behind it */
    bool in_library;          /* made inside a library function called by `inst` */
    enum rh_skip skip;        /* RH_SKIP_COUNT while it may be shared */
};

struct rh_accesses {
    struct rh_module *module;
    RH_VEC(struct rh_access) all;    /* functions in order of their ids, instructions in theirs */
    uint32_t *first_of;              /* by function id, function count + 1 entries: its accesses */
    uint64_t skipped[RH_SKIP_COUNT]; /* accesses (for functions: functions) by reason */
};

/* No configuration is NULL. */
void rh_accesses_collect(struct rh_module *m, const struct rh_config *config,
                         struct rh_accesses *out);
void rh_accesses_release(struct rh_accesses *a);

/* May the access write; is it atomic? */
bool rh_access_writes(const struct rh_access *a);
bool rh_access_is_atomic(const struct rh_access *a);
/* Does it get a key: it is in a candidate (or nothing was proved of it), or it is an atomic or a
 * fence by which threads may be ordered? */
bool rh_access_is_site(const struct rh_access *a);
/* Is it left to the analysis of the whole program to say whether it can race? */
bool rh_access_may_be_shared(const struct rh_access *a);

#endif
