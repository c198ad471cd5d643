/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names for the indices of arrays: the variable that an index is, or what it was read from.
 */
#include "ir/names/internal.h"

#include <string.h>

static const struct rh_name *pick_index(const struct rh_name_list *list, bool is_live)
{
    const struct rh_name *best = NULL;

    for (uint32_t i = 0; i < list->count; i++) {
        const struct rh_name *n = &list->names[i];

        if (n->kind != RH_VARDEF_VALUE || n->variable->is_part ||
            (n->grade == RH_NAME_LIVE) != is_live)
            continue;
        if (!best || n->grade > best->grade ||
            (n->grade == best->grade && n->distance < best->distance))
            best = n;
    }
    return best;
}

/* What is read from memory to be an index was read before; if the variables that lead there have
 * changed since, it is not found there any more. */
static void describe_now(struct rh_expr_query *q, const struct rh_value *load,
                         struct rh_expr_text *out)
{
    struct rh_expr_access access = {.inst = load, .ptr = load->ops[0], .size = load->access->size};
    bool was = q->only_live;

    q->only_live = true;
    rh_expr_find_text(q, &access, out);
    q->only_live = was;
}

static bool copy_index(char text[RH_EXPR_INDEX_SIZE], const char *name)
{
    size_t len = strlen(name);

    if (len == 0 || len >= RH_EXPR_INDEX_SIZE)
        return false;
    memcpy(text, name, len + 1);
    return true;
}

/* Names what the index is without the constants that are added to it, or as little of them taken
 * off as gives a name. */
static void name_index(struct rh_expr_query *q, const struct rh_expr_term *from,
                       struct rh_member_term *out, char text[RH_EXPR_INDEX_SIZE])
{
    struct rh_expr_term term = *from;
    int64_t offset = 0;
    struct rh_name_list list;
    const struct rh_name *name;

    *out = (struct rh_member_term){.scale = term.scale, .name = text};
    text[0] = '\0';
    do {
        rh_names_of(&q->e->names, &q->frames, q->inst, term.index, &list);
        name = pick_index(&list, true);
    } while (!name && rh_expr_reduce_term(&term, &offset) && term.scale == out->scale);
    out->add = term.add;
    if (!name && rh_expr_is_inst(term.index, RH_OP_LOAD) &&
        term.index->access->kind == RH_TYPE_INT) {
        struct rh_expr_text found;

        describe_now(q, term.index, &found);
        if (found.rank == RH_RANK_EXACT)
            copy_index(text, found.text);
        return;
    }
    if (!name)
        name = pick_index(&list, false);
    if (name && copy_index(text, name->variable->name))
        out->add -= name->plus;
}

void rh_expr_name_terms(struct rh_expr_query *q, const struct rh_expr_way *way,
                        struct rh_expr_named_terms *named)
{
    for (uint32_t i = 0; i < way->term_count; i++) {
        if (way->terms[i].index)
            name_index(q, &way->terms[i], &named->terms[i], named->names[i]);
        else
            named->terms[i] = (struct rh_member_term){.scale = way->terms[i].scale, .name = ""};
    }
}
