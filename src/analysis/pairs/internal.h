/* SPDX-License-Identifier: Apache-2.0 */
/* What the search for candidates and its ranking know of each other: see pairs.h. */
#ifndef RH_ANALYSIS_PAIRS_INTERNAL_H
#define RH_ANALYSIS_PAIRS_INTERNAL_H

#include "analysis/pairs/pairs.h"
#include "analysis/pairs/perthread.h"
#include "base/arena.h"
#include "base/bitset.h"
#include "base/map.h"

#define NO_CLASS 0xffffffffu

/* The ways in which an instruction runs. */
struct ways {
    const struct rh_occurrence *list;
    uint32_t count;
};

/* An access in one instance of its function. A pointer that may point to very many cells is vague:
 * then only the objects are compared, not the places in them. */
struct fact {
    uint32_t instance;
    uint32_t cells;   /* number of the set of shared cells it may touch; unused if vague */
    uint32_t objects; /* number of the set of their objects */
    uint32_t ways;    /* number of the list of ways it runs */
    bool vague;
};
enum { VAGUE_CELLS = 48 };
/* Sets of very many objects say nothing that their union does not: that is the set of number MANY,
 * complete once all accesses have been seen. */
enum { MANY = 0, MANY_OBJECTS = 64 };

/* What an access touches by declarations: its cells, by block. */
#define NOT_SEEN UINT32_MAX
struct seen_cell {
    uint32_t block, cell;
};
struct seen {
    struct rh_idset cells;
    uint64_t bytes;
    uint32_t count;
    struct seen_cell *list;
};
struct known_pair {
    uint32_t first, second; /* numbers of what two accesses touch; both 0: none */
    bool apart;
};

struct class_info {
    const struct rh_access *access; /* the first member stands for all */
    uint32_t tag;                   /* its type tag */
    bool writes;
    bool librarys; /* made by the C++ library to what is its own */
    bool fresh;    /* to blocks that nobody else knows yet */
    bool vague;    /* some fact is */
    uint32_t seen; /* number of what it touches by declarations, or NOT_SEEN */
    uint32_t fact_count;
    struct fact *facts;
};

enum meeting {
    MEET_NEVER,
    MEET_LOCKED, /* only where both hold locks */
    MEET_UNLOCKED,
};

/* A class that touches an object. They stand by type tag, and then by class. */
struct touch {
    uint32_t klass, fact, cell;
    uint32_t next; /* position of the first one with another tag */
};
struct touches RH_VEC_BODY(struct touch);
struct touched {
    struct touches reads, writes;
    struct touches known_reads, known_writes; /* of the outside: to objects that it knows */
};

/* What became of a class and the one being compared. */
struct partner {
    uint32_t stamp; /* the class being compared, plus 1 */
    enum rh_pair_fate fate;
    uint32_t object;
    uint64_t judged; /* pairs of facts of which another object would not say more, a bit each */
};

struct rh_pairs_work {
    struct rh_accesses *accesses;
    const struct rh_pointsto *pointsto;
    const struct rh_flow *flow;
    const struct rh_escape *escape;
    struct rh_perthread *perthread;
    struct rh_deadline *deadline;
    struct rh_pairs *out;
    struct rh_arena arena;
    RH_VEC(struct rh_idset) cells; /* interned */
    struct rh_map cells_of;
    RH_VEC(struct rh_idset) objects; /* interned */
    struct rh_map objects_of;
    /* By two numbers of sets, the larger first: an object that both have plus 2, or 1 if there is
     * none; 0 if that is not known yet. */
    uint32_t **common;
    RH_VEC(uint32_t) vague; /* classes */
    RH_VEC(struct ways) ways;
    struct rh_map ways_of;
    RH_VEC(struct class_info) infos; /* beside out->classes */
    struct rh_map class_of;
    uint8_t **meetings;       /* by two numbers of ways, the larger first: enum meeting plus 1 */
    uint32_t outside;         /* the object that stands for what the outside knows */
    struct touched *touched;  /* by object */
    struct partner *partners; /* by class */
    struct rh_bitset racing;  /* objects whose address is given away without order */
    struct rh_bitset emptied; /* objects all of whose contents are given away so */
    struct rh_bitset told;    /* classes whose part in this has been told */
    struct rh_bitset waiting; /* accesses that a loop waits with */
    bool trusts_library;      /* two accesses of its own to be ordered */
    const struct rh_pointsto *declared; /* by declarations; NULL: they are not trusted */
    RH_VEC(struct seen) seen;           /* interned */
    struct rh_map seen_of;
    struct known_pair *apart; /* what was asked of two of these; a cache */
    uint64_t seen_steps;      /* cells compared so far */
    uint32_t seen_now;
    bool fresh_now, vague_now, librarys_now;
    bool of_fresh; /* only pairs with such a class are being compared; else only the others */
    RH_VEC(uint32_t) met; /* partners of the class being compared */
    RH_VEC(struct fact) facts_now;
};

/* How many bytes the access touches; 0 if that is not known. */
static inline uint64_t rh_pairs_bytes_of(const struct rh_access *a)
{
    return a->flags & (RH_SITE_SIZED | RH_SITE_AT_LEAST) ? 0 : a->size;
}

/* Does the C++ library make the access to what is its own? */
bool rh_pairs_is_librarys(const struct rh_access *a);
/* The number of what the access touches by declarations, or NOT_SEEN. */
uint32_t rh_pairs_see(struct rh_pairs_work *w, const struct rh_access *a);
/* Do the two touch different memory? */
bool rh_pairs_apart(struct rh_pairs_work *w, uint32_t a, uint32_t b);
void rh_pairs_release_seen(struct rh_pairs_work *w);
/* Puts the access of this number into its class, or gives it the reason why it has none. */
void rh_pairs_classify(struct rh_pairs_work *w, uint32_t number);
/* All classes are there: files them by the objects that they touch. */
void rh_pairs_index(struct rh_pairs_work *w);
/* Compares the class with itself and those before it; the partners that it met are in `met`. */
void rh_pairs_compare(struct rh_pairs_work *w, uint32_t klass);
/* Marks the objects that are given away without order; true if there are more than before. */
bool rh_pairs_find_racing(struct rh_pairs_work *w);
/* Makes one class of those that nothing tells apart any more. */
void rh_pairs_merge(struct rh_pairs_work *w);
/* Gives each group its score and flags, and sorts them, best first. */
void rh_pairs_rank(struct rh_pairs *c);

#endif
