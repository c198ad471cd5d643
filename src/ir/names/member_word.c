/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells from what is done with an accessed word what it is: which bits of it a bit-field access is
 * about, and whether it is a number.
 *
 * A bit-field write reads the word, clears the field with an `and`, sets it with an `or` and stores
 * the word back; a read cuts the field out with shifts, an `and` or a `trunc`.
 */
#include "ir/names/member_path.h"

#include <stddef.h>

static uint64_t mask_of(uint32_t width)
{
    return width >= 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
}

static bool is_const_op(const struct rh_value *v, enum rh_op op)
{
    return v->kind == RH_VALUE_INST && v->op == op && v->op_count == 2 &&
           v->ops[1]->kind == RH_VALUE_INT;
}

static bool loads_from(const struct rh_value *v, const struct rh_value *ptr)
{
    return v->kind == RH_VALUE_INST && v->op == RH_OP_LOAD && v->ops[0] == ptr;
}

/* The bits that a stored word changes of the word that was loaded from the same place. */
static uint64_t find_written(const struct rh_value *stored, const struct rh_value *ptr,
                             uint64_t mask)
{
    if (is_const_op(stored, RH_OP_AND) && loads_from(stored->ops[0], ptr))
        return ~(uint64_t)stored->ops[1]->num & mask;
    if (is_const_op(stored, RH_OP_OR) && loads_from(stored->ops[0], ptr))
        return (uint64_t)stored->ops[1]->num & mask;
    if (is_const_op(stored, RH_OP_XOR) && loads_from(stored->ops[0], ptr))
        return (uint64_t)stored->ops[1]->num & mask;
    if (stored->kind != RH_VALUE_INST || stored->op != RH_OP_OR)
        return 0;
    for (uint32_t i = 0; i < 2; i++) {
        const struct rh_value *side = stored->ops[i];

        if (is_const_op(side, RH_OP_AND) && loads_from(side->ops[0], ptr))
            return ~(uint64_t)side->ops[1]->num & mask;
    }
    return 0;
}

/* How many operations may lie between a cleared word and the store of it. */
#define MAX_REBUILD 4

static bool rebuilds_word(const struct rh_value *v)
{
    return v->kind == RH_VALUE_INST &&
           (v->op == RH_OP_OR || v->op == RH_OP_AND || v->op == RH_OP_XOR || v->op == RH_OP_PHI ||
            v->op == RH_OP_SELECT || v->op == RH_OP_STORE);
}

/* Whether the value goes into a word that is stored, and whether it can only be the one that it
 * came from. */
enum rebuild { REBUILD_NO, REBUILD_OTHER, REBUILD_SAME };

static enum rebuild find_rebuild(const struct rh_value *v, const struct rh_value *ptr, int depth)
{
    enum rebuild found = REBUILD_NO;

    for (uint32_t i = 0; i < v->user_count; i++) {
        const struct rh_value *user = v->users[i];
        enum rebuild next = REBUILD_OTHER;

        if (!rebuilds_word(user))
            continue;
        if (user->op == RH_OP_STORE && user->ops[1] == ptr)
            next = REBUILD_SAME;
        else if (user->op == RH_OP_OR && depth > 0)
            next = find_rebuild(user, ptr, depth - 1);
        if (next != REBUILD_SAME)
            return REBUILD_OTHER;
        found = REBUILD_SAME;
    }
    return found;
}

/* The bits of the word that reach the one user of a shifted word. */
static uint64_t find_shifted(const struct rh_value *shift, uint32_t width)
{
    uint64_t mask = mask_of(width);
    uint64_t by = (uint64_t)shift->ops[1]->num;
    const struct rh_value *user = shift->user_count == 1 ? shift->users[0] : NULL;

    if (by >= width)
        return 0;
    if (shift->op == RH_OP_SHL) {
        bool cuts = user && (is_const_op(user, RH_OP_ASHR) || is_const_op(user, RH_OP_LSHR));
        uint64_t back = cuts ? (uint64_t)user->ops[1]->num : 0;

        return cuts && back < width && back >= by ? (mask >> by) & ~mask_of((uint32_t)(back - by))
                                                  : 0;
    }
    if (user && is_const_op(user, RH_OP_AND))
        return ((uint64_t)user->ops[1]->num << by) & mask;
    if (user && user->kind == RH_VALUE_INST && user->op == RH_OP_TRUNC)
        return (mask_of(user->type->bits) << by) & mask;
    return ~mask_of((uint32_t)by) & mask;
}

