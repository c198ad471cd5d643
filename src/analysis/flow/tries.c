/* SPDX-License-Identifier: Apache-2.0 */
/* What a branch says about locks that were tried: they are held where the try is known to have
 * returned what it returns on success. */
#include "analysis/flow/internal.h"

/* LLVM's numbers of predicates. */
enum { PREDICATE_EQ = 32, PREDICATE_NE = 33 };
enum { MOST_STEPS = 8 };

struct decision {
    struct rh_flow *f;
    uint32_t locks;
};

static void decide(struct decision *d, const struct rh_value *v, int64_t num, bool equal,
                   uint32_t steps);

static const struct rh_effect *find_try(const struct rh_value *call)
{
    const struct rh_value *callee = call->callee;
    const struct rh_library_row *row =
        callee->kind == RH_VALUE_FUNCTION ? rh_library_find(callee->fn->name) : NULL;
    for (uint32_t i = 0; row && i < row->effect_count; i++)
        if (row->effects[i].kind == RH_EFFECT_TRY_LOCK ||
            row->effects[i].kind == RH_EFFECT_TRY_READ_LOCK)
            return &row->effects[i];
    return NULL;
}

static void decide_call(struct decision *d, const struct rh_value *call, int64_t num, bool equal)
{
    const struct rh_effect *e = find_try(call);
    if (!e)
        return;
    if (equal)
        d->locks = flow_locks_decide(d->f, d->locks, call, num == e->success);
    else if (num == e->success || num == 0) /* what returns 1 on success returns 0 otherwise */
        d->locks = flow_locks_decide(d->f, d->locks, call, num != e->success);
}

/* A bit that is not 0 is 1. */
static bool is_true(const struct rh_value *v, int64_t num, bool equal, bool *truth)
{
    if (v->type->kind != RH_TYPE_INT || v->type->bits != 1)
        return false;
    *truth = (num != 0) == equal;
    return true;
}

static void decide_compare(struct decision *d, const struct rh_value *v, bool truth, uint32_t steps)
{
    if (v->ops[1]->kind != RH_VALUE_INT ||
        (v->predicate != PREDICATE_EQ && v->predicate != PREDICATE_NE))
        return;
    decide(d, v->ops[0], v->ops[1]->num, (v->predicate == PREDICATE_EQ) == truth, steps);
}

static bool is_bit(const struct rh_value *v, bool bit)
{
    return v->kind == RH_VALUE_INT && v->type->bits == 1 && (v->num != 0) == bit;
}

/* `a && b` that is true makes both true; `a || b` that is false makes both false. */
static void decide_logic(struct decision *d, const struct rh_value *v, bool truth, uint32_t steps)
{
    const struct rh_value *a = v->ops[0], *b = v->ops[1];
    bool is_and = v->op == RH_OP_AND;
    if (v->op == RH_OP_SELECT) {
        bool and_form = is_bit(v->ops[2], false), or_form = is_bit(v->ops[1], true);
        if (and_form == or_form)
            return;
        is_and = and_form;
        b = and_form ? v->ops[1] : v->ops[2];
    }
    if (is_and != truth)
        return;
    decide(d, a, truth, true, steps);
    decide(d, b, truth, true, steps);
}

static void decide_bit(struct decision *d, const struct rh_value *v, bool truth, uint32_t steps)
{
    switch (v->op) {
    case RH_OP_ICMP:
        decide_compare(d, v, truth, steps);
        return;
    case RH_OP_XOR:
        if (is_bit(v->ops[1], true))
            decide(d, v->ops[0], !truth, true, steps);
        return;
    case RH_OP_AND:
    case RH_OP_OR:
    case RH_OP_SELECT:
        decide_logic(d, v, truth, steps);
        return;
    default:
        return;
    }
}

/* It is known that v equals `num`, or that it does not. */
static void decide(struct decision *d, const struct rh_value *v, int64_t num, bool equal,
                   uint32_t steps)
{
    bool truth;
    if (v->kind != RH_VALUE_INST || steps == 0)
        return;
    if (v->op == RH_OP_CALL || v->op == RH_OP_INVOKE) {
        if (is_true(v, num, equal, &truth))
            decide_call(d, v, truth, true);
        else
            decide_call(d, v, num, equal);
    } else if (v->op == RH_OP_FREEZE ||
               ((v->op == RH_OP_ZEXT || v->op == RH_OP_SEXT) && num == 0)) {
        decide(d, v->ops[0], num, equal, steps - 1);
    } else if (v->op == RH_OP_ZEXT && num > 0 && v->ops[0]->type->bits > 1) {
        decide(d, v->ops[0], num, equal, steps - 1);
    } else if (v->op == RH_OP_ZEXT && num == 1 && v->ops[0]->type->bits == 1) {
        decide(d, v->ops[0], 1, equal, steps - 1);
    } else if (is_true(v, num, equal, &truth)) {
        decide_bit(d, v, truth, steps - 1);
    }
}

static void decide_switch(struct decision *d, const struct rh_value *v, const struct rh_block *to)
{
    uint32_t hits = 0, hit = 0;
    for (uint32_t i = 1; i < v->op_count; i++)
        if (v->targets[i] == to) {
            hits++;
            hit = i;
        }
    if (v->targets[0] != to && hits == 1)
        decide(d, v->ops[0], v->ops[hit]->num, true, MOST_STEPS);
    for (uint32_t i = 1; v->targets[0] == to && i < v->op_count; i++)
        if (v->targets[i] != to)
            decide(d, v->ops[0], v->ops[i]->num, false, MOST_STEPS);
}

uint32_t flow_decide_tries(struct rh_flow *f, uint32_t locks, const struct rh_block *from,
                           const struct rh_block *to)
{
    const struct flow_lockset *s = flow_lockset(f, locks);
    const struct rh_value *last = from->last;
    struct decision d = {f, locks};
    bool any = false;
    for (uint32_t i = 0; i < s->count; i++)
        any |= s->held[i].pending != 0;
    if (!any)
        return locks;
    if (last->op == RH_OP_BR && last->op_count == 1 && from->succ_count == 2)
        decide(&d, last->ops[0], to == from->succs[0], true, MOST_STEPS);
    else if (last->op == RH_OP_SWITCH)
        decide_switch(&d, last, to);
    return d.locks;
}
