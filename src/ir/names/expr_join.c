/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The base of a pointer that is one of several (a phi or a select): what all of them have in
 * common.
 */
#include "ir/names/internal.h"

#include <string.h>

/* How many values one join may have. */
#define MAX_JOINED 8

/* The base of a pointer by itself, before it is known what is accessed through it. */
static bool set_pointer_base(struct rh_expr_query *q, struct rh_expr_way *way, struct rh_base *base)
{
    const struct rh_expr_choice *best = NULL;

    for (uint32_t i = 0; i < way->choice_count; i++) {
        const struct rh_expr_choice *c = &way->choices[i];

        if (c->name.grade == RH_NAME_LIVE && (!best || c->name.distance < best->name.distance))
            best = c;
    }
    if (best && rh_expr_set_variable(q, &best->name, base)) {
        way->offset = best->offset;
        way->spread = best->spread;
        way->term_count = best->term_count;
        return true;
    }
    return rh_expr_set_base(q, way, base);
}

static int64_t find_common_step(int64_t a, int64_t b)
{
    a = a < 0 ? -a : a;
    b = b < 0 ? -b : b;
    while (b != 0) {
        int64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* What the values of a phi or select have in common. */
struct join {
    struct rh_base base;
    bool is_empty;     /* no value yet */
    int64_t low, high; /* the offsets of the values from the base */
    int64_t step;      /* by what multiples they may move on besides; 0 if they do not */
};

static void add_steps(struct join *join, const struct rh_expr_way *way)
{
    for (uint32_t i = 0; i < way->term_count; i++)
        join->step = find_common_step(join->step, way->terms[i].scale);
    join->step = find_common_step(join->step, (int64_t)way->spread);
}

/* Takes one value in: the name stays if it is the same, else the type; false if neither is. */
static bool join_value(struct join *join, const struct rh_base *base, const struct rh_expr_way *way)
{
    struct rh_base *common = &join->base;

    if (join->is_empty) {
        join->is_empty = false;
        join->low = join->high = way->offset;
        *common = *base;
    }
    if (common->type != base->type ||
        (common->kind == RH_BASE_OBJECT && !common->type && strcmp(common->text, base->text) != 0))
        return false;
    if (common->kind != base->kind || strcmp(common->text, base->text) != 0)
        common->text[0] = '\0';
    join->low = way->offset < join->low ? way->offset : join->low;
    join->high = way->offset > join->high ? way->offset : join->high;
    add_steps(join, way);
    return *common->text || common->type;
}

static bool join_values(struct rh_expr_query *q, struct rh_value *root, struct join *join)
{
    uint32_t first = rh_expr_is_inst(root, RH_OP_SELECT) ? 1 : 0;
    struct rh_expr_way way;

    if (root->op_count - first > MAX_JOINED)
        return false;
    for (uint32_t i = first; i < root->op_count; i++) {
        enum rh_value_kind kind = root->ops[i]->kind;
        struct rh_base base;

        if (kind == RH_VALUE_NULL || kind == RH_VALUE_UNDEF)
            continue;
        rh_expr_walk_back(q, root->ops[i], 0, &way);
        if (way.at == root) { /* the loop moves the pointer on */
            join->step = find_common_step(join->step, way.offset);
            add_steps(join, &way);
        } else if (!set_pointer_base(q, &way, &base) || !join_value(join, &base, &way)) {
            return false;
        }
    }
    return !join->is_empty;
}

void rh_expr_set_joined(struct rh_expr_query *q, struct rh_value *root, struct rh_expr_way *way,
                        struct rh_base *base)
{
    struct join join = {.is_empty = true};
    bool is_known;

    if (q->depth >= RH_EXPR_MAX_DEPTH || way->term_count == RH_EXPR_MAX_TERMS ||
        !rh_expr_is_small(way->offset))
        return;
    q->depth++;
    is_known = join_values(q, root, &join);
    q->depth--;
    if (!is_known)
        return;
    *base = join.base;
    way->offset += join.low;
    if (join.step == 0) {
        way->spread += (uint64_t)(join.high - join.low);
        return;
    }
    way->terms[way->term_count++] =
        (struct rh_expr_term){.scale = find_common_step(join.step, join.high - join.low)};
}
