/* SPDX-License-Identifier: Apache-2.0 */
/* Finds accesses in loops whose addresses are known before: see sweep.h. */
#include "ir/graph/sweep.h"

enum { DEEPEST = 12, MOST_STRIDE = 1 << 14 };

struct walk {
    const struct rh_loop *loop;
    unsigned depth;
};

/* How much a value changes each time round. False if that is no constant, or not known. */
static bool find_change(struct walk *w, const struct rh_value *v, int64_t *change);

static bool is_outside(const struct rh_loop *loop, const struct rh_value *v)
{
    return v->kind != RH_VALUE_INST || !rh_cfg_loop_contains(loop, v->block);
}

static struct rh_value *incoming(const struct rh_value *phi, const struct rh_block *from)
{
    for (uint32_t i = 0; i < phi->op_count; i++)
        if (phi->targets[i] == from)
            return phi->ops[i];
    return NULL;
}

/* What a phi of the header changes by: its value for the next round is a sum with itself. */
static bool find_step(const struct rh_loop *loop, const struct rh_value *phi, int64_t *step,
                      bool *never_wraps)
{
    const struct rh_value *next = incoming(phi, loop->latches[0]);
    if (!next || next->kind != RH_VALUE_INST)
        return false;
    *never_wraps = next->never_wraps;
    if (next->op == RH_OP_GEP && next->gep && !next->gep->unknown && !next->gep->term_count &&
        next->ops[0] == phi) {
        *step = next->gep->offset;
        *never_wraps = !next->gep->is_loose;
        return true;
    }
    if (next->op != RH_OP_ADD || next->ops[0] != phi || next->ops[1]->kind != RH_VALUE_INT)
        return false;
    *step = next->ops[1]->num;
    return true;
}

static bool change_of_gep(struct walk *w, const struct rh_value *v, int64_t *change)
{
    int64_t part;
    if (!v->gep || v->gep->unknown || !find_change(w, v->ops[0], change))
        return false;
    for (uint32_t i = 0; i < v->gep->term_count; i++) {
        const struct rh_gep_term *term = &v->gep->terms[i];
        if (!find_change(w, term->index, &part) || (part && term->index->type->bits < 64) ||
            __builtin_mul_overflow(part, term->scale, &part) ||
            __builtin_add_overflow(*change, part, change))
            return false;
    }
    return true;
}

/* A number that is made wider: it goes on as before only if it never wraps. */
static bool change_of_wide(struct walk *w, const struct rh_value *v, int64_t *change)
{
    const struct rh_value *narrow = v->ops[0];
    int64_t step;
    bool never_wraps = false;
    if (!find_change(w, narrow, change))
        return false;
    if (!*change)
        return true;
    return v->op == RH_OP_SEXT && narrow->op == RH_OP_PHI &&
           find_step(w->loop, narrow, &step, &never_wraps) && never_wraps;
}

static bool change_of_product(struct walk *w, const struct rh_value *v, int64_t *change)
{
    const struct rh_value *by = v->ops[1];
    if (by->kind != RH_VALUE_INT || !find_change(w, v->ops[0], change))
        return false;
    if (v->op == RH_OP_SHL && (by->num < 0 || by->num > 32))
        return false;
    return !__builtin_mul_overflow(*change, v->op == RH_OP_SHL ? INT64_C(1) << by->num : by->num,
                                   change);
}

static bool change_of_sum(struct walk *w, const struct rh_value *v, int64_t *change)
{
    int64_t second;
    if (!find_change(w, v->ops[0], change) || !find_change(w, v->ops[1], &second))
        return false;
    return v->op == RH_OP_SUB ? !__builtin_sub_overflow(*change, second, change)
                              : !__builtin_add_overflow(*change, second, change);
}

/* An operation of values that do not change gives one. */
static bool is_still(struct walk *w, const struct rh_value *v, int64_t *change)
{
    for (uint32_t i = 0; i < v->op_count; i++)
        if (!find_change(w, v->ops[i], change) || *change)
            return false;
    *change = 0;
    return true;
}

static bool change_of_inst(struct walk *w, const struct rh_value *v, int64_t *change)
{
    bool never_wraps;
    switch (v->op) {
    case RH_OP_PHI:
        return v->block == w->loop->header && find_step(w->loop, v, change, &never_wraps);
    case RH_OP_GEP:
        return change_of_gep(w, v, change);
    case RH_OP_ADD:
    case RH_OP_SUB:
        return change_of_sum(w, v, change);
    case RH_OP_OR:
        return v->never_wraps ? change_of_sum(w, v, change) : is_still(w, v, change);
    case RH_OP_MUL:
    case RH_OP_SHL:
        return change_of_product(w, v, change);
    case RH_OP_TRUNC:
        return find_change(w, v->ops[0], change);
    case RH_OP_SEXT:
    case RH_OP_ZEXT:
        return change_of_wide(w, v, change);
    case RH_OP_AND:
    case RH_OP_XOR:
    case RH_OP_LSHR:
    case RH_OP_ASHR:
        return is_still(w, v, change);
    default:
        return false;
    }
}

