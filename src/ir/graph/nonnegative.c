/* SPDX-License-Identifier: Apache-2.0 */
/* Follows numbers back to see that they are never below zero: see nonnegative.h. */
#include "ir/graph/nonnegative.h"

enum { MOST_STEPS = 24, DEEPEST = 8 };

struct walk {
    const struct rh_value *phis[DEEPEST]; /* on the way: assumed */
    unsigned depth;
    unsigned steps; /* made so far */
};

static bool is_never_negative(struct walk *w, const struct rh_value *v);

static bool is_positive_number(const struct rh_value *v)
{
    return v->kind == RH_VALUE_INT && v->num > 0;
}

static bool is_one_of_two(struct walk *w, const struct rh_value *v)
{
    return is_never_negative(w, v->ops[0]) || is_never_negative(w, v->ops[1]);
}

static bool are_all(struct walk *w, const struct rh_value *v, uint32_t from)
{
    for (uint32_t i = from; i < v->op_count; i++)
        if (!is_never_negative(w, v->ops[i]))
            return false;
    return true;
}

static bool is_joined(struct walk *w, const struct rh_value *phi)
{
    for (unsigned i = 0; i < w->depth; i++)
        if (w->phis[i] == phi)
            return true;
    if (w->depth == DEEPEST)
        return false;
    w->phis[w->depth++] = phi;
    bool all = are_all(w, phi, 0);
    w->depth--;
    return all;
}

static bool is_made_so(struct walk *w, const struct rh_value *v)
{
    switch (v->op) {
    case RH_OP_ZEXT:
        return true;
    case RH_OP_SEXT:
    case RH_OP_FREEZE:
        return is_never_negative(w, v->ops[0]);
    case RH_OP_AND:
        return is_one_of_two(w, v);
    case RH_OP_LSHR:
    case RH_OP_UREM:
        return is_positive_number(v->ops[1]);
    case RH_OP_UDIV:
        return v->ops[1]->kind == RH_VALUE_INT && v->ops[1]->num > 1;
    case RH_OP_ADD:
    case RH_OP_MUL:
        return v->never_wraps && are_all(w, v, 0);
    case RH_OP_OR:
        return are_all(w, v, 0);
    case RH_OP_SELECT:
        return are_all(w, v, 1);
    case RH_OP_PHI:
        return is_joined(w, v);
    default:
        return false;
    }
}

static bool is_never_negative(struct walk *w, const struct rh_value *v)
{
    if (v->kind == RH_VALUE_INT)
        return v->num >= 0;
    return v->kind == RH_VALUE_INST && w->steps++ < MOST_STEPS && is_made_so(w, v);
}

bool rh_nonnegative_holds(const struct rh_value *v)
{
    struct walk walk = {0};
    return is_never_negative(&walk, v);
}
