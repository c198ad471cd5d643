/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which variables a value is, and what globals are called, for the files that put expressions
 * together (internal.h).
 */
#ifndef RH_IR_NAMES_EXPR_NAMES_H
#define RH_IR_NAMES_EXPR_NAMES_H

#include "ir/debug/diexpr.h"
#include "ir/debug/frames.h"
#include "ir/debug/varloc.h"

struct rh_names {
    struct rh_module *m;
    struct rh_ditypes *types;
    struct rh_scopes scopes;
    struct rh_diexprs exprs;
    struct rh_varlocs *vars;
    struct rh_arena arena;
    struct rh_map globals; /* value id -> struct rh_global_name * */
};

void rh_names_init(struct rh_names *names, struct rh_module *m, struct rh_ditypes *types);
void rh_names_release(struct rh_names *names);

struct rh_global_name {
    const char *text;       /* NULL if it has none that a programmer wrote */
    struct rh_ditype *type; /* NULL if unknown */
    int64_t offset;         /* where in the variable the global begins, if it is a part of it */
    bool is_literal;
};

const struct rh_global_name *rh_names_global(struct rh_names *names, const struct rh_value *global);

/* How certain it is that a value is a variable at the instruction that asks, most certain last. */
enum rh_name_grade {
    RH_NAME_PAST,  /* it was; since then the variable became something else */
    RH_NAME_FADED, /* it was; since then the variable was lost from debug information */
    RH_NAME_LIVE,
};

struct rh_name {
    const struct rh_variable *variable;
    enum rh_vardef_kind kind;
    enum rh_name_grade grade;
    int64_t plus; /* as in struct rh_vardef */
    int distance; /* of the variable's scope, as in frames.h */
};

/* The distance of a variable that lies in the memory but is not in scope. */
#define RH_DISTANCE_OUTSIDE INT32_MAX

#define RH_NAMES_MAX 16

struct rh_name_list {
    uint32_t count;
    struct rh_name names[RH_NAMES_MAX];
};

/* The variables that `value` is, as seen by `inst` in these frames. Replaces what is in `out`. */
void rh_names_of(struct rh_names *names, const struct rh_frames *frames,
                 const struct rh_value *inst, const struct rh_value *value,
                 struct rh_name_list *out);

#endif
