/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts the keys of collected sites into the module, and the tables the runtime needs.
 *
 * How it works: a key is one call of inline assembly before the access (no block is split), whose
 * text emits the switch in place, the stub that calls the hook in a cold section, and the record of
 * the place in `__rh_places`. The address is handed over as a memory operand, so that the idle code
 * need not compute it; only addresses of stack variables go in a register, because the stub moves
 * the stack pointer before it computes the address. A gate is an assembly branch (asm goto) from a
 * function's plain body to the same point of its twin. See racehive/image.h for the layout.
 */
#ifndef RH_INSTRUMENT_KEYS_H
#define RH_INSTRUMENT_KEYS_H

#include "instrument/sites.h"

enum rh_key_mode {
    RH_KEYS_PATCH, /* one instruction, patched in place */
    RH_KEYS_FLAG,  /* test of a byte of data, for processes whose text cannot be patched */
    RH_KEYS_NONE,  /* no keys at all: what the others' cost is measured against */
};

/* What was done. */
struct rh_keys_result {
    struct rh_key_record *records; /* of each key, as they stand in the image */
    uint32_t functions_twinned;
    uint32_t functions_refused; /* planned, but not of a form that can be copied: keyed in place */
    uint32_t keys_refused;      /* no assembly can stand there; the sites have no place */
    uint32_t stores_refused;    /* of these, the ones of pointer stores */
};

/* What else the image tells the runtime. */
struct rh_keys_facts {
    bool has_checks;  /* the testing profile: checks in twins, instead of keys (checks.h) */
    bool has_runtime; /* the runtime is linked to this image */
    uint32_t flags;   /* enum rh_image_flags */
    const uint32_t (*candidates)[2]; /* the best ones, as numbers of sites */
    uint32_t candidate_count;
};

enum rh_status rh_keys_insert(struct rh_module *m, const struct rh_sites *sites,
                              enum rh_key_mode mode, const struct rh_keys_facts *facts,
                              struct rh_keys_result *result);
void rh_keys_result_release(struct rh_keys_result *result);

#endif
