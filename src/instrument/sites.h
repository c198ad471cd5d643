/*
 * The sites of a module: every load, store, atomic, fence and memory intrinsic that may touch
 * memory another thread can reach, grouped under keys.
 *
 * How it works: each function is walked once. An access is left out when its memory is certainly
 * the thread's own (a stack slot whose address never leaves the function, thread-local variables,
 * arguments passed by value) or never written (constants); everything left out is counted by
 * reason. Accesses of one block that go through the same base pointer at constant distances, with
 * nothing in between that could synchronise or not return, share one key, placed before the first
 * of them: they run together or not at all, so one switch serves them. Innermost loops without
 * calls, atomics or volatile accesses are planned to be copied: their keys live in the copy alone.
 */
#ifndef RH_INSTRUMENT_SITES_H
#define RH_INSTRUMENT_SITES_H

#include "base/arena.h"
#include "base/vec.h"
#include "ir/cfg.h"
#include "ir/ir.h"
#include "racehive/image.h"

/* Why an access is no site: suffix, name shown to users. */
#define RH_SKIPS(X)                                                                                \
    X(STACK, "stack slot that stays in its function")                                              \
    X(CONSTANT, "constant data")                                                                   \
    X(THREAD_LOCAL, "thread-local variable")                                                       \
    X(BY_VALUE, "argument passed by value")                                                        \
    X(VECTOR_OF_POINTERS, "gather or scatter")                                                     \
    X(ADDRESS_SPACE, "pointer of another address space")                                           \
    X(ASSEMBLY, "inline assembly that touches memory")                                             \
    X(IGNORED_FUNCTION, "function that asks not to be instrumented")                               \
    X(NAKED_FUNCTION, "function without prologue")

enum rh_skip {
#define RH_SKIP_ENUM(id, name) RH_SKIP_##id,
    RH_SKIPS(RH_SKIP_ENUM)
#undef RH_SKIP_ENUM
        RH_SKIP_COUNT
};

const char *rh_skip_name(enum rh_skip skip);

struct rh_site {
    struct rh_value *inst;
    struct rh_value *pointer; /* NULL for fences */
    struct rh_value *length;  /* of a RH_SITE_SIZED access, else NULL */
    uint32_t key;
    struct rh_site_record record;
    uint64_t fingerprint;
    const char *expression; /* "" if it has no name */
};

struct rh_key {
    uint8_t kind; /* enum rh_key_kind */
    uint32_t first_site, site_count;
    uint32_t loop;        /* number of the loop key, or RH_NO_LOOP */
    uint32_t copied_loop; /* loop keys: index of the loop in its function's cfg */
    struct rh_function *fn;
};

struct rh_sites {
    struct rh_arena arena;
    RH_VEC(struct rh_site) sites; /* sites of one key are neighbours */
    RH_VEC(struct rh_key) keys;   /* keys of one function are neighbours, its loop keys first */
    uint64_t skipped[RH_SKIP_COUNT];
};

/* Collects the sites of every function and names them. */
void rh_sites_collect(struct rh_module *m, struct rh_sites *out);
void rh_sites_release(struct rh_sites *s);

#endif
