/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names the memory that an access touches.
 *
 * A text is put together from a base that has a name (a variable, or what a load found in
 * memory that has one) and an offset from it. The variables met on the way back from the pointer
 * are tried first, then what the way ends at. Several texts may be right; the best is the one
 * that says the most in the words of the function that the access stands in.
 */
#include "ir/names/expr.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/mem.h"
#include "ir/names/internal.h"

/* In `*p++` the access may come after the new value of p, of which it is then said that it is the
 * old one plus something; nobody wrote `p[-1]`. */
static enum rh_name_grade get_grade(const struct rh_expr_choice *c)
{
    return c->offset < 0 && c->name.plus > 0 ? RH_NAME_PAST : c->name.grade;
}

static bool points_to_record(const struct rh_expr_choice *c)
{
    const struct rh_ditype *type = c->name.variable->type;

    return type && type->target && type->target->kind == RH_DITYPE_RECORD;
}

/* How far before the access the variable points. Very far is one that points behind it, and one to
 * numbers or characters that lies before it only by chance: after `end = buf + 8`, `buf[9]` is not
 * `end[1]`. */
static int64_t get_reach(const struct rh_expr_choice *c)
{
    bool is_chance = c->name.kind == RH_VARDEF_VALUE && c->name.plus != 0 && c->offset > 0;

    return c->offset < 0 || (is_chance && !points_to_record(c)) ? INT64_MAX : c->offset;
}

/* Better is: says more, is surer, is nearer in the source, points nearer to the access, is a
 * variable and not a part of one, points to more than bytes. */
static bool is_better(const struct rh_expr_text *found, const struct rh_expr_choice *c,
                      const struct rh_expr_text *best, const struct rh_expr_choice *best_c)
{
    if (found->rank != best->rank || !best_c)
        return found->rank > best->rank;
    if (get_grade(c) != get_grade(best_c))
        return get_grade(c) > get_grade(best_c);
    if (c->name.distance != best_c->name.distance)
        return c->name.distance < best_c->name.distance;
    if (get_reach(c) != get_reach(best_c))
        return get_reach(c) < get_reach(best_c);
    if (c->name.variable->is_part != best_c->name.variable->is_part)
        return best_c->name.variable->is_part;
    return points_to_record(c) && !points_to_record(best_c);
}

/* The place relative to a base that lies so far before it. If it may lie at several offsets, it is
 * all of them together, and what the compiler says of one of them is no help. */
static struct rh_member_query move_query(const struct rh_member_query *wanted, int64_t offset,
                                         uint64_t spread, uint32_t term_count)
{
    struct rh_member_query moved = *wanted;

    moved.offset = offset;
    moved.term_count = term_count;
    if (spread > 0) {
        moved.size = spread + (wanted->size ? wanted->size : 1);
        moved.hint.kind = RH_HINT_NONE;
    }
    return moved;
}

/* Whether a name in the text is reserved for the implementation: two underscores, or one and a
 * capital. A program has no such names of its own. */
static bool is_internal(const char *text)
{
    for (const char *at = text; *at; at++) {
        bool begins = at == text || (!isalnum((unsigned char)at[-1]) && at[-1] != '_');

        if (begins && at[0] == '_' && (at[1] == '_' || isupper((unsigned char)at[1])))
            return true;
    }
    return false;
}

/* What only a library's implementation calls so is the last choice. */
static void lower_internal(struct rh_expr_text *found, bool is_internal_name)
{
    if (found->rank > RH_RANK_INTERNAL && (is_internal_name || is_internal(found->text)))
        found->rank = RH_RANK_INTERNAL;
}

/* Tries the variables on the way that are surely meant, or those that once were. */
static void try_variables(struct rh_expr_query *q, const struct rh_expr_way *way,
                          const struct rh_member_query *wanted, bool is_live,
                          struct rh_expr_text *best)
{
    const struct rh_expr_choice *best_c = NULL;

    for (uint32_t i = 0; i < way->choice_count; i++) {
        const struct rh_expr_choice *c = &way->choices[i];
        struct rh_expr_text found;
        struct rh_member_query moved;
        struct rh_base base;

        if ((get_grade(c) == RH_NAME_LIVE) != is_live || (q->only_live && !is_live) ||
            !rh_expr_set_variable(q, &c->name, &base))
            continue;
        moved = move_query(wanted, c->offset, c->spread, c->term_count);
        rh_expr_text_compose(&q->e->types, &base, &moved, &found);
        lower_internal(&found, c->name.distance != RH_DISTANCE_OUTSIDE &&
                                   rh_frames_is_library(c->name.distance));
        if (is_better(&found, c, best, best_c)) {
            *best = found;
            best_c = c;
        }
    }
}

