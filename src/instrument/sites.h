/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sites of a module, and the keys of those that need one: the accesses that are in a candidate,
 * and the atomics and fences that may order threads.
 *
 * How it works: the analysis (src/analysis) has listed every access and said which are sites.
 * Accesses of one block that go through the same base pointer at constant distances, with nothing
 * in between that could synchronise or not return, share one key, placed before the first of them:
 * they run together or not at all, so one switch serves them. In the testing profile each has its
 * own check, and one that another of the group makes superfluous has none: a read of bytes that the
 * group writes, or the second of two. Neighbours in memory that one line of the source touches, as
 * in a loop that was unrolled, have one check together.
 *
 * A function with two keys or more is planned to have a twin: a second body that carries the keys,
 * while the plain body carries gates that lead there, all under the function's gate key; gates.h
 * says where they stand. Atomics and fences keep their keys in the plain body too: what orders
 * threads must be seen from the moment it is asked for, and not only from the next gate on, or a
 * race would be reported that is none.
 *
 * Where pointers are stored (stores.h) there are keys without sites.
 */
#ifndef RH_INSTRUMENT_SITES_H
#define RH_INSTRUMENT_SITES_H

#include "analysis/access.h"
#include "base/arena.h"
#include "base/vec.h"
#include "instrument/stores.h"
#include "ir/graph/cfg.h"
#include "ir/ir.h"
#include "ir/sweep.h"
#include "racehive/image.h"

#define RH_NO_KEY 0xffffffffu /* of a site that the analysis found to need none */

struct rh_site {
    struct rh_value *inst;
    struct rh_value *pointer; /* NULL for fences */
    struct rh_value *length;  /* of a RH_SITE_SIZED access, else NULL */
    uint32_t access;          /* its number among the accesses */
    uint32_t key;
    struct rh_site_record record;
    uint64_t fingerprint;
    const char *expression; /* "" if it has no name */
    struct rh_sweep *sweep; /* its check may stand before the loop; else NULL */
    uint32_t run;           /* its check stands for so many neighbours of its line, if not 0, */
    int32_t lead;           /* of which the lowest is so far from its own address */
};

struct rh_key {
    uint8_t kind; /* enum rh_key_kind */
    uint32_t first_site, site_count;
    uint32_t gate;        /* number of the gate that leads to it, or RH_NO_GATE */
    uint32_t block_count; /* gates: the blocks they stand in; those behind another gate: the loop's,
                             the header first */
    struct rh_block **blocks;
    struct rh_function *fn;
    const struct rh_store *store; /* of RH_KEY_ESCAPE, else NULL */
};

struct rh_sites {
    struct rh_arena arena;
    RH_VEC(struct rh_site) sites; /* sites of one key are neighbours; those without come last */
    uint32_t keyed;               /* how many of the sites have a key */
    RH_VEC(struct rh_key) keys;   /* keys of one function are neighbours, its gates first */
};

/* Collects the sites of every function and names them. `checked`: for the testing profile, in which
 * each site that needs one has a check of its own (checks.h), and all stand in twins. `stores` get
 * keys, too, and must live as long as these; NULL: none. */
void rh_sites_collect(const struct rh_accesses *accesses, const struct rh_stores *stores,
                      bool checked, struct rh_sites *out);
void rh_sites_release(struct rh_sites *s);
/* Where the key stands: before or behind an instruction of this block. Not for gates. */
const struct rh_block *rh_key_block(const struct rh_sites *s, const struct rh_key *key);

#endif
