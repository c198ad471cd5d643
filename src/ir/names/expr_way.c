/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows a pointer back through casts and additions to where it comes from, and collects what was
 * added on the way and the variables that were met.
 */
#include "ir/names/internal.h"

#include <string.h>

/* How many pointers are followed for one access before giving up, so that webs of joins and loads
 * cost no more than a little. */
#define MAX_WAYS 64

static bool returns_argument(const struct rh_value *call)
{
    static const char *const intrinsics[] = {
        "llvm.threadlocal.address",
        "llvm.launder.invariant.group",
        "llvm.strip.invariant.group",
        "llvm.ptr.annotation",
        "llvm.ssa.copy",
    };

    for (size_t i = 0; call->intrinsic && i < sizeof intrinsics / sizeof intrinsics[0]; i++) {
        if (strcmp(call->intrinsic, intrinsics[i]) == 0)
            return true;
    }
    return false;
}

static bool joins_one_value(const struct rh_value *phi)
{
    for (uint32_t i = 1; i < phi->op_count; i++) {
        if (phi->ops[i] != phi->ops[0])
            return false;
    }
    return phi->op_count > 0 && phi->ops[0] != phi;
}

static bool has_constant(const struct rh_value *v)
{
    return v->op_count == 2 && v->ops[1]->kind == RH_VALUE_INT && rh_expr_is_small(v->ops[1]->num);
}

/* What an index is multiplied by; 0 if that is not known. */
static int64_t get_factor(const struct rh_value *v)
{
    int64_t number = has_constant(v) ? v->ops[1]->num : 0;

    if (v->op == RH_OP_SHL)
        return number > 0 && number < 30 ? INT64_C(1) << number : 0;
    return number;
}

bool rh_expr_reduce_term(struct rh_expr_term *term, int64_t *offset)
{
    const struct rh_value *v = term->index;

    if (v->kind != RH_VALUE_INST)
        return false;
    switch (v->op) {
    case RH_OP_SEXT:
    case RH_OP_ZEXT:
    case RH_OP_TRUNC:
    case RH_OP_FREEZE:
        break;
    case RH_OP_PHI:
        if (!joins_one_value(v))
            return false;
        break;
    case RH_OP_ADD:
    case RH_OP_SUB:
    case RH_OP_OR:
        if (!has_constant(v) || (v->op == RH_OP_OR && !LLVMGetIsDisjoint(v->handle)))
            return false;
        term->add += v->op == RH_OP_SUB ? -v->ops[1]->num : v->ops[1]->num;
        if (!rh_expr_is_small(term->add))
            return false;
        break;
    case RH_OP_MUL:
    case RH_OP_SHL:
        if (get_factor(v) == 0 || !rh_expr_is_small(term->scale * get_factor(v)))
            return false;
        *offset += term->add * term->scale;
        term->add = 0;
        term->scale *= get_factor(v);
        break;
    default:
        return false;
    }
    term->index = v->ops[0];
    return true;
}

/* Takes multiplications into the scale. What is added to the index stays there, because the sum may
 * have a name of its own. */
static void scale_term(struct rh_expr_term *term, int64_t *offset)
{
    struct rh_expr_term reduced = *term;
    int64_t added = 0;

    for (int i = 0; i < RH_EXPR_MAX_STEPS && rh_expr_reduce_term(&reduced, &added); i++) {
        if (reduced.scale == term->scale)
            continue;
        *term = reduced;
        *offset += added;
        added = 0;
    }
}

/* An index that is one of two constants is no variable. */
static bool chooses_constant(const struct rh_expr_term *term, struct rh_expr_way *way)
{
    const struct rh_value *v = term->index;
    int64_t a, b;

    if (!rh_expr_is_inst(v, RH_OP_SELECT) || v->ops[1]->kind != RH_VALUE_INT ||
        v->ops[2]->kind != RH_VALUE_INT || !rh_expr_is_small(v->ops[1]->num) ||
        !rh_expr_is_small(v->ops[2]->num))
        return false;
    a = (v->ops[1]->num + term->add) * term->scale;
    b = (v->ops[2]->num + term->add) * term->scale;
    way->offset += a < b ? a : b;
    way->spread += (uint64_t)(a < b ? b - a : a - b);
    return true;
}

static bool add_term(struct rh_expr_way *way, const struct rh_gep_term *from)
{
    struct rh_expr_term term = {.index = from->index, .scale = from->scale};

    if (way->term_count == RH_EXPR_MAX_TERMS || !rh_expr_is_small(term.scale))
        return false;
    scale_term(&term, &way->offset);
    if (!chooses_constant(&term, way))
        way->terms[way->term_count++] = term;
    return true;
}

static void add_gep(struct rh_expr_way *way, const struct rh_gep *gep)
{
    if (!rh_expr_is_small(gep->offset) || !rh_expr_is_small(way->offset)) {
        way->is_broken = true;
        return;
    }
    way->offset += gep->offset;
    for (uint32_t i = 0; i < gep->term_count && !way->is_broken; i++)
        way->is_broken = !add_term(way, &gep->terms[i]);
}

/* One step back; false if the way ends here. */
static bool step_back(struct rh_expr_way *way)
{
    struct rh_value *v = way->at;
    bool goes_on;

    if (v->kind == RH_VALUE_ALIAS) {
        goes_on = !v->is_ifunc && v->op_count > 0;
    } else if (v->kind != RH_VALUE_INST && v->kind != RH_VALUE_EXPR) {
        return false;
    } else {
        switch (v->op) {
        case RH_OP_GEP:
            goes_on = v->type->kind == RH_TYPE_PTR;
            if (goes_on)
                add_gep(way, v->gep);
            break;
        case RH_OP_BITCAST:
        case RH_OP_ADDRSPACECAST:
        case RH_OP_INTTOPTR: /* how atomic pointers are loaded */
        case RH_OP_FREEZE:
            goes_on = true;
            break;
        case RH_OP_PHI:
            goes_on = joins_one_value(v);
            break;
        default:
            goes_on = v->op == RH_OP_CALL && returns_argument(v);
        }
    }
    if (goes_on)
        way->at = v->ops[0];
    return goes_on;
}

static void add_choices(struct rh_expr_query *q, struct rh_expr_way *way)
{
    struct rh_name_list list;

    rh_names_of(&q->e->names, &q->frames, q->inst, way->at, &list);
    for (uint32_t i = 0; i < list.count && way->choice_count < RH_EXPR_MAX_CHOICES; i++) {
        if (list.names[i].kind == RH_VARDEF_INDIRECT ||
            (list.names[i].distance == RH_DISTANCE_OUTSIDE && q->depth > 1))
            continue;
        way->choices[way->choice_count++] = (struct rh_expr_choice){
            .name = list.names[i],
            .offset = way->offset - list.names[i].plus,
            .spread = way->spread,
            .term_count = way->term_count,
        };
    }
}

void rh_expr_walk_back(struct rh_expr_query *q, struct rh_value *ptr, int64_t offset,
                       struct rh_expr_way *way)
{
    int steps = 0;

    way->at = ptr;
    way->offset = offset;
    way->term_count = way->choice_count = 0;
    way->spread = 0;
    way->is_broken = q->ways++ >= MAX_WAYS || !rh_expr_is_small(offset);
    if (way->is_broken)
        return;
    do
        add_choices(q, way);
    while (!way->is_broken && steps++ < RH_EXPR_MAX_STEPS && step_back(way));
}
