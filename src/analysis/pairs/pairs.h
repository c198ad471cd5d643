/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The candidates of a program: pairs of accesses that may touch the same memory from threads that
 * may overlap, one of them writing, not both atomic, without a lock that surely orders them.
 *
 * How it works: accesses that cannot be told apart by any filter (same kind and size, same cells,
 * same ways to run, and, where locks are held, the same pointer) form a *class*; all pairs of two
 * classes share their fate, so classes are compared instead of accesses, object by object. A pair
 * of classes that survives is a *group*: it stands for every pair of their members. Each pair of
 * accesses that may touch the same memory is counted once, under the filter that removed it or as a
 * candidate; each access that is in no candidate gets the reason (access.h) that came closest to
 * keeping it.
 *
 * A block that nobody else knows yet (escape.h) is filled in peace only if it is then given away
 * in good order: when its address is stored where others look without a lock, what was written
 * before races with what they read. So accesses to fresh blocks are let off at first, and called
 * back when a store that is itself in a candidate, or an atomic weaker than release and acquire,
 * may have published their object; this goes round until nothing changes.
 */
#ifndef RH_ANALYSIS_PAIRS_PAIRS_H
#define RH_ANALYSIS_PAIRS_PAIRS_H

#include "analysis/access.h"
#include "analysis/flow/flow.h"
#include "analysis/pairs/escape.h"
#include "analysis/pointsto/pointsto.h"
#include "candidate/score.h"

/* What happened to pairs of accesses that may touch the same memory, one of them writing: suffix,
 * name shown to users; in the order in which the filters are asked. */
#define RH_PAIR_FATES(X)                                                                           \
    X(ATOMIC, "both accesses are atomic")                                                          \
    X(NOT_PARALLEL, "never at the same time")                                                      \
    X(LIBRARYS, "the C++ library's own, which it orders itself")                                   \
    X(DECLARED, "different memory by declarations")                                                \
    X(OWN, "each thread has its own part")                                                         \
    X(UNPUBLISHED, "before the memory is given to others")                                         \
    X(GUARDED, "a common lock")                                                                    \
    X(CANDIDATE, "candidates")

enum rh_pair_fate {
#define RH_PAIR_ENUM(id, name) RH_PAIR_##id,
    RH_PAIR_FATES(RH_PAIR_ENUM)
#undef RH_PAIR_ENUM
        RH_PAIR_COUNT
};

const char *rh_pair_name(enum rh_pair_fate fate);

struct rh_access_class {
    RH_VEC(uint32_t) members; /* accesses by number */
    bool is_candidate;        /* in some group */
    /* How the class came to be alone, if it is: the last filter a partner fell to, and that
     * partner. */
    enum rh_pair_fate closest;
    uint32_t closest_partner; /* class */
};

#define RH_MANY_OBJECTS UINT32_MAX

struct rh_group {
    uint32_t first, second; /* classes, first <= second */
    uint32_t object;        /* one of those on which they meet, or RH_MANY_OBJECTS */
    uint16_t reasons;       /* for its score, a bit for each enum rh_reason */
    uint8_t score;
};

struct rh_pairs {
    RH_VEC(struct rh_access_class) classes;
    RH_VEC(struct rh_group) groups; /* best first; those that say the same stand together */
    uint32_t *class_of;             /* by access: its class, or UINT32_MAX */
    uint64_t pairs[RH_PAIR_COUNT];
    struct rh_pairs_work *work;
};

/* What the search takes for granted. */
struct rh_pairs_trust {
    bool library; /* two accesses that the C++ library makes to what is its own are ordered by it */
    const struct rh_pointsto
        *declared; /* where pointers are what they are declared to be; or NULL */
};

/* Also writes the reason of each access that is in no candidate into `accesses`. */
void rh_pairs_find(struct rh_accesses *accesses, const struct rh_pointsto *p,
                   const struct rh_flow *flow, const struct rh_escape *escape,
                   struct rh_deadline *deadline, const struct rh_pairs_trust *trust,
                   struct rh_pairs *out);
void rh_pairs_release(struct rh_pairs *c);

/* For people: who runs the class, the locks it holds, and what memory a group is about. */
struct rh_strbuf;
void rh_pairs_describe_threads(const struct rh_pairs *c, uint32_t klass, struct rh_strbuf *out);
void rh_pairs_describe_locks(const struct rh_pairs *c, uint32_t klass, struct rh_strbuf *out);
void rh_pairs_describe_object(const struct rh_pairs *c, uint32_t object, struct rh_strbuf *out);
/* Are two groups of the same first class, and is all the same that is said of them? */
bool rh_pairs_say_the_same(const struct rh_group *a, const struct rh_group *b);

#endif
