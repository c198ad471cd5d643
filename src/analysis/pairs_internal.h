/* What the search for candidates and its ranking know of each other: see pairs.h. */
#ifndef RH_ANALYSIS_PAIRS_INTERNAL_H
#define RH_ANALYSIS_PAIRS_INTERNAL_H

#include "analysis/own.h"
#include "analysis/pairs.h"
#include "base/arena.h"
#include "base/bitset.h"
#include "base/map.h"

#define NO_CLASS 0xffffffffu

/* The ways in which an instruction runs. */
struct ways {
    const struct rh_occurrence *list;
    uint32_t count;
};

/* An access in one instance of its function. */
struct fact {
    uint32_t instance;
    uint32_t cells; /* number of the set of shared cells it may touch */
    uint32_t ways;  /* number of the list of ways it runs */
};

struct class_info {
    const struct rh_access *access; /* the first member stands for all */
    bool fresh;                     /* to blocks that nobody else knows yet */
    uint32_t fact_count;
    struct fact *facts;
};

enum meeting {
    MEET_NEVER,
    MEET_LOCKED, /* only where both hold locks */
    MEET_UNLOCKED,
};

struct touch {
    uint32_t klass, fact, cell;
};
struct touched {
    RH_VEC(struct touch) reads, writes;
};

/* What became of a class and the one being compared. */
struct partner {
    uint32_t stamp; /* the class being compared, plus 1 */
    enum rh_pair_fate fate;
    uint32_t object;
};

struct rh_pairs_work {
    struct rh_accesses *accesses;
    const struct rh_pointsto *pointsto;
    const struct rh_flow *flow;
    const struct rh_sharing *sharing;
    struct rh_own *own;
    struct rh_pairs *out;
    struct rh_arena arena;
    RH_VEC(struct rh_idset) cells; /* interned */
    struct rh_map cells_of;
    RH_VEC(struct ways) ways;
    struct rh_map ways_of;
    RH_VEC(struct class_info) infos; /* beside out->classes */
    struct rh_map class_of;
    struct rh_map meetings; /* two numbers of ways -> enum meeting */
    struct touched *touched; /* by object */
    struct partner *partners; /* by class */
    struct rh_bitset racing;  /* objects whose address is given away without order */
    bool fresh_now;
    RH_VEC(uint32_t) met;     /* partners of the class being compared */
    RH_VEC(struct fact) facts_now;
};

/* Gives each group its score and flags, and sorts them, best first. */
void rh_pairs_rank(struct rh_pairs *c);

#endif
