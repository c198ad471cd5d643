/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of small numbers, made for points-to sets: most hold a few members, some hold thousands, and
 * the work is to or one into another and to know what was new.
 *
 * A set is a sorted array of pairs (word number, 64 bits). A set whose bytes are all zero is valid
 * and empty. Merging two sets walks both arrays once.
 */
#ifndef RH_ANALYSIS_IDSET_H
#define RH_ANALYSIS_IDSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rh_idset_word {
    uint32_t index; /* members index * 64 + bit */
    uint32_t low, high;
};

struct rh_idset {
    struct rh_idset_word *words;
    uint32_t len, cap;
};

#define RH_IDSET_INIT                                                                              \
    {                                                                                              \
        0                                                                                          \
    }

void rh_idset_release(struct rh_idset *s);
void rh_idset_clear(struct rh_idset *s);
bool rh_idset_add(struct rh_idset *s, uint32_t id); /* true if new */
bool rh_idset_has(const struct rh_idset *s, uint32_t id);
bool rh_idset_is_empty(const struct rh_idset *s);
uint32_t rh_idset_count(const struct rh_idset *s);
bool rh_idset_equal(const struct rh_idset *a, const struct rh_idset *b);
/* out = what is in both; `out` is neither of them. */
void rh_idset_both(struct rh_idset *out, const struct rh_idset *a, const struct rh_idset *b);
bool rh_idset_meets(const struct rh_idset *a, const struct rh_idset *b); /* a common member */
/* to |= from; true if `to` grew. */
bool rh_idset_unite(struct rh_idset *to, const struct rh_idset *from);
/* to |= from - known: what of `from` is not in `known`; true if `to` grew. */
bool rh_idset_unite_new(struct rh_idset *to, const struct rh_idset *from,
                        const struct rh_idset *known);
void rh_idset_copy(struct rh_idset *to, const struct rh_idset *from);
void rh_idset_swap(struct rh_idset *a, struct rh_idset *b);
uint64_t rh_idset_hash(const struct rh_idset *s);

/* Walks the members in order: start with *at = 0; false at the end. `*at` is a position for this
 * walk alone; the set must not change. */
bool rh_idset_next(const struct rh_idset *s, uint64_t *at, uint32_t *id);

#endif