static bool find_change(struct walk *w, const struct rh_value *v, int64_t *change)
{
    *change = 0;
    if (is_outside(w->loop, v))
        return true;
    if (w->depth == DEEPEST || v->type->kind == RH_TYPE_VECTOR)
        return false;
    w->depth++;
    bool found = change_of_inst(w, v, change);
    w->depth--;
    return found;
}

/* --- how often --- */

static uint8_t negated(uint8_t predicate)
{
    static const uint8_t negations[] = {33, 32, 37, 36, 35, 34, 41, 40, 39, 38};
    return negations[predicate - 32];
}

static uint8_t turned(uint8_t predicate)
{
    static const uint8_t others[] = {32, 33, 36, 37, 34, 35, 40, 41, 38, 39};
    return others[predicate - 32];
}

static bool never_wraps(const struct rh_loop *loop, const struct rh_value *left)
{
    int64_t step;
    bool holds = false;
    if (left->op == RH_OP_PHI)
        return left->block == loop->header && find_step(loop, left, &step, &holds) && holds;
    const struct rh_value *phi = left->op_count ? left->ops[0] : left;
    return phi->op == RH_OP_PHI && phi->block == loop->header &&
           incoming(phi, loop->latches[0]) == left && find_step(loop, phi, &step, &holds) && holds;
}

static bool is_power_of_two(uint64_t number)
{
    return number && !(number & (number - 1));
}

/* A comparison for difference is made with each number on the way, so none is passed by; a step
 * that is no power of two may first come there when it has wrapped. */
static bool is_countable(const struct rh_loop *loop, const struct rh_sweep_count *count)
{
    uint64_t size = count->step < 0 ? 0 - (uint64_t)count->step : (uint64_t)count->step;
    bool is_up = count->step > 0;
    switch (count->predicate) {
    case RH_PREDICATE_NE:
        return is_power_of_two(size) || never_wraps(loop, count->left);
    case RH_PREDICATE_ULT:
    case RH_PREDICATE_SLT:
        return is_up && (size == 1 || never_wraps(loop, count->left));
    case RH_PREDICATE_UGT:
    case RH_PREDICATE_SGT:
        return !is_up && (size == 1 || never_wraps(loop, count->left));
    default:
        return false;
    }
}

/* The loop's one way out is at its end. */
static bool find_count(const struct rh_loop *loop, struct rh_sweep_count *out)
{
    const struct rh_block *last = loop->latches[0];
    const struct rh_value *end = last->last;
    struct walk w = {.loop = loop};
    if (loop->exit_count != 1 || end->op != RH_OP_BR || last->succ_count != 2)
        return false;
    for (uint32_t b = 0; b < loop->block_count; b++)
        for (uint32_t s = 0; s < loop->blocks[b]->succ_count; s++)
            if (loop->blocks[b] != last && !rh_cfg_loop_contains(loop, loop->blocks[b]->succs[s]))
                return false;
    const struct rh_value *test = end->ops[0];
    if (test->kind != RH_VALUE_INST || test->op != RH_OP_ICMP || is_outside(loop, test))
        return false;
    uint8_t predicate = last->succs[0] == loop->header ? test->predicate : negated(test->predicate);
    *out = (struct rh_sweep_count){
        .left = test->ops[0], .right = test->ops[1], .predicate = predicate};
    if (is_outside(loop, out->left))
        *out = (struct rh_sweep_count){
            .left = test->ops[1], .right = test->ops[0], .predicate = turned(predicate)};
    enum rh_type_kind kind = out->left->type->kind;
    return is_outside(loop, out->right) && (kind == RH_TYPE_INT || kind == RH_TYPE_PTR) &&
           (kind == RH_TYPE_PTR || out->left->type->bits <= 64) &&
           find_change(&w, out->left, &out->step) && out->step && is_countable(loop, out);
}

/* --- the access --- */

/* Whether each round passes the block, the first one too, whatever way it leaves. */
static bool is_in_each_round(const struct rh_cfg *cfg, const struct rh_loop *loop,
                             const struct rh_block *block)
{
    for (uint32_t b = 0; b < loop->block_count; b++) {
        const struct rh_block *from = loop->blocks[b];
        bool ends = from->succ_count == 0;
        for (uint32_t s = 0; s < from->succ_count; s++)
            ends |= from->succs[s] == loop->header || !rh_cfg_loop_contains(loop, from->succs[s]);
        if (ends && !rh_cfg_dominates(cfg, block, from))
            return false;
    }
    return true;
}

bool rh_sweep_find(const struct rh_cfg *cfg, const struct rh_value *inst, struct rh_value *pointer,
                   struct rh_sweep *out)
{
    const struct rh_loop *loop = rh_cfg_loop_of(cfg, inst->block);
    if (!loop || !loop->innermost || !loop->preheader || loop->latch_count != 1 ||
        loop->preheader->last->op != RH_OP_BR || !is_in_each_round(cfg, loop, inst->block))
        return false;
    *out = (struct rh_sweep){.before = loop->preheader,
                             .header = loop->header,
                             .block_count = loop->block_count,
                             .blocks = loop->blocks};
    struct walk w = {.loop = loop};
    if (!find_change(&w, pointer, &out->stride))
        return false;
    return !out->stride || (out->stride > -MOST_STRIDE && out->stride < MOST_STRIDE &&
                            find_count(loop, &out->count));
}