static void try_base(struct rh_expr_query *q, struct rh_expr_way *way,
                     const struct rh_member_query *wanted, struct rh_expr_text *best)
{
    uint32_t known_terms = way->term_count;
    struct rh_expr_text found;
    struct rh_member_query moved;
    struct rh_base base;

    if (!rh_expr_set_base(q, way, &base))
        return;
    for (uint32_t i = known_terms; i < way->term_count; i++)
        wanted->terms[i] = (struct rh_member_term){.scale = way->terms[i].scale, .name = ""};
    moved = move_query(wanted, way->offset, way->spread, way->term_count);
    rh_expr_text_compose(&q->e->types, &base, &moved, &found);
    lower_internal(&found, false);
    if (found.rank > best->rank || (best->rank == RH_RANK_NONE && found.leaf))
        *best = found;
}

/* Whether what the way ends at can be written without a variable's name, so that a variable that
 * it once was is the worse choice. */
static bool speaks_for_itself(const struct rh_value *root)
{
    return root->kind == RH_VALUE_GLOBAL || rh_expr_is_inst(root, RH_OP_LOAD);
}

static void describe_way(struct rh_expr_query *q, const struct rh_expr_access *access,
                         struct rh_expr_way *way, struct rh_expr_text *out)
{
    struct rh_expr_named_terms named;
    struct rh_member_query wanted = {
        .inst = access->inst,
        .size = access->size,
        .terms = named.terms,
        .hint = rh_struct_hint_of(&q->e->hints, access->inst, access->ptr, access->offset),
        .is_unoptimised = q->is_unoptimised,
    };
    struct rh_expr_text seen;

    if (!way->is_broken) {
        rh_expr_name_terms(q, way, &named);
        try_variables(q, way, &wanted, true, out);
        if (out->rank < RH_RANK_EXACT && !speaks_for_itself(way->at))
            try_variables(q, way, &wanted, false, out);
        if (out->rank < RH_RANK_EXACT)
            try_base(q, way, &wanted, out);
        if (out->rank < RH_RANK_VAGUE && speaks_for_itself(way->at))
            try_variables(q, way, &wanted, false, out);
    }
    if (out->rank == RH_RANK_NONE) {
        rh_expr_text_by_hint(&q->e->types, &wanted, &seen);
        if (seen.rank != RH_RANK_NONE || !out->leaf)
            *out = seen;
    }
}

void rh_expr_find_text(struct rh_expr_query *q, const struct rh_expr_access *access,
                       struct rh_expr_text *out)
{
    struct rh_expr_way way;

    *out = (struct rh_expr_text){.rank = RH_RANK_NONE};
    if (q->depth >= RH_EXPR_MAX_DEPTH)
        return;
    q->depth++;
    rh_expr_walk_back(q, access->ptr, access->offset, &way);
    describe_way(q, access, &way, out);
    q->depth--;
}

struct rh_expr *rh_expr_index(struct rh_module *m)
{
    static const char optnone[] = "optnone";
    struct rh_expr *e = rh_calloc(1, sizeof *e);

    e->m = m;
    e->optnone = LLVMGetEnumAttributeKindForName(optnone, sizeof optnone - 1);
    rh_ditypes_init(&e->types, m->context);
    rh_names_init(&e->names, m, &e->types);
    rh_struct_hints_init(&e->hints, m);
    return e;
}

void rh_expr_free(struct rh_expr *e)
{
    if (!e)
        return;
    rh_struct_hints_release(&e->hints);
    rh_names_release(&e->names);
    rh_ditypes_release(&e->types);
    free(e);
}

bool rh_expr_describe(struct rh_expr *e, const struct rh_value *inst, struct rh_value *ptr,
                      int64_t offset, uint64_t size, struct rh_strbuf *out)
{
    struct rh_expr_access access = {.inst = inst, .ptr = ptr, .offset = offset, .size = size};
    struct rh_expr_query q = {.e = e, .inst = inst};
    struct rh_expr_text found;

    q.is_unoptimised = LLVMGetEnumAttributeAtIndex(
        inst->fn->handle, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, e->optnone);
    rh_frames_of(&e->names.scopes, inst, &q.frames);
    rh_expr_find_text(&q, &access, &found);
    if (found.rank != RH_RANK_NONE)
        rh_strbuf_add(out, found.text);
    return found.rank != RH_RANK_NONE;
}