/* Bits of a mask: those that it keeps if the result is used as it is, those that it clears if the
 * rest of the word is put back. */
static uint64_t find_masked(const struct rh_value *load, const struct rh_value *masked,
                            uint64_t mask)
{
    uint64_t bits = (uint64_t)masked->ops[1]->num & mask;

    switch (find_rebuild(masked, load->ops[0], MAX_REBUILD)) {
    case REBUILD_NO:
        return masked->op == RH_OP_AND ? bits : 0;
    case REBUILD_SAME:
        return masked->op == RH_OP_AND ? ~bits & mask : bits;
    default:
        return 0;
    }
}

static uint64_t find_read(const struct rh_value *load, const struct rh_value *user, uint32_t width)
{
    if (is_const_op(user, RH_OP_AND) || is_const_op(user, RH_OP_OR) || is_const_op(user, RH_OP_XOR))
        return find_masked(load, user, mask_of(width));
    if (is_const_op(user, RH_OP_SHL) || is_const_op(user, RH_OP_LSHR) ||
        is_const_op(user, RH_OP_ASHR))
        return find_shifted(user, width);
    return user->op == RH_OP_TRUNC ? mask_of(user->type->bits) : 0;
}

uint64_t rh_member_bits(const struct rh_value *inst)
{
    uint64_t bits = 0;

    if (inst->kind != RH_VALUE_INST || !inst->access || inst->access->kind != RH_TYPE_INT ||
        inst->access->bits > 64)
        return 0;
    if (inst->op == RH_OP_STORE)
        return find_written(inst->ops[0], inst->ops[1], mask_of(inst->access->bits));
    if (inst->op != RH_OP_LOAD)
        return 0;
    for (uint32_t i = 0; i < inst->user_count; i++) {
        const struct rh_value *user = inst->users[i];
        uint64_t read = user->kind == RH_VALUE_INST ? find_read(inst, user, inst->access->bits) : 0;

        if (read == 0)
            return 0;
        bits |= read;
    }
    return bits;
}

/* What is only done to integers. Masks and shifts are not here: they also take structs and floating
 * numbers apart. */
static bool is_arithmetic(const struct rh_value *v)
{
    if (v->kind != RH_VALUE_INST)
        return false;
    switch (v->op) {
    case RH_OP_ADD:
    case RH_OP_SUB:
    case RH_OP_MUL:
    case RH_OP_UDIV:
    case RH_OP_SDIV:
    case RH_OP_UREM:
    case RH_OP_SREM:
    case RH_OP_SEXT:
    case RH_OP_ZEXT:
        return true;
    default:
        return false;
    }
}

static bool is_integer_use(const struct rh_value *user)
{
    if (is_arithmetic(user))
        return true;
    return user->kind == RH_VALUE_INST &&
           (user->op == RH_OP_ICMP || user->op == RH_OP_SWITCH || user->op == RH_OP_GEP ||
            user->op == RH_OP_SITOFP || user->op == RH_OP_UITOFP);
}

/* The bits of a floating number other than 0, or of a pointer, are a large number. */
static bool is_small(const struct rh_value *v)
{
    const int64_t limit = INT64_C(1) << 20;

    return v->kind == RH_VALUE_INT && v->num != 0 && v->num > -limit && v->num < limit;
}

bool rh_member_is_number(const struct rh_value *inst)
{
    const struct rh_value *stored;

    if (!inst->access || inst->access->kind != RH_TYPE_INT)
        return false;
    if (inst->op == RH_OP_STORE) {
        stored = inst->ops[0];
        return is_arithmetic(stored) || is_small(stored) ||
               (stored->kind == RH_VALUE_INST &&
                (stored->op == RH_OP_FPTOSI || stored->op == RH_OP_FPTOUI));
    }
    for (uint32_t i = 0; i < inst->user_count && inst->op == RH_OP_LOAD; i++) {
        if (is_integer_use(inst->users[i]))
            return true;
    }
    return false;
}
