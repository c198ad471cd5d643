/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How an expression is put together, for the files that share the work: expr.c (which text is the
 * best), expr_way.c (the way back from a pointer), expr_base.c and expr_join.c (what it ends at),
 * expr_index.c (names of indices).
 */
#ifndef RH_IR_NAMES_INTERNAL_H
#define RH_IR_NAMES_INTERNAL_H

#include "ir/names/expr_names.h"
#include "ir/names/expr_text.h"
#include "ir/names/struct_hint.h"

/* How many loads and joins an expression may lead through. */
#define RH_EXPR_MAX_DEPTH 5
/* How many steps back a pointer is followed, and how many variable indices may be on the way. */
#define RH_EXPR_MAX_STEPS   32
#define RH_EXPR_MAX_TERMS   6
#define RH_EXPR_MAX_CHOICES 24
/* Larger numbers are no offsets, sizes or indices of anything; keeping below them also keeps sums
 * and products of a few from overflowing. */
#define RH_EXPR_MAX_NUMBER (INT64_C(1) << 30)
/* Indices with longer names are left out. */
#define RH_EXPR_INDEX_SIZE 24

struct rh_expr {
    struct rh_module *m;
    struct rh_ditypes types;
    struct rh_names names;
    struct rh_struct_hints hints;
    unsigned optnone; /* LLVM's number of the attribute */
};

/* One call of rh_expr_describe: everything is seen by `inst`. */
struct rh_expr_query {
    struct rh_expr *e;
    const struct rh_value *inst;
    struct rh_frames frames;
    int depth;
    int ways; /* followed so far */
    bool is_unoptimised;
    bool only_live; /* ignore variables that have changed since */
};

/* Memory to name; for the loads that an expression leads through, `inst` is the load. */
struct rh_expr_access {
    const struct rh_value *inst;
    struct rh_value *ptr;
    int64_t offset;
    uint64_t size;
};

/* A variable from which the pointer was derived, and the bytes and terms that were added since. */
struct rh_expr_choice {
    struct rh_name name;
    int64_t offset;
    uint64_t spread;
    uint32_t term_count;
};

/* Bytes that depend on a variable: (index + add) * scale. */
struct rh_expr_term {
    const struct rh_value *index; /* NULL if it is made of several */
    int64_t add;
    int64_t scale;
};

/* The way back from a pointer, which is `at` plus an offset plus terms. */
struct rh_expr_way {
    struct rh_value *at;
    int64_t offset;
    uint32_t term_count;
    struct rh_expr_term terms[RH_EXPR_MAX_TERMS];
    bool is_broken;  /* it had more terms or larger numbers than can be handled */
    uint64_t spread; /* the offset may be larger by up to this */
    uint32_t choice_count;
    struct rh_expr_choice choices[RH_EXPR_MAX_CHOICES]; /* nearest first */
};

/* The way's terms with their indices named. */
struct rh_expr_named_terms {
    struct rh_member_term terms[RH_EXPR_MAX_TERMS];
    char names[RH_EXPR_MAX_TERMS][RH_EXPR_INDEX_SIZE];
};

static inline bool rh_expr_is_inst(const struct rh_value *v, enum rh_op op)
{
    return v->kind == RH_VALUE_INST && v->op == op;
}

static inline bool rh_expr_is_small(int64_t number)
{
    return number >= -RH_EXPR_MAX_NUMBER && number <= RH_EXPR_MAX_NUMBER;
}

/* The best text for an access, which may be one that the expression leads through. */
void rh_expr_find_text(struct rh_expr_query *q, const struct rh_expr_access *access,
                       struct rh_expr_text *out);

/* Follows the pointer back as far as that is certain. */
void rh_expr_walk_back(struct rh_expr_query *q, struct rh_value *ptr, int64_t offset,
                       struct rh_expr_way *way);
/* Takes one operation with a constant off an index; false if there is none. */
bool rh_expr_reduce_term(struct rh_expr_term *term, int64_t *offset);

/* A variable as a base; of one that was taken apart, the part. False if it cannot be one. */
bool rh_expr_set_variable(struct rh_expr_query *q, const struct rh_name *name,
                          struct rh_base *base);
/* What the way ends at, if that has a name or at least a type; the way's offset and terms become
 * relative to it. */
bool rh_expr_set_base(struct rh_expr_query *q, struct rh_expr_way *way, struct rh_base *base);
/* The base that all values of a phi or select have in common. Their offsets from it may differ: by
 * any multiple of a step, which becomes a term without a name, or within the way's spread. */
void rh_expr_set_joined(struct rh_expr_query *q, struct rh_value *root, struct rh_expr_way *way,
                        struct rh_base *base);

void rh_expr_name_terms(struct rh_expr_query *q, const struct rh_expr_way *way,
                        struct rh_expr_named_terms *named);

#endif
