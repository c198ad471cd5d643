/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the program may write a pointer to memory that others can reach, and where it allocates
 * blocks: what the escape analysis of the runtime must be told (runtime/escape/escape.h).
 *
 * How it works: every instruction is looked at that may put a pointer into memory: stores of
 * pointers, of integers of their size, of vectors and structs that may hold them; atomics; copies
 * of memory, by intrinsics and library functions; whatever hands a pointer to somebody else, which
 * is a call of a function that nothing is known of, one that keeps it (library.def), the start of a
 * thread, and a return to code without bitcode. A copy piece by piece is told when a piece has been
 * stored.
 *
 * What the search for candidates has proved makes most of them needless: the value points to
 * nothing that may become shared and is not from the beginning (it is a number, null, or the
 * address of a global), or the place is memory that never becomes shared, or a block that nobody
 * else knows yet. Where the search gave up, only types tell.
 *
 * A store is *racy* if it is in a candidate itself, or a relaxed atomic; if some atomic load does
 * not acquire, any atomic is.
 *
 * A block whose allocation nobody tells of counts as escaped. So an allocation is told only if it
 * is by a described function that returns the block and is given its size, and never needs to be.
 */
#ifndef RH_INSTRUMENT_STORES_H
#define RH_INSTRUMENT_STORES_H

#include "analysis/analysis.h"
#include "base/map.h"
#include "base/vec.h"

struct rh_store {
    struct rh_value *inst;  /* that stores, copies, calls or allocates */
    struct rh_value *place; /* where it is told: before this instruction, or behind it */
    bool after;
    uint8_t kind;             /* enum rh_escape_event */
    bool is_racy;             /* nothing may order it with who loads what it stores */
    struct rh_value *address; /* NULL: anybody may reach it */
    struct rh_value *value;   /* NULL: none */
    struct rh_value *times;   /* with which the value is multiplied, or NULL */
    uint32_t lane, lanes;     /* of a value of several words: which one is meant */
    uint32_t bytes;           /* RH_ESCAPE_COPY: how many; 0: the store before it tells */
};

struct rh_stores {
    RH_VEC(struct rh_store) all; /* functions in order of their ids, instructions in theirs */
    struct rh_map first_of;      /* by instruction's id: its first store */
    uint64_t needless;           /* stores that may write pointers, but need not be told */
};

/* `is_known`: the search has been through, and `analysis` is all there; else it has accesses
 * alone. */
void rh_stores_find(struct rh_module *m, const struct rh_analysis *analysis, bool is_known,
                    struct rh_stores *out);
void rh_stores_release(struct rh_stores *s);

/* The stores of an instruction. */
const struct rh_store *rh_stores_of(const struct rh_stores *s, const struct rh_value *inst,
                                    uint32_t *count);
bool rh_stores_has(const struct rh_stores *s, const struct rh_function *fn);

#endif
